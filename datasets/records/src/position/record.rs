//! The position record: a position, its label and its origin in 32 bytes. `docs/record.md`
//! describes it byte by byte.

use std::cmp::Reverse;
use std::{fmt, io};

use serde::{Deserialize, Serialize};
use shakmaty::{
    Bitboard, CastlingMode, CastlingSide, Chess, Color, FromSetup, Piece, Position, Role, Setup,
    Square,
};

use crate::hash::hash_bytes;
use crate::position::board::{BLACK_TO_MOVE, Board, NO_EN_PASSANT, TURN_EN_PASSANT};
use crate::position::{Kind, Label, ROW_BYTES, Row, blocks};

/// The result of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GameResult {
    /// Black won.
    BlackWins,
    /// A draw.
    Draw,
    /// White won.
    WhiteWins,
}

impl GameResult {
    /// Decodes the result code shared by records and the formats of other trainers: 0 Black won, 1
    /// draw, 2 White won.
    pub(crate) fn from_code(code: u8) -> Option<GameResult> {
        match code {
            0 => Some(GameResult::BlackWins),
            1 => Some(GameResult::Draw),
            2 => Some(GameResult::WhiteWins),
            _ => None,
        }
    }
}

/// The month a game was played in, counted from January 2013, the first month
/// of the Lichess dumps: 1 is 2013-01, 0 is unknown or earlier.
///
/// As text, `2026-06` or `unknown`.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(into = "String", from = "String")]
pub struct Month(u8);

impl Month {
    /// Returns a calendar month; [`Month::default`] if it is out of range.
    pub fn new(year: u32, month: u32) -> Month {
        let count = (i64::from(year) - 2013) * 12 + i64::from(month);
        let known = (1..=12).contains(&month) && (1..=255).contains(&count);
        Month(if known { count as u8 } else { 0 })
    }

    /// Returns year and month (1 to 12); `None` if unknown.
    pub fn calendar(self) -> Option<(u32, u32)> {
        let count = u32::from(self.0).checked_sub(1)?;
        Some((2013 + count / 12, count % 12 + 1))
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.calendar() {
            Some((year, month)) => write!(f, "{year}-{month:02}"),
            None => f.write_str("unknown"),
        }
    }
}

impl From<Month> for String {
    fn from(month: Month) -> String {
        month.to_string()
    }
}

impl From<String> for Month {
    fn from(text: String) -> Month {
        let fields = text
            .split_once('-')
            .map(|(year, month)| (year.parse(), month.parse()));
        match fields {
            Some((Ok(year), Ok(month))) => Month::new(year, month),
            _ => Month::default(),
        }
    }
}

/// Metadata of a position besides its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Origin {
    /// Result of the game; `None` if unknown or not decided on the board.
    pub result: Option<GameResult>,
    /// Month the game was played in.
    pub month: Month,
    /// Depth of the evaluation in plies, 0 if unknown.
    pub depth: u8,
    /// Whether the move played from the position is a capture or a promotion; `false` if none is
    /// known.
    pub tactical: bool,
}

/// A labelled position in 32 bytes.
///
/// ```
/// use records::position::{Label, Origin, Record};
/// use shakmaty::Chess;
///
/// let record = Record::new(&Chess::new(), Label::from_centipawns(18), Origin::default());
/// assert_eq!(record.epd(), "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -");
/// assert_eq!(record.label().centipawns(), Some(18));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Record([u8; Record::BYTES]);

const DEPTH: usize = 25;
const PLY: usize = 26;
const LABEL: usize = 28;
const FLAGS: usize = 30;
const MONTH: usize = 31;

const UNKNOWN_RESULT: u8 = 3;
const IN_CHECK: u8 = 4;
const TACTICAL: u8 = 8;
const BLACK_PIECE: u8 = 8;
const UNMOVED_ROOK: u8 = 6;

impl Record {
    /// Size of a record in bytes.
    pub const BYTES: usize = ROW_BYTES;

