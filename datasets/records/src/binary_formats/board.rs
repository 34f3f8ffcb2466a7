//! marlinformat's 32-byte board: a record's position layout, with the fifty-move clock in place of
//! the record's depth, and the result of the game.

use std::num::NonZeroU32;

use shakmaty::{Bitboard, Board, CastlingMode, Chess, Color, Piece, Role, Setup, Square};

use crate::position::{GameResult, Record};
use crate::selection::{Filters, SkipReason};
use crate::text_formats::legal_position;

const TURN_EN_PASSANT: usize = 24;
const CLOCK: usize = 25;
const MOVE_NUMBER: usize = 26;
/// Offset of the board's own score, after all bytes of the position.
pub(super) const LABEL: usize = 28;
pub(super) const RESULT: usize = 30;
const EXTRA: usize = 31;

/// Returns squares and piece codes of bytes 0 to 23: a bit a square, a nibble a piece. `None` for
/// more than 32 pieces.
pub(super) fn pieces(bytes: &[u8; 32]) -> Option<impl Iterator<Item = (Square, u8)>> {
    let occupied = u64::from_le_bytes(*bytes.first_chunk()?);
    (occupied.count_ones() <= 32).then(|| {
        let squares = Bitboard(occupied).into_iter().enumerate();
        squares.map(|(i, square)| (square, bytes[8 + i / 2] >> (4 * (i % 2)) & 15))
    })
}

/// Returns the role of a piece code without its colour bit.
pub(super) fn role(code: u8) -> Option<Role> {
    Some(match code {
        0 => Role::Pawn,
        1 => Role::Knight,
        2 => Role::Bishop,
        3 | 6 => Role::Rook,
        4 => Role::Queen,
        5 => Role::King,
        _ => return None,
    })
}

fn setup(bytes: &[u8; 32]) -> Option<Setup> {
    let mut setup = Setup::empty();
    let mut board = Board::empty();
    for (square, code) in pieces(bytes)? {
        let color = Color::from_white(code & 8 == 0);
        let role = role(code & 7)?;
        board.set_piece_at(square, Piece { color, role });
        if code & 7 == 6 {
            setup.castling_rights.add(square);
        }
    }
    setup.board = board;
    setup.turn = Color::from_white(bytes[TURN_EN_PASSANT] & 0x80 == 0);
    setup.ep_square = Square::try_from(bytes[TURN_EN_PASSANT] & 0x7F).ok();
    setup.halfmoves = bytes[CLOCK].into();
    let number = u16::from_le_bytes([bytes[MOVE_NUMBER], bytes[MOVE_NUMBER + 1]]);
    setup.fullmoves = NonZeroU32::new(number.into()).unwrap_or(NonZeroU32::MIN);
    Some(setup)
}

/// Returns the board of a record, with its label as the score. bullet and Viridithas have no code
/// for an unknown result: it becomes a draw.
pub(super) fn of_record(record: &Record) -> [u8; 32] {
    let mut bytes = *record.as_bytes();
    bytes[CLOCK] = 0;
    let number = record.ply() / 2 + 1;
    bytes[MOVE_NUMBER..LABEL].copy_from_slice(&number.to_le_bytes());
    bytes[RESULT] = record.result().unwrap_or(GameResult::Draw) as u8;
    bytes[EXTRA] = 0;
    bytes
}

/// Returns the position, if it is legal.
pub(super) fn position(bytes: &[u8; 32], mode: CastlingMode) -> Result<Chess, SkipReason> {
    let setup = setup(bytes).ok_or(SkipReason::BadFen)?;
    super::from_setup(setup, mode).ok_or(SkipReason::BadFen)
}

/// Returns the position, if it is legal and of a variant that the filters accept.
pub(super) fn taken_position(bytes: &[u8; 32], filters: &Filters) -> Result<Chess, SkipReason> {
    let setup = setup(bytes).ok_or(SkipReason::BadFen)?;
    legal_position(setup, filters).map_err(|reason| match reason {
        SkipReason::IllegalPosition => SkipReason::BadFen,
        reason => reason,
    })
}
