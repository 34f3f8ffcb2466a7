//! Reader: delivers a dataset's epochs in batches, ahead of the device.
//!
//! Several threads decode the groups of an epoch; another thread puts them in order and cuts them
//! into batches. The batches therefore do not depend on the number of threads,
//! and a record is copied once between its decoded block and its batch. Bounded queues limit
//! memory.

use std::convert::Infallible;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Scope};

use datasets::{Dataset, Error, Row, Shuffled, Split};
use host::Workers;

/// Capacity of the queue of batches.
const AHEAD: usize = 4;

/// Upper limit of decoding threads. One decodes some 30 million records a second (`bench_ingest`,
/// docs/benchmarks.md); each holds two groups of 2 MiB.
const MOST_THREADS: usize = 4;

/// Test whether a row is kept.
pub type Keeps<R> = Box<dyn Fn(&R) -> bool + Send + Sync>;

/// Reads one epoch of the training rows that `keeps` accepts (all if `None`), in batches of `size`
/// (the last may be smaller), from batch `skip` on, counted from 0. The order is a function of
/// `seed` and `epoch`. Skipped batches are not read, unless rows are dropped: only reading then
/// shows where they end. Background threads stay a few batches ahead; dropping the receiver ends
/// them.
pub fn read_epoch<'scope, R: Row>(
    scope: &'scope Scope<'scope, '_>,
    dataset: &'scope Dataset<R>,
    keeps: Option<Keeps<R>>,
    (seed, epoch): (u64, u64),
    size: usize,
    skip: u64,
) -> Receiver<Result<Vec<R>, Error>> {
    let (sender, receiver) = sync_channel(AHEAD);
    let threads = rayon::current_num_threads().min(MOST_THREADS);
    scope.spawn(move || {
        let result = dataset
            .shuffled(Split::Train, seed, epoch)
            .map_err(Error::from)
            .and_then(|order| send_batches(&order, keeps, (size, skip), threads, &sender));
        if let Err(error) = result {
            // The receiver may be gone.
            let _ = sender.send(Err(error));
        }
    });
    receiver
}

/// Cuts an epoch into batches, and sends them until the receiver is dropped.
fn send_batches<R: Row>(
    order: &Shuffled<R>,
    keeps: Option<Keeps<R>>,
    (size, skip): (usize, u64),
    threads: usize,
    sender: &SyncSender<Result<Vec<R>, Error>>,
) -> Result<(), Error> {
    let skipped = skip.saturating_mul(size as u64);
    let (first, mut skipped) = match keeps {
        None => place_of(order, skipped),
        Some(_) => (0, skipped),
    };
    let keeps = keeps.as_deref();
    thread::scope(|scope| {
        let workers = Workers {
            threads,
            least: threads,
            window: 2 * threads,
        };
        let read = move |group| {
            let mut records = order.group(group)?;
            if let Some(keeps) = keeps {
                records.retain(keeps);
            }
            Ok(records)
        };
        let worker = move || Ok(move |group| Ok::<Result<_, Error>, Infallible>(read(group)));
        let groups = workers.start(scope, first..order.groups(), worker);
        let mut pending = Vec::with_capacity(size);
        for group in groups.map_err(Error::NoThread)? {
            let Ok(group) = group.unwrap_or_else(|panic| resume_unwind(panic));
            let group = group?;
            let begin = skipped.min(group.len() as u64);
            skipped -= begin;
            let mut rest = &group[begin as usize..];
            while !rest.is_empty() {
                let (taken, left) = rest.split_at(rest.len().min(size - pending.len()));
                pending.extend_from_slice(taken);
                rest = left;
                if pending.len() == size {
                    let full = std::mem::replace(&mut pending, Vec::with_capacity(size));
                    if sender.send(Ok(full)).is_err() {
                        return Ok(());
                    }
                }
            }
        }
        if !pending.is_empty() {
            // The last batch; it does not matter if the receiver is gone.
            let _ = sender.send(Ok(pending));
        }
        Ok(())
    })
}

