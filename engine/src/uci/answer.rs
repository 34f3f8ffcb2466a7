//! Formats the engine's `info` and `bestmove` lines.

use cozy_chess::{Board, Move};

use crate::board::write_move;
use crate::evaluation::{Chances, Score};
use crate::search::{Report, ScoreBound, VisitedMove};

/// Formatting options.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnswerStyle {
    /// Whether castling is written as king takes rook.
    pub chess960: bool,
    /// Whether scores include `wdl` (`UCI_ShowWDL`).
    pub chances: bool,
}

/// Returns an `info` line for a search of `board`.
pub fn info_line(report: &Report, board: &Board, style: AnswerStyle) -> String {
    let seconds = report.time.as_secs_f64();
    let nps = if seconds > 0.0 {
        report.nodes as f64 / seconds
    } else {
        0.0
    };
    let bound = match report.bound {
        ScoreBound::Exact => "",
        ScoreBound::Lower => " lowerbound",
        ScoreBound::Upper => " upperbound",
    };
    let chances = chances(report.score, board, style);
    let mut line = format!(
        "info depth {} seldepth {} multipv {} score {}{bound}{chances} nodes {} nps {nps:.0} hashfull {} \
         tbhits {} time {} pv",
        report.depth,
        report.seldepth,
        report.rank,
        report.score,
        report.nodes,
        report.hashfull,
        report.tablebase_hits,
        report.time.as_millis(),
    );
    let mut board = board.clone();
    for &mv in report.pv {
        line.push(' ');
        line.push_str(&write_move(&board, mv, style.chess960));
        board.play_unchecked(mv);
    }
    line
}

/// Returns the text of an `info string` on a move of a search by playouts, for the mover.
pub fn visits_line(visited: &VisitedMove, board: &Board, style: AnswerStyle) -> String {
    let &VisitedMove {
        mv,
        visits,
        prior,
        value,
        proof,
    } = visited;
    let mv = write_move(board, mv, style.chess960);
    let proof = proof.map_or(String::new(), |score| format!(" proven {score}"));
    format!("{mv} visits {visits} prior {prior:.4} value {value:+.4}{proof}")
}

/// Returns the `info` line for a position without legal moves, so that the score of a finished game
/// can be read.
pub fn ended_line(score: Score, board: &Board, style: AnswerStyle) -> String {
    let chances = chances(score, board, style);
    // No minus: the current position is the mate.
    match score.plies_to_mate() {
        Some(_) => format!("info depth 0 score mate 0{chances}"),
        None => format!("info depth 0 score {score}{chances}"),
    }
}

/// Returns the field `wdl`, or nothing if not requested.
fn chances(score: Score, board: &Board, style: AnswerStyle) -> String {
    if !style.chances {
        return String::new();
    }
    let Chances { win, draw, loss } = Chances::of(score, board);
    format!(" wdl {win} {draw} {loss}")
}

/// Returns the `bestmove` line: the first move of the line is played, the second is the expected
/// reply (`ponder`). Without a move, `bestmove 0000`.
pub fn best_move_line(pv: &[Move], board: &Board, chess960: bool) -> String {
    let Some(&best) = pv.first() else {
        return "bestmove 0000".to_string();
    };
    let mut line = format!("bestmove {}", write_move(board, best, chess960));
    if let Some(&answer) = pv.get(1) {
        let mut board = board.clone();
        board.play_unchecked(best);
        line.push_str(" ponder ");
        line.push_str(&write_move(&board, answer, chess960));
    }
    line
}
