//! Feed: prepares batches for the device on background threads, in order.

use std::convert::Infallible;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread::Scope;

use datasets::{Error, Record, Row};
use host::Workers;
use models::Architecture;

use crate::training::executor::Executor;
use network::Aim;

/// A prepared batch, and its number of positions.
pub type Ready<E> = (<E as Executor>::Prepared, usize);

/// Upper limit of preparing threads. All cores derive the inputs of a batch together; joining the
/// results is one thread's work.
const MOST_THREADS: usize = 4;

/// Prepares a reader's batches for networks of `architecture`, in order. `aim` maps the number of a
/// batch, counted from 0, to its target.
pub fn feed<'scope, E: Executor>(
    scope: &'scope Scope<'scope, '_>,
    batches: Receiver<Result<Vec<Record>, Error>>,
    architecture: Architecture,
    aim: impl Fn(u64) -> Aim + Send + Sync + 'scope,
) -> impl Iterator<Item = Result<Ready<E>, Error>> + 'scope {
    let prepare = move |number, records: Vec<Record>| {
        let positions = records.len();
        (E::prepare(architecture, records, aim(number)), positions)
    };
    prepared(scope, batches, prepare)
}

/// Maps `prepare` over numbered batches on background threads, in order. They stay a few batches
/// ahead; dropping the iterator ends them.
pub fn prepared<'scope, R: Row, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    batches: Receiver<Result<Vec<R>, Error>>,
    prepare: impl Fn(u64, Vec<R>) -> T + Send + Sync + 'scope,
) -> impl Iterator<Item = Result<T, Error>> + 'scope {
    let threads = rayon::current_num_threads().min(MOST_THREADS);
    prepared_by(scope, batches, threads, prepare)
}

/// [`prepared`] on `threads` threads.
fn prepared_by<'scope, R: Row, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    batches: Receiver<Result<Vec<R>, Error>>,
    threads: usize,
    prepare: impl Fn(u64, Vec<R>) -> T + Send + Sync + 'scope,
) -> impl Iterator<Item = Result<T, Error>> + 'scope {
    let workers = Workers {
        threads,
        least: threads,
        window: 2 * threads,
    };
    let prepare = Arc::new(prepare);
    let worker = move || {
        let prepare = Arc::clone(&prepare);
        Ok(move |(number, batch): (u64, Result<_, Error>)| {
            Ok::<_, Infallible>(batch.map(|batch| prepare(number, batch)))
        })
    };
    let prepared = workers.start(scope, (0..).zip(batches), worker);
    prepared.expect("the system gives threads").map(|batch| {
        let Ok(batch) = batch.unwrap_or_else(|panic| resume_unwind(panic));
        batch
    })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;
    use std::thread;

    use super::*;

    use crate::testing::games;

    fn sent(batches: Vec<Vec<Record>>) -> Receiver<Result<Vec<Record>, Error>> {
        let (sender, receiver) = sync_channel(batches.len());
        for batch in batches {
            sender.send(Ok(batch)).unwrap();
        }
        receiver
    }

    #[test]
    fn batches_keep_their_order_and_get_their_numbers() {
        let records = games(230);
        let batches: Vec<Vec<Record>> = records.chunks(10).map(<[_]>::to_vec).collect();
        for threads in [1, 2, 4, 30] {
            let made: Vec<(u64, Vec<Record>)> = thread::scope(|scope| {
                // Each thread's first batch takes longest.
                let prepare = |number, batch: Vec<Record>| {
                    if number < threads as u64 {
                        thread::sleep(std::time::Duration::from_millis(20));
                    }
                    (number, batch)
                };
                let made = prepared_by(scope, sent(batches.clone()), threads, prepare);
                made.collect::<Result<_, _>>().unwrap()
            });
            let numbers = made.iter().map(|(number, _)| *number);
            assert!(numbers.eq(0..23), "{threads} threads");
            assert!(made.into_iter().map(|(_, batch)| batch).eq(batches.clone()));
        }
    }

    #[test]
    fn dropping_the_iterator_ends_the_threads() {
        thread::scope(|scope| {
            let batches = sent(vec![games(1); 100]);
            let mut made = prepared_by(scope, batches, 2, |number, _| number);
            assert_eq!(made.next().unwrap().unwrap(), 0);
        });
    }
}
