//! Annotation of single games, with a UCI engine process or a net searched in this process.

use std::time::{Duration, Instant};

use datasets::Transcript;

use crate::annotate::counts::AnnotationCounts;
use crate::annotate::error::Error;
use crate::annotate::net::Searcher;
use crate::annotate::notation::{Eval, write_game};
use crate::annotate::process::Process;
use crate::annotate::task::{Evaluator, Task};

/// Annotator of one worker thread.
pub struct Analyst<'a> {
    task: &'a Task,
    worker: Worker<'a>,
    /// Time spent in searches, including failed ones; callers reset it.
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
