//! Polyglot opening books.
//!
//! The format: entries of 16 bytes, big-endian, sorted by key: key (8), move (2), weight (2), learn
//! (4, unused). See <http://hgm.nubati.net/book_format.html>.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use cozy_chess::{Board, File, Move, Piece, Rank, Square};
use engine::to_shakmaty;
use fastrand::Rng;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{EnPassantMode, Position};

const ENTRY: usize = 16;

/// Maximum file size in bytes, far above any real book.
const MAX_BYTES: u64 = 4 << 30;

/// A book in memory.
pub struct Book {
    bytes: Vec<u8>,
}

struct Entry {
    key: u64,
    mv: u16,
    weight: u16,
}

impl Book {
    /// Loads a book.
    ///
    /// # Errors
    /// If the file cannot be read or is not a Polyglot book.
    pub fn load(path: &Path) -> Result<Book> {
        Book::new(host::read(path, MAX_BYTES)?).with_context(|| format!("book {path:?} refused"))
    }

    fn new(bytes: Vec<u8>) -> Result<Book> {
        ensure!(
            !bytes.is_empty() && bytes.len().is_multiple_of(ENTRY),
            "not a Polyglot book: its size is not a multiple of {ENTRY} bytes"
        );
        let book = Book { bytes };
        let keys = (0..book.len()).map(|index| book.entry(index).key);
        ensure!(
            keys.is_sorted(),
            "not a Polyglot book: its keys are not in order"
        );
        Ok(book)
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.bytes.len() / ENTRY
    }

    /// Returns a random book move for `board`, weighted; `None` without a legal move of positive
    /// weight.
    pub fn choose(&self, board: &Board, random: &mut Rng) -> Option<Move> {
        let moves = self.moves(board);
        let total: u64 = moves.iter().map(|&(_, weight)| u64::from(weight)).sum();
        if total == 0 {
            return None;
        }
        let mut left = random.u64(..total);
        for (mv, weight) in moves {
            match left.checked_sub(weight.into()) {
                Some(rest) => left = rest,
                None => return Some(mv),
            }
        }
        None
    }

    /// Returns the legal book moves and their weights.
    fn moves(&self, board: &Board) -> Vec<(Move, u16)> {
        let Some(key) = key(board) else {
            return Vec::new();
        };
        (self.first(key)..self.len())
            .map(|index| self.entry(index))
            .take_while(|entry| entry.key == key)
            .map(|entry| (unpack(board, entry.mv), entry.weight))
            .filter(|&(mv, _)| board.is_legal(mv))
            .collect()
    }

    /// Returns the index of the first entry whose key is at least `key`.
    fn first(&self, key: u64) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = (low + high) / 2;
            if self.entry(middle).key < key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    fn entry(&self, index: usize) -> Entry {
        let number = |range: std::ops::Range<usize>| {
            self.bytes[index * ENTRY..][range]
                .iter()
                .fold(0, |number, &byte| number << 8 | u64::from(byte))
        };
        Entry {
            key: number(0..8),
            mv: number(8..10) as u16,
            weight: number(10..12) as u16,
        }
    }
}

/// Returns the Polyglot key; `None` for positions that shakmaty refuses. The en-passant file counts
/// if an enemy pawn stands beside the pushed one, even if the capture is illegal.
fn key(board: &Board) -> Option<u64> {
    let position = to_shakmaty(board)?;
    let key: Zobrist64 = position.zobrist_hash(EnPassantMode::PseudoLegal);
    Some(key.0)
}