    /// Packs a position. `label` is from White's point of view.
    pub fn new(position: &Chess, label: Label, origin: Origin) -> Record {
        let result = origin.result.map_or(UNKNOWN_RESULT, |result| result as u8);
        let tail = Tail {
            depth: origin.depth,
            ply: ply_of(position),
            label: label.stored(),
            flags: result
                | if position.is_check() { IN_CHECK } else { 0 }
                | if origin.tactical { TACTICAL } else { 0 },
            month: origin.month.0,
        };
        Record::of_parts(Board::of_position(position), tail)
    }

    /// Returns the record of a board, without label and origin.
    pub(crate) fn of_board(board: Board) -> Record {
        let tail = Tail {
            depth: 0,
            ply: board.black_to_move.into(),
            label: 0,
            flags: UNKNOWN_RESULT,
            month: 0,
        };
        Record::of_parts(board, tail)
    }

    /// Returns the bytes, as described in `docs/record.md`.
    pub fn as_bytes(&self) -> &[u8; Record::BYTES] {
        &self.0
    }

    /// Returns the record of these bytes. `None` if they are invalid: more than 32 pieces, an
    /// unknown piece code, not one king a side, or bits set that a packed block does not store.
    pub fn from_bytes(bytes: [u8; Record::BYTES]) -> Option<Record> {
        let record = Record(bytes);
        let kings = |color| {
            record
                .pieces()
                .filter(|&(_, c, role)| c == color && role == Role::King)
                .count()
        };
        let count = record.occupied().count();
        let codes_exist = (0..count.min(32)).all(|i| record.code(i) & 7 != 7);
        let valid = count <= 32
            && codes_exist
            && kings(Color::White) == 1
            && kings(Color::Black) == 1
            && bytes[TURN_EN_PASSANT] & !BLACK_TO_MOVE <= NO_EN_PASSANT
            // Bits that a packed block does not store must be clear.
            && (count..32).all(|i| record.code(i) == 0)
            && bytes[FLAGS] < 16;
        valid.then_some(record)
    }

    /// Returns the bytes of consecutive records.
    pub fn bytes_of(records: &[Record]) -> &[u8] {
        // SAFETY: a Record is exactly its 32 bytes (repr(transparent)), of alignment 1 and all
        // initialised.
        unsafe { std::slice::from_raw_parts(records.as_ptr().cast(), size_of_val(records)) }
    }

    fn occupied(&self) -> Bitboard {
        Bitboard(self.board().occupied)
    }

    /// Returns the 4-bit code of the `i`th occupied square.
    fn code(&self, i: usize) -> u8 {
        self.0[8 + i / 2] >> (4 * (i % 2)) & 15
    }

    /// Returns the side to move.
    pub fn turn(&self) -> Color {
        Color::from_white(!self.board().black_to_move)
    }

    /// Returns every piece on the board, from a1 to h8.
    pub fn pieces(&self) -> impl Iterator<Item = (Square, Color, Role)> {
        self.occupied()
            .into_iter()
            .take(32)
            .enumerate()
            .map(|(i, square)| {
                let code = self.code(i);
                let role = match code & 7 {
                    0 => Role::Pawn,
                    1 => Role::Knight,
                    2 => Role::Bishop,
                    4 => Role::Queen,
                    5 => Role::King,
                    _ => Role::Rook,
                };
                (square, Color::from_white(code & BLACK_PIECE == 0), role)
            })
    }

    /// Returns the rooks that may still castle.
    pub(crate) fn unmoved_rooks(&self) -> impl Iterator<Item = (Square, Color)> {
        let code = |i| self.code(i);
        self.occupied()
            .into_iter()
            .take(32)
            .enumerate()
            .filter_map(move |(i, square)| {
                let color = Color::from_white(code(i) & BLACK_PIECE == 0);
                (code(i) & 7 == UNMOVED_ROOK).then_some((square, color))
            })
    }

    /// Returns the remaining castling rights.
    pub fn castling(&self) -> impl Iterator<Item = (Color, CastlingSide)> {
        self.unmoved_rooks().map(|(rook, color)| {
            let king_is_left = self
                .pieces()
                .any(|(square, c, role)| c == color && role == Role::King && square < rook);
            (color, CastlingSide::from_king_side(king_is_left))
        })
    }

