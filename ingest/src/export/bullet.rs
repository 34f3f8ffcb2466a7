//! bullet's native board, `bulletformat::ChessBoard`, described byte by byte in `docs/export.md`.

use datasets::{GameResult, Record};
use shakmaty::{Bitboard, Role};

/// Size of a board in bytes.
const BOARD_BYTES: usize = 32;
/// Result of a draw, and of an unknown result: bullet has no value for that.
const DRAW: u8 = 1;
const THEIRS: u8 = 8;

/// Returns the boards of `records`, concatenated.
pub fn encode(records: &[Record]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(BOARD_BYTES * records.len());
    for record in records {
        bytes.extend_from_slice(&board(record));
    }
    bytes
}

/// Returns one board from the side to move's view: with Black to move the ranks are mirrored, and
/// the colours, the score and the result are swapped.
fn board(record: &Record) -> [u8; BOARD_BYTES] {
    let turn = record.turn();
    let mirror = turn.fold_wb(0, 56);
    let mut codes = [0; 64];
    let mut occupied = 0u64;
    let (mut own_king, mut their_king) = (0, 0);
    for (square, color, role) in record.pieces() {
        let seen = square as u8 ^ mirror;
        let side = if color == turn { 0 } else { THEIRS };
        codes[usize::from(seen)] = side | (role as u8 - Role::Pawn as u8);
        occupied |= 1 << seen;
        match (role, side) {
            (Role::King, 0) => own_king = seen,
            // The opponent's king is stored from the opponent's view.
            (Role::King, _) => their_king = seen ^ 56,
            _ => {}
        }
    }
    let mut bytes = [0; BOARD_BYTES];
    bytes[..8].copy_from_slice(&occupied.to_le_bytes());
    for (i, square) in Bitboard(occupied).into_iter().enumerate() {
        bytes[8 + i / 2] |= codes[square as usize] << (4 * (i % 2));
    }
    let result = match record.result() {
        Some(GameResult::BlackWins) => turn.fold_wb(0, 2),
        Some(GameResult::Draw) | None => DRAW,
        Some(GameResult::WhiteWins) => turn.fold_wb(2, 0),
    };
    let score = record.label().seen_by(turn).bullet_score();
    bytes[24..26].copy_from_slice(&score.to_le_bytes());
    [bytes[26], bytes[27], bytes[28]] = [result, own_king, their_king];
    bytes
}
