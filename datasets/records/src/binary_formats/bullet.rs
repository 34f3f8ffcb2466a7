//! bullet's boards (`ChessBoard` of the crate `bulletformat` 1.8.0): positions of 32 bytes each,
//! from the side to move's point of view. `docs/export.md` describes them byte by byte.
//!
//! A board has no side to move, castling rights, en passant or ply: it is read as White to move,
//! without rights, at ply 0. Its key is that of the original position, if that had no rights
//! either.

use shakmaty::{Board, Chess, Color, Piece, Position, Role, Setup};

use super::board;
use crate::position::{GameResult, Keyed, Label, Month, Origin, Record};
use crate::selection::{Filters, GameId, SkipReason, SourceCounts};

const BOARD_BYTES: usize = 32;
const SCORE: usize = 24;
const RESULT: usize = 26;
const OWN_KING: usize = 27;
const THEIR_KING: usize = 28;

/// Boards checked to detect the format.
const LOOKED_AT: usize = 64;

pub(super) fn unit(bytes: &[u8]) -> Option<usize> {
    let whole = bytes.len() - bytes.len() % BOARD_BYTES;
    (whole > 0).then_some(whole)
}

/// Returns whether the bytes begin with boards that are legal and agree in redundant fields.
pub(super) fn detect(bytes: &[u8]) -> bool {
    let (boards, _) = bytes.as_chunks();
    let mut boards = boards.iter().take(LOOKED_AT).peekable();
    boards.peek().is_some() && boards.all(|board| position(board).is_ok())
}

pub(super) fn read(
    bytes: &[u8],
    filters: &Filters,
    tally: &mut SourceCounts,
    mut each: impl FnMut(GameId, &[Record]),
) {
    let labels_before = tally.labels;
    let (boards, _) = bytes.as_chunks();
    for board in boards {
        match read_board(board, filters) {
            Ok(record) => {
                tally.labels += 1;
                tally.mates += u64::from(record.label().mate().is_some());
                each(GameId::of_position(Keyed::new(record).key), &[record]);
            }
            Err(reason) => tally.skip(reason),
        }
    }
    let labels = tally.labels - labels_before;
    if labels > 0 {
        *tally.months.entry(Month::default()).or_default() += labels;
    }
}

fn read_board(bytes: &[u8; BOARD_BYTES], filters: &Filters) -> Result<Record, SkipReason> {
    let position = position(bytes)?;
    if position.legal_moves().is_empty() {
        return Err(SkipReason::FinishedPosition);
    }
    let origin = Origin {
        result: GameResult::from_code(bytes[RESULT]),
        ..Origin::default()
    };
    let label: Option<Label> = label(i16::from_le_bytes([bytes[SCORE], bytes[SCORE + 1]]));
    let record = Record::new(&position, label.ok_or(SkipReason::MalformedEval)?, origin);
    filters.reject_position(&record).map_or(Ok(record), Err)
}

/// Decodes a score: like a stored label, 31000 to 31999 is a mate. `None` beyond that, which
/// engines use for "no score".
fn label(score: i16) -> Option<Label> {
    let known = score.unsigned_abs() < 32_000;
    known.then(|| {
        let mate = Label::mate_from_stored(score);
        mate.unwrap_or_else(|| Label::from_centipawns(score.into()))
    })
}

/// # Errors
/// [`SkipReason::MalformedLine`] for an invalid board, [`SkipReason::IllegalPosition`].
fn position(bytes: &[u8; BOARD_BYTES]) -> Result<Chess, SkipReason> {
    let mut placed = Board::empty();
    for (square, code) in board::pieces(bytes).ok_or(SkipReason::MalformedLine)? {
        let color = Color::from_white(code & 8 == 0);
        let role = board::role(code & 7).filter(|_| code & 7 != 6);
        let role = role.ok_or(SkipReason::MalformedLine)?;
        placed.set_piece_at(square, Piece { color, role });
        let (king, stored) = match color {
            Color::White => (square as u8, bytes[OWN_KING]),
            Color::Black => (square as u8 ^ 56, bytes[THEIR_KING]),
        };
        if role == Role::King && king != stored {
            return Err(SkipReason::MalformedLine);
        }
    }
    if GameResult::from_code(bytes[RESULT]).is_none() {
        return Err(SkipReason::MalformedLine);
    }
    let setup = Setup {
        board: placed,
        ..Setup::empty()
    };
    super::from_setup(setup, shakmaty::CastlingMode::Standard).ok_or(SkipReason::IllegalPosition)
}