    /// Returns the target square of a legal en-passant capture.
    pub fn en_passant(&self) -> Option<Square> {
        Square::try_from(self.0[TURN_EN_PASSANT] & !BLACK_TO_MOVE).ok()
    }

    /// Returns the position, its clocks at 0 and 1. `None` if it is illegal, which no record of a
    /// dataset is.
    pub fn to_chess(&self) -> Option<Chess> {
        let mut setup = Setup::empty();
        for (square, color, role) in self.pieces() {
            setup.board.set_piece_at(square, Piece { color, role });
        }
        setup.turn = self.turn();
        setup.ep_square = self.en_passant();
        setup.castling_rights = self.unmoved_rooks().map(|(rook, _)| rook).collect();
        Chess::from_setup(setup, CastlingMode::Chess960).ok()
    }

    /// Returns whether the side to move is in check.
    pub fn in_check(&self) -> bool {
        self.0[FLAGS] & IN_CHECK != 0
    }

    /// Returns whether the move played from the position is a capture or a promotion; `false` if
    /// none is known.
    pub fn is_tactical(&self) -> bool {
        self.0[FLAGS] & TACTICAL != 0
    }

    /// Returns whether the position is quiet: not in check, and the move played is neither a
    /// capture nor a promotion. A search seldom uses the static evaluation of any other.
    pub fn is_quiet(&self) -> bool {
        self.0[FLAGS] & (IN_CHECK | TACTICAL) == 0
    }

    /// Marks the move played from the position as a capture or a promotion.
    pub(crate) fn set_tactical(&mut self) {
        self.0[FLAGS] |= TACTICAL;
    }

    /// Returns the label, from White's point of view.
    pub fn label(&self) -> Label {
        Label::from_stored(self.tail().label)
    }

    /// Returns the record with another label, from White's point of view.
    pub(crate) fn with_label(mut self, label: Label) -> Record {
        self.0[LABEL..FLAGS].copy_from_slice(&label.stored().to_le_bytes());
        self
    }

    /// Returns the result of the game; `None` if unknown or not decided on the board.
    pub fn result(&self) -> Option<GameResult> {
        GameResult::from_code(self.0[FLAGS] & 3)
    }

    /// Returns the plies played before this position, counted as in FEN.
    pub fn ply(&self) -> u16 {
        self.tail().ply
    }

    /// Returns the depth of the evaluation in plies, 0 if unknown.
    pub fn depth(&self) -> u8 {
        self.0[DEPTH]
    }

    /// Returns the month the game was played in.
    pub fn month(&self) -> Month {
        Month(self.0[MONTH])
    }

    pub(crate) fn board(&self) -> Board {
        Board::of(&self.0)
    }

    #[inline]
    pub(crate) fn tail(&self) -> Tail {
        let bytes = &self.0;
        Tail {
            depth: bytes[DEPTH],
            ply: u16::from_le_bytes([bytes[PLY], bytes[PLY + 1]]),
            label: i16::from_le_bytes([bytes[LABEL], bytes[LABEL + 1]]),
            flags: bytes[FLAGS],
            month: bytes[MONTH],
        }
    }

    #[inline]
    pub(crate) fn of_parts(board: Board, tail: Tail) -> Record {
        let mut bytes = board.to_row();
        bytes[DEPTH] = tail.depth;
        bytes[PLY..LABEL].copy_from_slice(&tail.ply.to_le_bytes());
        bytes[LABEL..FLAGS].copy_from_slice(&tail.label.to_le_bytes());
        bytes[FLAGS] = tail.flags;
        bytes[MONTH] = tail.month;
        Record(bytes)
    }
}

/// Returns the plies played before a position, counted as in FEN.
pub(crate) fn ply_of(position: &Chess) -> u16 {
    let moves = position.fullmoves().get() - 1;
    let plies = moves
        .saturating_mul(2)
        .saturating_add(position.turn().fold_wb(0, 1));
    plies.min(u32::from(u16::MAX)) as u16
}