/// Unpacks a move of three-bit fields, from the lowest: target file and rank, source file and rank,
/// promotion (0 none, 1 knight to 4 queen). Castling is king takes rook, as in cozy-chess; books
/// with the king's target square are accepted too.
fn unpack(board: &Board, packed: u16) -> Move {
    let three = |shift: u16| usize::from(packed >> shift & 7);
    let square = |shift| Square::new(File::index(three(shift)), Rank::index(three(shift + 3)));
    let promotion = match three(12) {
        1 => Some(Piece::Knight),
        2 => Some(Piece::Bishop),
        3 => Some(Piece::Rook),
        4 => Some(Piece::Queen),
        _ => None,
    };
    let mv = Move {
        from: square(6),
        to: square(0),
        promotion,
    };
    engine::parse_move(board, &mv.to_string()).unwrap_or(mv)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{Position, parse_fen, parse_move};

    /// The nine keys published with the format.
    #[test]
    fn matches_the_published_keys() {
        let games = [
            ("", 0x463b_9618_1691_fc9c),
            ("e2e4", 0x823c_9b50_fd11_4196),
            ("e2e4 d7d5", 0x0756_b944_61c5_0fb0),
            ("e2e4 d7d5 e4e5", 0x662f_afb9_65db_29d4),
            ("e2e4 d7d5 e4e5 f7f5", 0x22a4_8b5a_8e47_ff78),
            ("e2e4 d7d5 e4e5 f7f5 e1e2", 0x652a_607c_a3f2_42c1),
            ("e2e4 d7d5 e4e5 f7f5 e1e2 e8f7", 0x00fd_d303_c946_bdd9),
            ("a2a4 b7b5 h2h4 b5b4 c2c4", 0x3c81_23ea_7b06_7637),
            ("a2a4 b7b5 h2h4 b5b4 c2c4 b4c3 a1a3", 0x5c3f_9b82_9b27_9560),
        ];
        for (moves, expected) in games {
            let mut position = Position::startpos();
            for text in moves.split_ascii_whitespace() {
                let mv = parse_move(position.board(), text).unwrap();
                position.play(mv).unwrap();
            }
            assert_eq!(key(position.board()), Some(expected), "{moves}");
        }
    }

    fn book(entries: &[(&Board, &str, u16)]) -> Book {
        let mut entries: Vec<(u64, u16, u16)> = entries
            .iter()
            .map(|&(board, text, weight)| (key(board).unwrap(), pack(text), weight))
            .collect();
        entries.sort_by_key(|entry| entry.0);
        let mut bytes = Vec::new();
        for (key, mv, weight) in entries {
            bytes.extend(key.to_be_bytes());
            bytes.extend(mv.to_be_bytes());
            bytes.extend(weight.to_be_bytes());
            bytes.extend([0; 4]);
        }
        Book::new(bytes).unwrap()
    }

    fn pack(text: &str) -> u16 {
        let mv: Move = text.parse().unwrap();
        let promotion = match mv.promotion {
            None => 0,
            Some(piece) => piece as u16,
        };
        promotion << 12 | (mv.from as u16) << 6 | mv.to as u16
    }

    #[test]
    fn chooses_legal_moves_by_weight() {
        let start = Board::startpos();
        let castles = parse_fen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1").unwrap();
        let promotes = parse_fen("8/4P1k1/8/8/8/8/8/4K3 w - - 0 1").unwrap();
        let book = book(&[
            (&start, "e2e4", 30),
            (&start, "d2d4", 10),
            (&start, "g1f3", 0),
            (&start, "e2e5", 5000),
            (&castles, "e1h1", 1),
            (&castles, "e1c1", 1),
            (&promotes, "e7e8r", 1),
        ]);
        let mut random = Rng::with_seed(1);
        let mut count = |board: &Board, text: &str| {
            let wanted: Move = text.parse().unwrap();
            (0..4_000)
                .filter(|_| book.choose(board, &mut random) == Some(wanted))
                .count()
        };
        let (e4, d4) = (count(&start, "e2e4"), count(&start, "d2d4"));
        assert!((2_900..3_100).contains(&e4) && (900..1_100).contains(&d4));
        assert_eq!(count(&promotes, "e7e8r"), 4_000);
        assert!(count(&castles, "e1h1") > 1_800 && count(&castles, "e1a1") > 1_800);
        let after = parse_fen("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
        assert_eq!(book.choose(&after.unwrap(), &mut random), None);
    }

    /// Files may repeat a move this often.
    #[test]
    fn sums_of_weights_may_exceed_32_bits() {
        let start = Board::startpos();
        let book = book(&vec![(&start, "e2e4", u16::MAX); 1 << 17]);
        let mv = book.choose(&start, &mut Rng::with_seed(1));
        assert_eq!(mv, Some("e2e4".parse().unwrap()));
    }

    #[test]
    fn refuses_malformed_books() {
        for (bytes, reason) in [
            (vec![], "multiple"),
            (vec![0; 17], "multiple"),
            ([[9; 16], [1; 16]].concat(), "order"),
        ] {
            let error = Book::new(bytes).err().unwrap().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
