//! Parallel annotation with output in source order.
//!
//! A reader thread cuts the sources into games; each worker, with its own engine process, takes one
//! game at a time; the calling thread writes the results in source order. Engines are reset before
//! each game, so evaluations do not depend on the worker or the order of work. Credits bound the
//! number of games in flight: memory does not grow with the sources.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use datasets::{PartRead, SkipReason};

use crate::annotate::analyst::Analyst;
use crate::annotate::counts::AnnotationCounts;
use crate::annotate::error::Error;
use crate::annotate::feed::{Feed, Piece};
use crate::annotate::task::Task;
use crate::terminal::stopped::Stopped;

/// Games in flight per worker: enough to keep the others busy while one has a long game or an
/// engine that hangs.
const WINDOW: usize = 64;

/// Interval at which blocked threads check the stop flag.
const STOP_CHECK: Duration = Duration::from_millis(50);

/// A worker's numbered result, or its panic.
type Done = thread::Result<Result<(u64, Annotated), Error>>;

/// Annotated game.
pub struct Annotated {
    /// Text of the source.
    pub source: Vec<u8>,
    /// Text of the output; empty if the game was left out.
    pub text: Vec<u8>,
    /// Counts of this game.
    pub tally: AnnotationCounts,
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
/// The first error of `each`, of an engine, or of the sources; `each` has received all games before
/// it.
pub fn run(
    task: &Task,
    feed: Feed,
    processes: usize,
    mut each: impl FnMut(Annotated) -> Result<()>,
) -> Result<Finished> {
    let (to_workers, pieces) = channel();
    let (to_writer, annotated) = channel();
    let (credit, credits) = channel();
    for _ in 0..WINDOW * processes {
        credit.send(())?;
    }
    let pieces = Arc::new(Mutex::new(pieces));
    // A detached thread: a blocked source must not delay the return.
    let reader = thread::Builder::new().spawn(move || read(feed, &credits, &to_workers));
    let reader = reader.map_err(datasets::Error::NoThread)?;
    let searching = thread::scope(|scope| {
        let mut workers = Vec::new();
        for _ in 0..processes {
            let (pieces, to_writer) = (Arc::clone(&pieces), to_writer.clone());
            let spawned = thread::Builder::new().spawn_scoped(scope, move || {
                let annotate = || annotate_pieces(task, &pieces, &to_writer);
                catch_unwind(AssertUnwindSafe(annotate)).unwrap_or_else(|panic| {
                    // Forward the panic, or the writer waits forever for this game.
                    let _ = to_writer.send(Err(panic));
                    Duration::ZERO
                })
            });
            match spawned {
                Ok(worker) => workers.push(worker),
                Err(error) if workers.is_empty() => bail!(datasets::Error::NoThread(error)),
                // Continue with the workers already started.
                Err(_) => break,
            }
        }
        // Only the workers keep these ends open: the channel closes after the last.
        drop((to_writer, pieces));
        let write = || write_in_order(task, &annotated, &credit, &mut each);
        let written = catch_unwind(AssertUnwindSafe(write));
        if !matches!(written, Ok(Ok(()))) {
            task.stop.flag().store(true, Ordering::Relaxed);
        }
        let mut searching = Duration::ZERO;
        for worker in workers {
            searching += worker.join().map_err(|_| anyhow!("a worker panicked"))?;
        }
        let written = written.unwrap_or_else(|panic| resume_unwind(panic));
        written.map(|()| searching)
    })?;
    let part = reader
        .join()
        .map_err(|_| anyhow!("the reader panicked"))??;
    Ok(Finished { searching, part })
}

/// Returns the next message; `None` at the end of the channel or when the work is to stop.
fn next<T>(task: &Task, messages: &Receiver<T>) -> Option<T> {
    while !task.stop.is_asked() {
        match messages.recv_timeout(STOP_CHECK) {
            Ok(message) => return Some(message),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    None
}

/// Sends the games of the feed to the workers, one per credit. Returns the range read of a part.
fn read(
    mut feed: Feed,
    credits: &Receiver<()>,
    workers: &Sender<(u64, Piece)>,
) -> Result<Option<PartRead>, datasets::Error> {
    for (number, piece) in (0..).zip(feed.by_ref()) {
        let piece = piece?;
        if credits.recv().is_err() || workers.send((number, piece)).is_err() {
            break;
        }
    }
    Ok(feed.into_part_read())
}

/// Runs one worker until no games are left. Returns its search time.
fn annotate_pieces(
    task: &Task,
    pieces: &Mutex<Receiver<(u64, Piece)>>,
    writer: &Sender<Done>,
) -> Duration {
    let mut analyst = match Analyst::new(task) {
        Ok(analyst) => analyst,
        Err(error) => {
            // Fails if the writer has ended.
            let _ = writer.send(Ok(Err(error)));
            return Duration::ZERO;
        }
    };
    loop {
        let pieces = pieces.lock().unwrap_or_else(PoisonError::into_inner);
        let piece = next(task, &pieces);
        drop(pieces);
        let Some((number, piece)) = piece else { break };
        let done = annotate_piece(&mut analyst, piece).map(|done| (number, done));
        let failed = done.is_err();
        if writer.send(Ok(done)).is_err() || failed {
            break;
        }
    }
    analyst.searching
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
        read: piece.read,
    })
}

/// Calls `each` with the workers' results in source order.
fn write_in_order(
    task: &Task,
    annotated: &Receiver<Done>,
    credit: &Sender<()>,
    each: &mut impl FnMut(Annotated) -> Result<()>,
) -> Result<()> {
    let (mut early, mut number) = (BTreeMap::new(), 0);
    while let Some(done) = next(task, annotated) {
        // A worker stopped in mid-game sends an incomplete result.
        if task.stop.is_asked() {
            break;
        }
        let (done_number, done) = done.unwrap_or_else(|panic| resume_unwind(panic))?;
        early.insert(done_number, done);
        while let Some(done) = early.remove(&number) {
            each(done)?;
            number += 1;
            // Fails if the reader has ended.
            let _ = credit.send(());
        }
    }
    if task.stop.is_asked() {
        return Err(Stopped::for_now(&task.stop).into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;
    use std::panic::panic_any;
    use std::path::Path;

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