/// Fields of a record behind its board.
#[derive(Clone, Copy)]
pub(crate) struct Tail {
    pub(crate) depth: u8,
    pub(crate) ply: u16,
    pub(crate) label: i16,
    /// Result, check and tactical move: four bits.
    pub(crate) flags: u8,
    pub(crate) month: u8,
}

impl Row for Record {
    const KIND: Kind = Kind::Evaluations;
    const MOST: usize = 1;

    fn as_bytes(&self) -> &[u8; ROW_BYTES] {
        &self.0
    }

    fn from_trusted(bytes: [u8; ROW_BYTES]) -> Record {
        Record(bytes)
    }

    fn bytes_of(rows: &[Record]) -> &[u8] {
        Record::bytes_of(rows)
    }

    /// Prefers the greatest by depth, month, hash of the bytes, and bytes. The hash breaks ties at
    /// random: comparing the bytes would favour some labels.
    fn preference(self) -> impl Ord {
        Reverse((self.depth(), self.month(), hash_bytes(&self.0), self))
    }

    fn pack(rows: &[Record]) -> Vec<u8> {
        blocks::pack(rows)
    }

    fn unpack(block: &[u8], rows: &mut Vec<Record>) -> io::Result<()> {
        blocks::unpack(block, rows)
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} {}", self.epd(), self.label())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::Keyed;
    use shakmaty::fen::Fen;
    use shakmaty::{CastlingMode, EnPassantMode};

    fn position(fen: &str) -> Chess {
        let fen: Fen = fen.parse().unwrap();
        fen.into_position(CastlingMode::Chess960).unwrap()
    }

    fn record(fen: &str, label: i64) -> Record {
        Record::new(
            &position(fen),
            Label::from_centipawns(label),
            Origin::default(),
        )
    }

    #[test]
    fn worked_example_of_the_documentation() {
        let document = include_str!("../../../../docs/record.md");
        let line = |name: &str| {
            let line = document
                .lines()
                .find(|line| line.starts_with(name))
                .unwrap();
            line[name.len()..].trim().to_string()
        };
        let label = Label::from_centipawns(line("label:").parse().unwrap());
        let origin = Origin {
            result: Some(GameResult::WhiteWins),
            month: Month::new(2021, 10),
            depth: 20,
            tactical: false,
        };
        let record = Record::new(&position(&line("fen:")), label, origin);
        let hex: Vec<String> = record
            .as_bytes()
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        assert_eq!(hex.join(" "), line("hex:"));
        assert_eq!(format!("{:016x}", Keyed::new(record).key), line("key:"));
    }

