//! viriformat: whole games, as Viridithas writes its self-play and bullet reads it (crate
//! `viriformat` 3.0.0).
//!
//! A game is a marlinformat board (32 bytes), then four bytes a move (the move, and White's score
//! before it), then four zeros.

use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Move, Position, Role, Square};

use super::{MATE, board, label_by_plies};
use crate::games::{Collector, Ending};
use crate::position::{GameResult, Origin, Record};
use crate::selection::{Filters, GameId, SkipReason, SourceCounts, Tags};

/// Sizes in bytes of a board, and of a move with its score.
const BOARD_BYTES: usize = 32;
const STEP_BYTES: usize = 4;
const END: [u8; STEP_BYTES] = [0; STEP_BYTES];

/// Farthest mate, in plies.
const MOST_PLIES: u16 = 1_000;

/// Longest possible game: the 75-move rule ends it after 11,797 moves.
const MAX_GAME_BYTES: usize = BOARD_BYTES + 11_798 * STEP_BYTES;

/// Games checked to detect the format.
const LOOKED_AT: usize = 16;

/// Returns the length of the first game; `None` if it is incomplete.
///
/// # Errors
/// If it is longer than any game can be.
pub(super) fn unit(bytes: &[u8]) -> Result<Option<usize>, &'static str> {
    let steps = bytes.get(BOARD_BYTES..).unwrap_or_default();
    let steps = &steps[..steps.len().min(MAX_GAME_BYTES - BOARD_BYTES)];
    let end = steps.chunks_exact(STEP_BYTES).position(|step| step == END);
    match end {
        Some(moves) => Ok(Some(BOARD_BYTES + (moves + 1) * STEP_BYTES)),
        None if bytes.len() < MAX_GAME_BYTES => Ok(None),
        None => Err("a viriformat game without its end marker"),
    }
}

/// Returns whether the bytes begin with games of legal moves.
pub(super) fn detect(mut bytes: &[u8]) -> bool {
    for number in 0..LOOKED_AT {
        let (game, last) = match unit(bytes) {
            Ok(Some(length)) => (&bytes[..length - STEP_BYTES], false),
            // The game may be cut at the end of the sample.
            Ok(None) => (bytes, true),
            Err(_) => return false,
        };
        let Some((board, steps)) = game.split_first_chunk::<BOARD_BYTES>() else {
            return number > 0;
        };
        let Ok(mut position) = board::position(board, CastlingMode::Chess960) else {
            return false;
        };
        let mut steps = steps.chunks_exact(STEP_BYTES);
        let followed = steps.all(|step| match legal_move(&position, step) {
            Some(m) => {
                position.play_unchecked(m);
                true
            }
            None => false,
        });
        if !followed || board[board::RESULT] > 3 {
            return false;
        }
        if last {
            return number > 0 || game.len() > BOARD_BYTES;
        }
        bytes = &bytes[game.len() + STEP_BYTES..];
    }
    true
}

pub(super) fn read<C: Collector>(
    mut bytes: &[u8],
    filters: &Filters,
    tally: &mut SourceCounts,
    mut each: impl FnMut(GameId, &[C::Row]),
) {
    while let Ok(Some(length)) = unit(bytes) {
        let (game, rest) = bytes.split_at(length);
        bytes = rest;
        tally.games += 1;
        tally.games_annotated += 1;
        if let Some((board, steps)) = game.split_first_chunk() {
            let steps = &steps[..steps.len() - STEP_BYTES];
            if let Err(reason) = read_game::<C>(board, steps, filters, tally, &mut each) {
                tally.skip(reason);
            }
        }
    }
}

