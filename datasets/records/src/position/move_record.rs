//! The move record: a position, the move played from it and its player, in 32 bytes.
//! `docs/record.md` describes it bit by bit.

use std::{fmt, io};

use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move, Role, Square};

use crate::hash::hash_bytes;
use crate::position::board::{BOARD_BYTES, Board};
use crate::position::{Kind, ROW_BYTES, Record, Row, Speed, blocks};

/// A move played from a position.
///
/// ```
/// use records::position::{MoveRecord, Mover};
/// use shakmaty::{Chess, Move, Role, Square};
///
/// let e4 = Move::Normal {
///     role: Role::Pawn,
///     from: Square::E2,
///     capture: None,
///     to: Square::E4,
///     promotion: None,
/// };
/// let mover = Mover { rating: Some(1612), ..Mover::default() };
/// let record = MoveRecord::new(&Chess::new(), e4, mover, 0);
/// assert_eq!(record.uci().to_string(), "e2e4");
/// assert_eq!(record.rating(), Some(1612));
/// assert_eq!(record.time_left(), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct MoveRecord([u8; ROW_BYTES]);

/// Player of a move, and the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mover {
    /// Rating of the player; `None` if unknown.
    pub rating: Option<u16>,
    /// Speed of the game; `None` if unknown.
    pub speed: Option<Speed>,
    /// Seconds on the player's clock before the move; `None` if unknown.
    pub seconds: Option<u32>,
}

/// Promotions by their code.
const PROMOTIONS: [Option<Role>; 5] = [
    None,
    Some(Role::Knight),
    Some(Role::Bishop),
    Some(Role::Rook),
    Some(Role::Queen),
];

/// First bit of the rating in the word, behind the move.
const RATING: u32 = 15;
const MAX_RATING: u16 = (1 << 12) - 1;
/// First bit of the game's hash in the word, and its size.
const GAME: u32 = 35;
const GAME_BITS: u32 = MoveRecord::WORD_BITS - GAME;

impl MoveRecord {
    /// Bits behind the board.
    pub(crate) const WORD_BITS: u32 = 55;

    /// Packs a move with its player. `game` is a hash of the game.
    pub fn new(position: &Chess, m: Move, mover: Mover, game: u64) -> MoveRecord {
        let word = move_bits(m)
            | u64::from(mover.rating.unwrap_or_default().min(MAX_RATING)) << RATING
            | mover.speed.map_or(0, |speed| speed as u64 + 1) << 27
            | time_class(mover.seconds) << 30;
        MoveRecord::of_parts(Board::of_position(position), word).with_game(game)
    }

    /// Returns the record with the hash of its game.
    pub(crate) fn with_game(self, game: u64) -> MoveRecord {
        let word = self.word() & ((1 << GAME) - 1);
        let game = game & ((1 << GAME_BITS) - 1);
        MoveRecord::of_parts(self.board(), word | game << GAME)
    }

    /// Returns the hash of the game, its lowest bits.
    pub(crate) fn game(&self) -> u64 {
        self.word() >> GAME
    }

    /// Returns the record with another move of its position.
    pub(crate) fn with_move(self, m: Move) -> MoveRecord {
        let word = self.word() & !((1 << RATING) - 1);
        MoveRecord::of_parts(self.board(), word | move_bits(m))
    }

    /// Returns the position, as a record without label and origin.
    pub fn position(&self) -> Record {
        Record::of_board(self.board())
    }

    /// Returns the move. Castling is the king's move to the square of its rook, as in Chess960.
    pub fn uci(&self) -> UciMove {
        UciMove::Normal {
            from: self.square(0),
            to: self.square(6),
            promotion: PROMOTIONS[(self.word() >> 12 & 7) as usize % PROMOTIONS.len()],
        }
    }

    /// Returns the rating of the player, at most 4,095; `None` if unknown.
    pub fn rating(&self) -> Option<u16> {
        let rating = (self.word() >> RATING) as u16 & MAX_RATING;
        (rating > 0).then_some(rating)
    }

