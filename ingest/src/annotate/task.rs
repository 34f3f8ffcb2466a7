//! Task of the annotating workers: evaluator, limit, and which positions are evaluated.

use std::num::NonZero;
use std::time::Duration;

use datasets::{Label, Transcript};
use host::StopSignal;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Position};
use uci_client::{Answer, Setup, UciScore};

use crate::annotate::notation::Eval;

/// Settings shared by all workers.
pub struct Task {
    /// Evaluator of positions.
    pub evaluator: Evaluator,
    /// Search limit of each position.
    pub limit: Limit,
    /// Sampling interval: every N-th position of a game is evaluated, counted from its end.
    pub every: usize,
    /// Whether games that have evaluations get new ones.
    pub replace: bool,
    /// Stop flag, set by a signal or an error elsewhere.
    pub stop: StopSignal,
}

impl Task {
    /// Returns the positions to evaluate, each with the index of the move leading to it: those
    /// after every `every`-th move, except the end of the game. Counting starts from the last move:
    /// games differ in length, so all plies get their share. Ends early once the work is to stop.
    pub fn positions(&self, game: &Transcript) -> impl Iterator<Item = (usize, Chess)> {
        let mut position = game.start.clone();
        let plies = game.plies.iter().enumerate();
        plies
            .take_while(|_| !self.stop.is_asked())
            .filter_map(move |(ply, played)| {
                position.play_unchecked(played.m);
                let left = game.plies.len() - ply - 1;
                let wanted = left.is_multiple_of(self.every) && !position.legal_moves().is_empty();
                wanted.then(|| (ply, position.clone()))
            })
    }
}

/// Evaluator of positions.
pub enum Evaluator {
    /// UCI engine, one process per worker.
    Program(Program),
    /// Kibitz with a net, in this process.
    Net(Box<Net>),
}

impl Evaluator {
    /// Returns the UCI options that were set, in order.
    pub fn options(&self) -> Vec<(String, String)> {
        match self {
            Evaluator::Program(program) => program.setup.options.clone(),
            Evaluator::Net(net) => vec![("Hash".to_string(), net.hash.to_string())],
        }
    }
}

/// UCI engine and its settings.
pub struct Program {
    /// Command and options of the engine.
    pub setup: Setup,
    /// Time limit of one search.
    pub timeout: Duration,
    /// Positions queued in an engine. If more than one, each is sent without the moves before it:
    /// Stockfish counts the moves of a queued `position` as nodes of the running search.
    pub ahead: NonZero<usize>,
}

/// Net and the size of its transposition table.
pub struct Net {
    /// Evaluator of positions.
    pub evaluator: engine::Evaluator,
    /// Size of the transposition table, in MiB.
    pub hash: usize,
}

/// Search limit of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Limit in nodes.
    Nodes(u64),
    /// Limit in plies.
    Depth(u64),
}

/// Formats the UCI `go` command.
impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Limit::Nodes(nodes) => write!(f, "go nodes {nodes}"),
            Limit::Depth(depth) => write!(f, "go depth {depth}"),
        }
    }
}

/// Returns the evaluation in an answer, from White's point of view. `None` if the answer is not
/// valid for this position: it has no score, an illegal best move, or a mate in 0.
pub fn eval(answer: &Answer, position: &Chess) -> Option<Eval> {
    let best: UciMove = answer.best.parse().ok()?;
    best.to_move(position).ok()?;
    let sign = position.turn().fold_wb(1, -1);
    let scored = answer.info.score?;
    let depth = u8::try_from(scored.depth.unwrap_or(0)).unwrap_or(u8::MAX);
    let label = match scored.score {
        UciScore::Centipawns(centipawns) => Label::from_centipawns(sign * i64::from(centipawns)),
        UciScore::Mate(moves) => Label::from_mate(sign * i64::from(moves))?,
    };
    Some((label, depth))
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;
    use shakmaty::fen::Fen;
    use uci_client::{Info, Scored};

    use super::*;

    fn label(fen: &str, score: UciScore, best: &str) -> Option<String> {
        let fen: Fen = fen.parse().unwrap();
        let position: Chess = fen.into_position(CastlingMode::Chess960).unwrap();
        let scored = Scored {
            score,
            depth: Some(7),
            bound: false,
        };
        let info = Info {
            score: Some(scored),
            ..Info::default()
        };
        let answer = Answer {
            best: best.to_string(),
            time: Duration::ZERO,
            info,
        };
        eval(&answer, &position).map(|(label, depth)| format!("{label} {depth}"))
    }

    #[test]
    fn turns_scores_to_white_and_refuses_illegal_moves() {
        let white = "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1";
        let black = "4k3/8/8/8/8/8/8/R3K2R b KQ - 0 1";
        let cp = UciScore::Centipawns(25);
        let some = |text: &str| Some(text.to_string());
        assert_eq!(label(white, cp, "e1e2"), some("25 7"));
        assert_eq!(label(black, cp, "e8e7"), some("-25 7"));
        assert_eq!(label(black, UciScore::Mate(-4), "e8e7"), some("#4 7"));
        assert_eq!(label(white, UciScore::Mate(-4), "e1h1"), some("#-4 7"));
        assert_eq!(label(white, UciScore::Mate(0), "e1e2"), None);
        for best in ["e8e7", "(none)", "", "e1e3"] {
            assert_eq!(label(white, cp, best), None, "{best}");
        }
        let lowest = UciScore::Centipawns(i32::MIN);
        assert_eq!(label(black, lowest, "e8e7"), some("30000 7"));
    }
}
