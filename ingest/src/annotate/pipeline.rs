//! Parallel annotation with output in source order.
//!
//! A reader thread cuts the sources into games; each worker, with its own engine process, takes one
//! game at a time; the calling thread writes the results in source order. Engines are reset before
//! each game, so evaluations do not depend on the worker or the order of work.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use anyhow::Result;
use datasets::{PartRead, SkipReason};
use host::{Workers, read_ahead};

use crate::annotate::analyst::Analyst;
use crate::annotate::counts::AnnotationCounts;
use crate::annotate::error::Error;
use crate::annotate::feed::{Feed, Piece};
use crate::annotate::task::Task;
use crate::terminal::stopped::Stopped;

/// Games in flight per worker: enough to keep the others busy while one has a long game or an
/// engine that hangs.
const WINDOW: usize = 64;

/// Annotated game.
pub struct Annotated {
    /// Text of the source.
    pub source: Vec<u8>,
    /// Text of the output; empty if the game was left out.
    pub text: Vec<u8>,
    /// Counts of this game.
    pub tally: AnnotationCounts,
    /// Search time of this game.
    pub searching: Duration,
    /// Approximate offset of its end in the (compressed) bytes of all sources.
    pub read: u64,
}

/// Result of a completed run.
pub struct Finished {
    /// Total search time of the engines.
    pub searching: Duration,
    /// Range and digests of the part that was read; `None` without `--part`.
    pub part: Option<PartRead>,
}

/// Annotates all games of the feed; calls `each` with the results in source order. Runs fewer
/// engines if the system gives fewer threads.
///
/// # Errors
/// [`Stopped`] if asked to stop; an error of `each` or of an engine at once; an error of the
/// sources after `each` has received all games before it.
pub fn run(
    task: &Task,
    feed: Feed,
    processes: usize,
    mut each: impl FnMut(Annotated) -> Result<()>,
) -> Result<Finished> {
    let stop = task.stop.flag();
    let (pieces, reader) = read_ahead(feed, processes, stop).map_err(datasets::Error::NoThread)?;
    thread::scope(|scope| {
        let workers = Workers {
            threads: processes,
            least: 1,
            window: WINDOW * processes,
        };
        let worker = || {
            let mut analyst = Analyst::new(task)?;
            // An error of the sources keeps its place among the games.
            Ok(
                move |piece: Result<Piece, datasets::SourceError>| match piece {
                    Ok(piece) => annotate_piece(&mut analyst, piece).map(Ok),
                    Err(error) => Ok(Err(error)),
                },
            )
        };
        let annotated = workers.start(scope, pieces, worker);
        let annotated = annotated.map_err(datasets::Error::NoThread)?;
        let write = || -> Result<Duration> {
            let mut searching = Duration::ZERO;
            for done in annotated {
                // A worker stopped in mid-game sends an incomplete result.
                if task.stop.is_asked() {
                    break;
                }
                let done = done.unwrap_or_else(|panic| resume_unwind(panic))??;
                searching += done.searching;
                each(done)?;
            }
            match task.stop.is_asked() {
                true => Err(Stopped::for_now(&task.stop).into()),
                false => Ok(searching),
            }
        };
        let written = catch_unwind(AssertUnwindSafe(write));
        if !matches!(written, Ok(Ok(_))) {
            stop.store(true, Ordering::Relaxed);
        }
        let searching = written.unwrap_or_else(|panic| resume_unwind(panic))?;
        Ok(Finished {
            searching,
            part: reader.join().into_part_read(),
        })
    })
}

fn annotate_piece(analyst: &mut Analyst, piece: Piece) -> Result<Annotated, Error> {
    #[cfg(test)]
    tests::panic_if_marked(&piece.text);
    let (mut text, mut tally) = (Vec::new(), AnnotationCounts::default());
    if piece.oversized {
        tally.skip(SkipReason::OversizedGame);
    }
    analyst.annotate(&piece.text, &mut text, &mut tally)?;
    Ok(Annotated {
        source: piece.text,
        text,
        tally,
        searching: std::mem::take(&mut analyst.searching),
        read: piece.read,
    })
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;
    use std::panic::panic_any;
    use std::path::Path;
    use std::sync::mpsc::channel;

    use host::StopSignal;

    use super::*;
    use crate::annotate::task::{Evaluator, Limit, Program};
    use uci_client::Setup;

    /// Site tag of the sample's tenth game.
    const MARK: &[u8] = b"/TeSjOmtX\"";

    /// Panics on the marked game: no real input makes a worker panic.
    pub(crate) fn panic_if_marked(text: &[u8]) {
        if text.windows(MARK.len()).any(|window| window == MARK) {
            panic_any("a marked game");
        }
    }

    #[test]
    fn a_panic_of_a_worker_ends_the_run() {
        // The sample's games have evaluations: no engine is started.
        let sample = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../datasets/samples/dump_2026-06_annotated500.pgn.zst");
        let (done, outcome) = channel();
        thread::spawn(move || {
            let task = Task {
                evaluator: Evaluator::Program(Program {
                    setup: Setup::default(),
                    timeout: Duration::ZERO,
                    ahead: NonZero::<usize>::MIN,
                }),
                limit: Limit::Nodes(1),
                every: 1,
                replace: false,
                stop: StopSignal::default(),
            };
            let feed = Feed::new(&[sample]).unwrap();
            let run = || run(&task, feed, 2, |_| Ok(())).map(drop);
            done.send(catch_unwind(AssertUnwindSafe(run))).unwrap();
        });
        let outcome = outcome.recv_timeout(Duration::from_secs(60));
        let panic = outcome
            .expect("the run hangs")
            .expect_err("the run succeeds");
        assert_eq!(panic.downcast_ref(), Some(&"a marked game"));
    }
}
