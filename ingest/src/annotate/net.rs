//! Evaluation by Kibitz with a net in this process, with the results of its UCI program.

use datasets::{SkipReason, Transcript};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, EnPassantMode, Move};
use uci_client::Library;

use crate::annotate::counts::AnnotationCounts;
use crate::annotate::error::Error;
use crate::annotate::notation::Eval;
use crate::annotate::task::{Limit, Net, Task, eval};

/// Searcher of one worker: the engine library with the net.
pub struct Searcher<'a> {
    task: &'a Task,
    library: Library,
    limits: engine::Limits,
}

impl<'a> Searcher<'a> {
    /// Returns a searcher with one thread, which makes searches deterministic.
    ///
    /// # Errors
    /// If memory for the table cannot be allocated.
    pub fn new(task: &'a Task, net: &Net) -> Result<Searcher<'a>, Error> {
        let (nodes, depth) = match task.limit {
            Limit::Nodes(nodes) => (Some(nodes), None),
            Limit::Depth(depth) => (None, Some(depth)),
        };
        Ok(Searcher {
            task,
            library: Library::new(net.evaluator.clone(), net.hash, 1)?,
            limits: engine::Limits {
                nodes,
                depth,
                ..engine::Limits::default()
            },
        })
    }

    /// Returns the evaluations of a game's positions; `None` for a game whose start position the
    /// engine's rules refuse, which is counted.
    pub fn evaluate(
        &mut self,
        game: &Transcript,
        tally: &mut AnnotationCounts,
    ) -> Option<Vec<Option<Eval>>> {
        self.library.new_game();
        let start = Fen::from_position(&game.start, EnPassantMode::Legal).to_string();
        let Ok(mut line) = engine::Position::from_fen(&start) else {
            tally.skip(SkipReason::BadFen);
            return None;
        };
        let mut evals = vec![None; game.plies.len()];
        let mut played = 0;
        for (ply, position) in self.task.positions(game) {
            let mut moves = game.plies[played..=ply].iter();
            if moves.any(|ply| line.play(translate(ply.m)).is_err()) {
                // The two rules libraries disagree on a move.
                tally.unanswered += 1;
                break;
            }
            played = ply + 1;
            let stop = self.task.stop.flag();
            let answer = (self.library).answer(&line, &self.limits, true, stop);
            evals[ply] = eval(&answer, &position);
            match evals[ply] {
                Some((label, _)) => {
                    tally.positions += 1;
                    tally.mates += u64::from(label.mate().is_some());
                }
                None => tally.unanswered += 1,
            }
        }
        Some(evals)
    }
}

/// Translates a move between the rules libraries; both write castling as king takes rook.
fn translate(m: Move) -> engine::cozy_chess::Move {
    let text = m.to_uci(CastlingMode::Chess960).to_string();
    text.parse().expect("UCI has one way to write a move")
}
