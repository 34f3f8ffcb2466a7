//! Explanation of moves: the value after each legal move, and what the last move changed.

use engine::cozy_chess::{Board, Move, Square, util};
use engine::{is_chess960, legal_moves, write_move};
use serde::Serialize;

use crate::error::RequestError;
use crate::evaluator::SelectedEvaluator;
use crate::game::Game;
use crate::inside::InputReport;
use crate::names::{PieceName, SideName, SquareName};
use crate::rules::castled;

/// A legal move and the static evaluation after it, in pawns from White's view.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MoveValue {
    uci: String,
    san: String,
    from: SquareName,
    /// Square where the piece lands.
    to: SquareName,
    value: f32,
    mates: bool,
}

/// Effects of a move. Values are in pawns from White's view.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MoveChange {
    san: String,
    mover: SideName,
    /// Evaluation before and after.
    values: [f32; 2],
    pieces: Vec<WorthChange>,
    /// Inputs for pieces en prise, before and after.
    threats: [Vec<InputReport>; 2],
}

/// Value of a piece before and after a move.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct WorthChange {
    color: SideName,
    /// Kind of piece after the move; before it, if captured.
    piece: PieceName,
    from: SquareName,
    /// Square after the move; `null` if captured.
    to: Option<SquareName>,
    before: f32,
    after: f32,
}

/// Evaluates the position after each legal move of a game's last position.
///
/// # Errors
/// If the game is invalid, or the network's values overflow.
pub fn weigh(evaluator: &SelectedEvaluator, game: &Game) -> Result<Vec<MoveValue>, RequestError> {
    let position = game.replay(|_, _| {})?;
    let board = position.board();
    let chess960 = is_chess960(board);
    let mut moves = Vec::new();
    for mv in legal_moves(board) {
        let mut after = board.clone();
        after.play_unchecked(mv);
        moves.push(MoveValue {
            uci: write_move(board, mv, chess960),
            san: util::display_san_move(board, mv).to_string(),
            from: SquareName(mv.from),
            to: SquareName(landing(board, mv)),
            value: evaluator.value(&after)?,
            mates: !after.checkers().is_empty() && legal_moves(&after).is_empty(),
        });
    }
    Ok(moves)
}

/// Describes what the last move of a game changed; `None` for a game without moves.
///
/// # Errors
/// As [`weigh`].
pub fn change(
    evaluator: &SelectedEvaluator,
    game: &Game,
) -> Result<Option<MoveChange>, RequestError> {
    let mut last = None;
    let position = game.replay(|position, mv| last = Some((position.board().clone(), mv)))?;
    let Some((before, mv)) = last else {
        return Ok(None);
    };
    let after = position.board();
    let worth = |worths: &[(Square, f32)], at: Square| {
        let found = worths.iter().find(|(square, _)| *square == at);
        found.map_or(0.0, |&(_, worth)| worth)
    };
    let (old, new) = (evaluator.worths(&before)?, evaluator.worths(after)?);
    let pieces = old.iter().filter_map(|&(from, before_it)| {
        let color = before.color_on(from)?;
        let to = destination(&before, after, mv, from);
        let standing = to.and_then(|to| after.piece_on(to));
        Some(WorthChange {
            color: color.into(),
            piece: standing.or(before.piece_on(from))?.into(),
            from: SquareName(from),
            to: to.map(SquareName),
            before: before_it,
            after: to.map_or(0.0, |to| worth(&new, to)),
        })
    });
    Ok(Some(MoveChange {
        san: util::display_san_move(&before, mv).to_string(),
        mover: before.side_to_move().into(),
        values: [evaluator.value(&before)?, evaluator.value(after)?],
        pieces: pieces.collect(),
        threats: [evaluator.threats(&before), evaluator.threats(after)],
    }))
}

/// Returns the target square of the moving piece; for castling, the king's.
fn landing(board: &Board, mv: Move) -> Square {
    castled(board, mv).map_or(mv.to, |[king, _]| king)
}

/// Returns the square after a move of the piece that stood on `from`; `None` if captured.
fn destination(before: &Board, after: &Board, mv: Move, from: Square) -> Option<Square> {
    match castled(before, mv) {
        Some([king, _]) if from == mv.from => Some(king),
        Some([_, rook]) if from == mv.to => Some(rook),
        None if from == mv.from => Some(mv.to),
        _ => {
            let stays = from != mv.to && after.color_on(from) == before.color_on(from);
            stays.then_some(from)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::parse_fen;

    fn game(start: Option<&str>, moves: &[&str]) -> Game {
        Game {
            start: start.map(str::to_string),
            moves: moves.iter().map(|mv| mv.to_string()).collect(),
        }
    }

    #[test]
    fn weighs_all_moves() {
        let evaluator = SelectedEvaluator::embedded().unwrap();
        let moves = weigh(&evaluator, &game(None, &["e2e4"])).unwrap();
        assert_eq!(moves.len(), 20);
        assert!(moves.iter().all(|mv| mv.value.abs() < 3.0 && !mv.mates));
        let mate = game(Some("6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1"), &[]);
        let moves = weigh(&evaluator, &mate).unwrap();
        let mates: Vec<&MoveValue> = moves.iter().filter(|mv| mv.mates).collect();
        assert!(mates.len() == 1 && mates[0].san == "Re8#");
        let castles = game(Some("4k3/8/8/8/8/8/8/4K2R w K - 0 1"), &[]);
        let moves = weigh(&evaluator, &castles).unwrap();
        let castles = moves.iter().find(|mv| mv.san == "O-O").unwrap();
        assert_eq!(castles.to.0, Square::G1);
    }

    #[test]
    fn follows_moved_and_captured_pieces() {
        for (fen, uci, from, to) in [
            (
                "4k3/8/8/8/8/8/8/4K2R w K - 0 1",
                "e1g1",
                Square::H1,
                Some(Square::F1),
            ),
            (
                "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1",
                "e5d6",
                Square::D5,
                None,
            ),
            (
                "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1",
                "e5d6",
                Square::E5,
                Some(Square::D6),
            ),
            (
                "1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1",
                "a7b8q",
                Square::B8,
                None,
            ),
        ] {
            let evaluator = SelectedEvaluator::embedded().unwrap();
            let found = change(&evaluator, &game(Some(fen), &[uci]))
                .unwrap()
                .unwrap();
            let piece = found
                .pieces
                .iter()
                .find(|piece| piece.from.0 == from)
                .unwrap();
            assert_eq!(piece.to.map(|to| to.0), to, "{fen} {uci}");
            let board = parse_fen(fen).unwrap();
            let [before, _] = found.values;
            assert_eq!(before, evaluator.value(&board).unwrap());
        }
        let evaluator = SelectedEvaluator::embedded().unwrap();
        assert!(change(&evaluator, &game(None, &[])).unwrap().is_none());
    }

    #[test]
    fn reports_pieces_en_prise() {
        let evaluator = SelectedEvaluator::embedded().unwrap();
        let game = game(None, &["e2e4", "d7d5"]);
        let found = change(&evaluator, &game).unwrap().unwrap();
        let [before, after] = found.threats;
        assert!(before.is_empty());
        // Both pawns are attacked, and only Black's is defended.
        assert_eq!(after.len(), 1);
    }
}