    /// Returns the speed of the game; `None` if unknown.
    pub fn speed(&self) -> Option<Speed> {
        let code = (self.word() >> 27 & 7) as usize;
        let (speed, _) = Speed::NAMES.get(code.checked_sub(1)?)?;
        Some(*speed)
    }

    /// Returns the time on the player's clock before the move in seconds, rounded down to 0, 1, 2,
    /// 3, 4, 6, 8, 12 and so on, two steps an octave; `None` if unknown.
    pub fn time_left(&self) -> Option<u32> {
        match (self.word() >> 30 & 31) as u32 {
            0 => None,
            class @ 1..=2 => Some(class - 1),
            class => Some((2 + (class - 1) % 2) << ((class - 3) / 2)),
        }
    }

    fn square(&self, shift: u32) -> Square {
        Square::new((self.word() >> shift & 63) as u32)
    }

    pub(crate) fn board(&self) -> Board {
        Board::of(&self.0)
    }

    /// Returns the bits behind the board.
    #[inline]
    pub(crate) fn word(&self) -> u64 {
        let (_, word) = self.0.split_last_chunk().expect("eight bytes");
        // The lowest byte is the board's last.
        u64::from_le_bytes(*word) >> 8
    }

    #[inline]
    pub(crate) fn of_parts(board: Board, word: u64) -> MoveRecord {
        let mut bytes = board.to_row();
        let tail = word.to_le_bytes();
        bytes[BOARD_BYTES..].copy_from_slice(&tail[..ROW_BYTES - BOARD_BYTES]);
        MoveRecord(bytes)
    }
}

/// Returns the bits of a move.
fn move_bits(m: Move) -> u64 {
    let promotion = PROMOTIONS.iter().position(|&role| role == m.promotion());
    m.from().map_or(0, |square| square as u64)
        | (m.to() as u64) << 6
        | (promotion.unwrap_or_default() as u64) << 12
}

/// Returns the class of a clock: 0 unknown, 1 below a second, 2 a second; then two classes an
/// octave.
fn time_class(seconds: Option<u32>) -> u64 {
    match seconds {
        None => 0,
        Some(seconds @ 0..=1) => u64::from(seconds) + 1,
        Some(seconds) => {
            let octave = seconds.ilog2();
            let upper_half = seconds >> (octave - 1) & 1;
            u64::from(2 * octave + 1 + upper_half).min(31)
        }
    }
}

impl Row for MoveRecord {
    const KIND: Kind = Kind::Moves;
    const MOST: usize = 256;

    fn as_bytes(&self) -> &[u8; ROW_BYTES] {
        &self.0
    }

    fn from_trusted(bytes: [u8; ROW_BYTES]) -> MoveRecord {
        MoveRecord(bytes)
    }

    fn bytes_of(rows: &[MoveRecord]) -> &[u8] {
        // SAFETY: a MoveRecord is exactly its 32 bytes (repr(transparent)), of alignment 1 and all
        // initialised.
        unsafe { std::slice::from_raw_parts(rows.as_ptr().cast(), size_of_val(rows)) }
    }

    /// Prefers the least hash of the bytes: a uniform sample of the moves.
    fn preference(self) -> impl Ord {
        (hash_bytes(&self.0), self)
    }

    fn pack(rows: &[MoveRecord]) -> Vec<u8> {
        blocks::pack_moves(rows)
    }

    fn unpack(block: &[u8], rows: &mut Vec<MoveRecord>) -> io::Result<()> {
        blocks::unpack_moves(block, rows)
    }
}

