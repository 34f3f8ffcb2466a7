//! Annotation of single games, with a UCI engine process or a net searched in this process.

use std::time::{Duration, Instant};

use datasets::{Label, Transcript};
use host::StopSignal;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Position};
use uci_client::{Answer, Score};

use crate::annotate::counts::AnnotationCounts;
use crate::annotate::error::Error;
use crate::annotate::net::{Net, Searcher};
use crate::annotate::notation::{Eval, write_game};
use crate::annotate::process::{Process, Program};

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

/// Annotator of one worker thread.
pub struct Analyst<'a> {
    task: &'a Task,
    worker: Worker<'a>,
    /// Time spent in searches, including failed ones.
    pub searching: Duration,
}

enum Worker<'a> {
    Process(Box<Process<'a>>),
    Net(Box<Searcher<'a>>),
}

impl<'a> Analyst<'a> {
    /// Returns an annotator; an engine's process starts with its first search.
    ///
    /// # Errors
    /// If memory for a net's transposition table cannot be allocated.
    pub fn new(task: &'a Task) -> Result<Analyst<'a>, Error> {
        let worker = match &task.evaluator {
            Evaluator::Program(program) => Worker::Process(Box::new(Process::new(task, program))),
            Evaluator::Net(net) => Worker::Net(Box::new(Searcher::new(task, net)?)),
        };
        Ok(Analyst {
            task,
            worker,
            searching: Duration::ZERO,
        })
    }

    /// Annotates the game in `text` and appends it to `out`; counts a game that is left out.
    ///
    /// # Errors
    /// If the engine cannot be started, or fails on every position.
    pub fn annotate(
        &mut self,
        text: &[u8],
        out: &mut Vec<u8>,
        tally: &mut AnnotationCounts,
    ) -> Result<(), Error> {
        let game = match Transcript::read(text) {
            Ok(Some(game)) => game,
            Ok(None) => return Ok(()),
            Err(cut) => {
                tally.skip(cut.reason);
                return Ok(());
            }
        };
        let keep = !self.task.replace && game.plies.iter().any(|ply| ply.eval.is_some());
        let evals = if keep {
            tally.kept += 1;
            game.plies.iter().map(|ply| ply.eval).collect()
        } else {
            match self.evaluate(&game, tally)? {
                Some(evals) => evals,
                None => return Ok(()),
            }
        };
        if let Some(cut) = &game.cut {
            tally.skip(cut.reason);
        }
        tally.games += 1;
        write_game(out, &game, &evals);
        Ok(())
    }

    /// Returns the evaluation after each move; `None` for a game that is left out and counted.
    fn evaluate(
        &mut self,
        game: &Transcript,
        tally: &mut AnnotationCounts,
    ) -> Result<Option<Vec<Option<Eval>>>, Error> {
        let started = Instant::now();
        let evals = match &mut self.worker {
            Worker::Process(process) => process.evaluate(game, tally)?,
            Worker::Net(searcher) => searcher.evaluate(game, tally),
        };
        self.searching += started.elapsed();
        Ok(evals)
    }
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

/// Returns the evaluation in an answer, from White's point of view. `None` if the answer is not
/// valid for this position: it has no score, an illegal best move, or a mate in 0.
pub fn eval(answer: &Answer, position: &Chess) -> Option<Eval> {
    let best: UciMove = answer.best.parse().ok()?;
    best.to_move(position).ok()?;
    let sign = position.turn().fold_wb(1, -1);
    let scored = answer.info.score?;
    let depth = u8::try_from(scored.depth.unwrap_or(0)).unwrap_or(u8::MAX);
    let label = match scored.score {
        Score::Centipawns(centipawns) => Label::from_centipawns(sign * i64::from(centipawns)),
        Score::Mate(moves) => Label::from_mate(sign * i64::from(moves))?,
    };
    Some((label, depth))
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;
    use shakmaty::fen::Fen;
    use uci_client::{Info, Scored};

    use super::*;

    fn label(fen: &str, score: Score, best: &str) -> Option<String> {
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
        let cp = Score::Centipawns(25);
        let some = |text: &str| Some(text.to_string());
        assert_eq!(label(white, cp, "e1e2"), some("25 7"));
        assert_eq!(label(black, cp, "e8e7"), some("-25 7"));
        assert_eq!(label(black, Score::Mate(-4), "e8e7"), some("#4 7"));
        assert_eq!(label(white, Score::Mate(-4), "e1h1"), some("#-4 7"));
        assert_eq!(label(white, Score::Mate(0), "e1e2"), None);
        for best in ["e8e7", "(none)", "", "e1e3"] {
            assert_eq!(label(white, cp, best), None, "{best}");
        }
        let lowest = Score::Centipawns(i32::MIN);
        assert_eq!(label(black, lowest, "e8e7"), some("30000 7"));
    }
}