/// Returns the group of a record, counted from 0 in the order of the epoch, and its index there.
/// Past the end, returns the number of groups.
fn place_of<R: Row>(order: &Shuffled<R>, record: u64) -> (usize, u64) {
    let mut before = record;
    for group in 0..order.groups() {
        let len = order.group_len(group) as u64;
        if before < len {
            return (group, before);
        }
        before -= len;
    }
    (order.groups(), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::sync::{Arc, Mutex, PoisonError, Weak};

    use datasets::Record;

    use crate::batch::filter::{Filter, Selection};
    use crate::testing;

    const SIZE: usize = 1000;

    /// A dataset of more than two groups, and its folder.
    type Groups = (Dataset, tempfile::TempDir);

    /// Returns the dataset of the tests that run at the moment; the last of them removes it.
    fn groups() -> Arc<Groups> {
        static SHARED: Mutex<Weak<Groups>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let folder = tempfile::tempdir().unwrap();
            let dataset = testing::dataset(folder.path(), 180_000);
            let groups = Arc::new((dataset, folder));
            *shared = Arc::downgrade(&groups);
            groups
        })
    }

    /// Returns the batches of an epoch, decoded by `threads` threads.
    fn batches(order: &Shuffled, filter: Filter, skip: u64, threads: usize) -> Vec<Vec<Record>> {
        thread::scope(|scope| {
            let (sender, receiver) = sync_channel(AHEAD);
            scope.spawn(move || send_batches(order, filter.test(), (SIZE, skip), threads, &sender));
            receiver
                .into_iter()
                .map(|batch| batch.expect("a batch"))
                .collect()
        })
    }

    #[test]
    fn batches_depend_on_seed_and_epoch_alone() {
        let groups = groups();
        let dataset = &groups.0;
        let order = |epoch| dataset.shuffled(Split::Train, 7, epoch).unwrap();
        let first = order(1);
        assert!(first.groups() > 2, "{}", first.groups());
        for group in 0..first.groups() {
            assert_eq!(first.group_len(group), first.group(group).unwrap().len());
        }
        let expected: Vec<Record> = order(1).flat_map(Result::unwrap).collect();
        let whole = batches(&first, Filter::NONE, 0, 1);
        assert_eq!(whole.concat(), expected);
        let (last, full) = whole.split_last().unwrap();
        assert!(full.iter().all(|batch| batch.len() == SIZE) && last.len() <= SIZE);
        for threads in [2, 3, 8] {
            assert!(
                batches(&first, Filter::NONE, 0, threads) == whole,
                "{threads} threads"
            );
        }
        assert_ne!(batches(&order(2), Filter::NONE, 0, 2).concat(), expected);

        // Skipping batches does not change the rest.
        for skip in [1, 65, 66, 131, whole.len() - 1, whole.len(), 10_000] {
            let rest = &whole[skip.min(whole.len())..];
            assert!(
                batches(&first, Filter::NONE, skip as u64, 2) == rest,
                "from batch {skip}"
            );
        }
    }

    #[test]
    fn what_is_left_out_leaves_no_gap_wherever_reading_begins() {
        let groups = groups();
        let dataset = &groups.0;
        let filter = Filter {
            quiet: true,
            pieces: Some([24, 32]),
            ..Filter::NONE
        };
        let order = || dataset.shuffled(Split::Train, 7, 1).unwrap();
        let mut expected: Vec<Record> = order().flat_map(Result::unwrap).collect();
        let all = expected.len() as u64;
        expected.retain(|record| filter.keeps(record));
        let selection = Selection::new(filter, dataset).unwrap();
        assert_eq!(selection.positions, expected.len() as u64);
        assert_eq!(selection.dropped.total(), all - selection.positions);
        assert!(selection.dropped.not_quiet > 0 && selection.dropped.pieces > 0);
        let whole = batches(&order(), filter, 0, 1);
        assert_eq!(whole.concat(), expected);
        assert_eq!(whole.len(), expected.len().div_ceil(SIZE));
        for skip in [1, 60, whole.len() - 1, whole.len(), 10_000] {
            let rest = &whole[skip.min(whole.len())..];
            assert!(
                batches(&order(), filter, skip as u64, 3) == rest,
                "from batch {skip}"
            );
        }
    }

    #[test]
    fn dropping_the_receiver_ends_the_threads() {
        let folder = tempfile::tempdir().unwrap();
        let dataset = testing::dataset(folder.path(), 10_000);
        thread::scope(|scope| {
            let batches = read_epoch(scope, &dataset, None, (1, 1), 10, 0);
            assert_eq!(batches.recv().unwrap().unwrap().len(), 10);
        });
    }
}