impl fmt::Debug for MoveRecord {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} {}", self.position().epd(), self.uci())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Random;
    use crate::position::Keyed;
    use shakmaty::fen::Fen;
    use shakmaty::{CastlingMode, Position};

    /// Plays random games from `fen`, and calls `each` with every position and its legal moves.
    fn legal_moves(fen: &str, mut each: impl FnMut(&Chess, Move)) {
        let mut random = Random::new([7]);
        for _ in 0..20 {
            let fen: Fen = fen.parse().unwrap();
            let mut position: Chess = fen.into_position(CastlingMode::Chess960).unwrap();
            for _ in 0..80 {
                let moves = position.legal_moves();
                moves.iter().for_each(|&m| each(&position, m));
                match moves.len() {
                    0 => break,
                    count => position.play_unchecked(moves[random.below(count)]),
                }
            }
        }
    }

    /// Returns the record of a move from the initial position.
    fn first_move(mover: Mover, game: u64) -> MoveRecord {
        let m = Chess::new().legal_moves()[0];
        MoveRecord::new(&Chess::new(), m, mover, game)
    }

    #[test]
    fn every_legal_move_survives() {
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1",
            "1r2k1r1/P7/8/8/8/8/p7/1R2K1R1 w BGbg - 0 1",
        ] {
            let mut random = Random::new([1]);
            let mut compared = 0;
            legal_moves(fen, |position, m| {
                let mover = Mover {
                    rating: Some(1 + random.below(4095) as u16),
                    speed: Some(Speed::NAMES[random.below(6)].0),
                    seconds: None,
                };
                let record = MoveRecord::new(position, m, mover, random.bits());
                assert_eq!(record.uci(), m.to_uci(CastlingMode::Chess960));
                assert_eq!(record.uci().to_move(position).ok(), Some(m));
                assert_eq!(
                    (record.rating(), record.speed()),
                    (mover.rating, mover.speed)
                );
                let board = Record::new(position, record.position().label(), Default::default());
                assert_eq!(record.position().epd(), board.epd());
                assert_eq!(Keyed::new(record).key, Keyed::new(board).key);
                let again = MoveRecord::of_parts(record.board(), record.word());
                assert_eq!(again, record);
                compared += 1;
            });
            assert!(compared > 10_000, "{compared}");
        }
    }

    #[test]
    fn worked_example_of_the_documentation() {
        let document = include_str!("../../../../docs/record.md");
        let line = |name: &str| {
            let line = document.lines().find(|line| line.starts_with(name));
            line.unwrap()[name.len()..].trim().to_string()
        };
        let fen: Fen = line("moved:").parse().unwrap();
        let position: Chess = fen.into_position(CastlingMode::Chess960).unwrap();
        let words = line("move:");
        let words: Vec<&str> = words.split(' ').collect();
        let uci: UciMove = words[0].parse().unwrap();
        let speed = Speed::NAMES.iter().find(|(_, name)| *name == words[2]);
        let mover = Mover {
            rating: words[1].parse().ok(),
            speed: speed.map(|(speed, _)| *speed),
            seconds: words[3].parse().ok(),
        };
        let record = MoveRecord::new(&position, uci.to_move(&position).unwrap(), mover, 0);
        let hex: Vec<String> = record.0.iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(hex.join(" "), line("bytes:"));
    }

    #[test]
    fn times_round_down_to_two_steps_an_octave() {
        let left = |seconds| {
            let mover = Mover {
                seconds,
                ..Mover::default()
            };
            first_move(mover, u64::MAX).time_left()
        };
        assert_eq!(left(None), None);
        let steps = [
            0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256,
        ];
        for seconds in 0..=256 {
            let step = steps.iter().rev().find(|&&step| step <= seconds);
            assert_eq!(left(Some(seconds)), step.copied(), "{seconds}");
        }
        assert_eq!(left(Some(10_800)), Some(8_192));
        assert_eq!(left(Some(u32::MAX)), Some(32_768));
    }

    #[test]
    fn unknown_players_differ_from_weak_ones() {
        let record = |rating| {
            let mover = Mover {
                rating,
                ..Mover::default()
            };
            first_move(mover, 0)
        };
        assert_eq!(record(None).rating(), None);
        assert_eq!(record(Some(1)).rating(), Some(1));
        assert_eq!(record(Some(9_999)).rating(), Some(4_095));
        assert_eq!(record(None).speed(), None);
    }
}
