//! Annotates one game after another, with an engine that is asked or a net that is
//! searched with in this process.

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

/// What is done with each game.
pub struct Task {
    /// What evaluates.
    pub evaluator: Evaluator,
    /// How long a position is searched.
    pub limit: Limit,
    /// Of so many positions of a game one is evaluated.
    pub every: usize,
    /// Whether games that have evaluations get new ones.
    pub replace: bool,
    /// Whether to stop: for a signal, or an error elsewhere.
    pub stop: StopSignal,
}

/// What evaluates positions.
pub enum Evaluator {
    /// A UCI engine, in processes of its own.
    Program(Program),
    /// Kibitz with a net, in this process.
    Net(Box<Net>),
}

impl Evaluator {
    /// The options that were set, in order, as UCI calls them.
    pub fn options(&self) -> Vec<(String, String)> {
        match self {
            Evaluator::Program(program) => program.setup.options.clone(),
            Evaluator::Net(net) => vec![("Hash".to_string(), net.hash.to_string())],
        }
    }
}

/// How long a position is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many nodes.
    Nodes(u64),
    /// So many plies.
    Depth(u64),
}

/// As a UCI command.
impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Limit::Nodes(nodes) => write!(f, "go nodes {nodes}"),
            Limit::Depth(depth) => write!(f, "go depth {depth}"),
        }
    }
}

/// One of those who work side by side.
pub struct Analyst<'a> {
    task: &'a Task,
    worker: Worker<'a>,
    /// Time spent in searches, answered or not.
    pub searching: Duration,
}

enum Worker<'a> {
    Process(Box<Process<'a>>),
    Net(Box<Searcher<'a>>),
}

impl<'a> Analyst<'a> {
    /// An analyst; an engine's process starts with the first search.
    ///
    /// # Errors
    /// If there is no memory for a net's transposition table.
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

    /// Annotates the game of a piece of text, and appends it to `out`.
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

    /// The evaluations after each move; none for a game that is left out, which is
    /// counted.
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
    /// The positions of a game to be evaluated, each with the number of the move
    /// that leads to it: those after each move that does not end the game, or every
    /// so many of them. These are counted from the last: as games differ in length,
    /// all plies have their share. There are no more once the work is to stop.
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

/// The evaluation in an answer, from White's point of view. `None` if the
/// answer cannot be one to this position: it has no score, its best move is
/// illegal here, or it is a mate in 0 moves.
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
    fn scores_are_turned_to_white_and_illegal_moves_refused() {
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