    #[test]
    fn every_field_survives() {
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b Kq - 0 1",
            "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
            "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1",
            "4k3/8/8/8/8/8/8/4KR2 b - - 12 345",
            "1r2k1r1/8/8/8/8/8/8/RR2K1R1 w BGbg - 0 1",
        ] {
            let position = position(fen);
            let origin = Origin {
                result: Some(GameResult::Draw),
                month: Month::new(2026, 6),
                depth: 31,
                tactical: true,
            };
            let label = Label::from_mate(-7).unwrap();
            let record = Record::new(&position, label, origin);
            let expected = shakmaty::fen::Epd::from_position(&position, EnPassantMode::Legal);
            assert_eq!(record.epd(), expected.to_string());
            assert_eq!(record.label(), label);
            assert_eq!(record.result(), origin.result);
            assert_eq!(record.month().calendar(), Some((2026, 6)));
            assert_eq!(record.depth(), 31);
            assert_eq!(record.in_check(), position.is_check());
            assert!(record.is_tactical() && !record.is_quiet());
            assert_eq!(Record::from_bytes(*record.as_bytes()), Some(record));
        }
        let ply = |moves| record(&format!("4k3/8/8/8/8/8/8/4KR2 b - - 12 {moves}"), 0).ply();
        assert_eq!((ply(345), ply(u32::MAX)), (689, u16::MAX));
    }

    #[test]
    fn en_passant_is_kept_only_where_a_capture_is_legal() {
        // The pawn on e4 is pinned along the fourth rank once d4 is taken.
        assert_eq!(
            record("8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1", 0).en_passant(),
            None
        );
        assert_eq!(
            record(
                "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
                0
            )
            .en_passant(),
            None
        );
    }

    #[test]
    fn colour_twins_share_a_key_and_others_do_not() {
        let white = record(
            "r3k2r/p1pp1pb1/bn2Qnp1/2qPN3/1p2P3/2N5/PPPBBPPP/R3K2R b KQkq - 3 2",
            50,
        );
        let black = record(
            "r3k2r/pppbbppp/2n5/1P2p3/2Qpn3/BN2qNP1/P1PP1PB1/R3K2R w KQkq - 3 2",
            -50,
        );
        assert_eq!(Keyed::new(white).key, Keyed::new(black).key);
        let fewer_rights = record(
            "r3k2r/p1pp1pb1/bn2Qnp1/2qPN3/1p2P3/2N5/PPPBBPPP/R3K2R b KQk - 3 2",
            50,
        );
        assert_ne!(Keyed::new(white).key, Keyed::new(fewer_rights).key);
        let with_capture = record(
            "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
            0,
        );
        let without = record(
            "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq - 0 3",
            0,
        );
        assert_ne!(Keyed::new(with_capture).key, Keyed::new(without).key);
    }

    #[test]
    fn preference_is_commutative_associative_and_idempotent() {
        let start = position("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
        let mut records = Vec::new();
        for centipawns in [-300, 18, 256] {
            for depth in [0, 20] {
                for month in [Month::default(), Month::new(2013, 1), Month::new(2026, 6)] {
                    let origin = Origin {
                        result: None,
                        month,
                        depth,
                        tactical: false,
                    };
                    let label = Label::from_centipawns(centipawns);
                    records.push(Record::new(&start, label, origin));
                }
            }
        }
        let kept = |a: Record, b: Record| match a.preference() <= b.preference() {
            true => a,
            false => b,
        };
        for &a in &records {
            assert_eq!(kept(a, a), a);
            for &b in &records {
                assert_eq!(kept(a, b), kept(b, a));
                let best = (a.depth(), a.month()).max((b.depth(), b.month()));
                assert_eq!((kept(a, b).depth(), kept(a, b).month()), best);
                for &c in &records {
                    assert_eq!(kept(kept(a, b), c), kept(a, kept(b, c)));
                }
            }
        }
    }

    #[test]
    fn positions_come_back() {
        for fen in [
            "r3k2r/p1pp1pb1/bn2Qnp1/2qPN3/1p2P3/2N5/PPPBBPPP/R3K2R b KQkq - 0 1",
            "4k3/8/8/2Pp4/8/8/8/4K2R w K d6 0 1",
            "1rk3r1/8/8/8/8/8/8/1RK3R1 w GBgb - 0 1",
        ] {
            let before = position(fen);
            let after = record(fen, 0).to_chess().unwrap();
            assert_eq!(after.legal_moves(), before.legal_moves(), "{fen}");
            assert_eq!(
                after.castles().castling_rights(),
                before.castles().castling_rights()
            );
        }
        let no_king = Record::of_board(Board::of(&[0; 32]));
        assert!(no_king.to_chess().is_none());
    }

    #[test]
    fn invalid_bytes_are_rejected() {
        let good = *record("4k3/8/8/8/8/8/8/4KR2 b - - 0 1", 0).as_bytes();
        for (byte, value) in [(8, 0x33), (8, 0x77), (TURN_EN_PASSANT, 65)] {
            let mut bytes = good;
            bytes[byte] = value;
            assert_eq!(Record::from_bytes(bytes), None, "byte {byte} = {value:#x}");
        }
        assert_eq!(Record::from_bytes([0; 32]), None);
        assert_eq!(Record::from_bytes([255; 32]), None);
    }

    #[test]
    fn months_count_from_january_2013() {
        assert_eq!(Month::new(2013, 1).calendar(), Some((2013, 1)));
        assert_eq!(Month::new(2034, 3).calendar(), Some((2034, 3)));
        for (year, month) in [(2012, 12), (2034, 4), (2020, 0), (2020, 13), (0, 0)] {
            assert_eq!(Month::new(year, month).calendar(), None);
        }
    }
}