fn read_game<C: Collector>(
    board: &[u8; BOARD_BYTES],
    steps: &[u8],
    filters: &Filters,
    tally: &mut SourceCounts,
    each: impl FnOnce(GameId, &[C::Row]),
) -> Result<(), SkipReason> {
    if steps.is_empty() {
        tally.games_annotated -= 1;
        return Err(C::NOTHING);
    }
    let tags = Tags::default();
    if let Some(reason) = filters.reject_game(&tags) {
        return Err(reason);
    }
    let mut position = board::taken_position(board, filters)?;
    let result = GameResult::from_code(board[board::RESULT]);
    let origin = Origin {
        result,
        ..Origin::default()
    };
    let mut rows = C::default();
    let mut whole = true;
    for step in steps.chunks_exact(STEP_BYTES) {
        let Some(m) = legal_move(&position, step) else {
            tally.skip(SkipReason::IllegalMove);
            whole = false;
            break;
        };
        let score = label_by_plies(i16::from_le_bytes([step[2], step[3]]), MOST_PLIES);
        rows.score(&position, score, origin, filters, tally);
        rows.play(&position, m, &tags, filters, tally);
        position.play_unchecked(m);
    }
    // The identity excludes scores and result.
    let id = || {
        let moves = steps.chunks_exact(STEP_BYTES).flat_map(|step| &step[..2]);
        let bytes: Vec<u8> = board[..board::LABEL].iter().chain(moves).copied().collect();
        GameId::of_bytes(&bytes)
    };
    let ending = Ending {
        result: result.filter(|_| whole),
        tags: &tags,
    };
    rows.finish(&position, id, ending, filters, tally, each);
    Ok(())
}

/// Returns the score in White's point of view, as [`label_by_plies`] decodes it. The mating side
/// plays the last ply.
fn score(record: &Record) -> i16 {
    let label = record.label();
    let Some(moves) = label.mate() else {
        return label.stored();
    };
    let mates_now = (moves > 0) == record.turn().is_white();
    let plies = 2 * moves.unsigned_abs() - u32::from(mates_now);
    let size = MATE - plies.min(MOST_PLIES.into()) as u16;
    size as i16 * moves.signum() as i16
}

/// Writes a position as a game of one move. A record has no move, so this is the first legal one
/// that is a capture or promotion exactly if the move played was (so filters of such moves keep the
/// same positions), and says nothing about the best move.
pub(super) fn write(record: &Record, bytes: &mut Vec<u8>) {
    let score = score(record).to_le_bytes();
    let mut board = board::of_record(record);
    board[board::LABEL..][..2].copy_from_slice(&score);
    let position = board::position(&board, CastlingMode::Chess960);
    let moves = position.map(|position| position.legal_moves());
    let unlike = |m: &&Move| {
        let tactical = m.is_capture() || m.is_promotion();
        (tactical != record.is_tactical(), m.is_castle())
    };
    // Datasets hold no position without a legal move.
    let Some(&m) = moves.iter().flatten().min_by_key(unlike) else {
        return;
    };
    bytes.extend_from_slice(&board);
    bytes.extend_from_slice(&code(m).to_le_bytes());
    bytes.extend_from_slice(&score);
    bytes.extend_from_slice(&END);
}

/// Encodes a move for [`legal_move`].
fn code(m: Move) -> u16 {
    let (to, kind) = match m {
        Move::Castle { rook, .. } => (rook, 2),
        Move::EnPassant { to, .. } => (to, 1),
        _ if m.is_promotion() => (m.to(), 3),
        _ => (m.to(), 0),
    };
    let from = m.from().map_or(0, |from| from as u16);
    let promotion = m
        .promotion()
        .map_or(0, |role| role as u16 - Role::Knight as u16);
    from | (to as u16) << 6 | promotion << 12 | kind << 14
}

/// Decodes the move of the first two bytes: from, to, promotion, kind, from the lowest bits up.
/// Castling targets the rook. `None` if it is illegal.
fn legal_move(position: &Chess, step: &[u8]) -> Option<Move> {
    let code = u16::from_le_bytes([step[0], step[1]]);
    let square = |shift: u16| Square::new(u32::from(code >> shift & 63));
    let kind = code >> 14;
    let promotion = match code >> 12 & 3 {
        _ if kind != 3 => None,
        0 => Some(Role::Knight),
        1 => Some(Role::Bishop),
        2 => Some(Role::Rook),
        _ => Some(Role::Queen),
    };
    let uci = UciMove::Normal {
        from: square(0),
        to: square(6),
        promotion,
    };
    let m = uci.to_move(position).ok()?;
    (m.is_castle() == (kind == 2) && m.is_en_passant() == (kind == 1)).then_some(m)
}
