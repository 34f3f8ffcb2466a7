//! Worker pool: several threads take jobs from one iterator, and the caller takes their results, in
//! order or on completion.
//!
//! Memory is bounded by [`Workers::window`]: a job begins only while fewer finished results than that
//! wait to be taken. Errors and panics of workers reach the caller ahead of results and end the pool; so
//! does dropping [`Results`].

use std::collections::BTreeMap;
use std::io;
use std::iter::{self, Enumerate};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, Builder, Scope};

/// Size of a worker pool.
#[derive(Clone, Copy, Debug)]
pub struct Workers {
    /// Threads to start; 0 counts as 1.
    pub threads: usize,
    /// Fewest threads to work with if the system gives no more.
    pub least: usize,
    /// Jobs in flight: begun, and their results not yet taken. At least 1.
    pub window: usize,
}

/// Outcome of a job: `Err` is the panic of a worker or of the jobs' iterator, `Ok(Err)` a worker's
/// error.
pub type Outcome<R, E> = thread::Result<Result<R, E>>;

impl Workers {
    /// Starts the threads. Each calls `worker` for its own state, a function from job to result.
    /// One thread at a time asks `jobs` for the next.
    ///
    /// # Errors
    /// If the system gives fewer than [`Workers::least`] threads; no job has begun then.
    pub fn start<'scope, I, R, E, W>(
        self,
        scope: &'scope Scope<'scope, '_>,
        jobs: I,
        worker: impl Fn() -> Result<W, E> + Send + Sync + 'scope,
    ) -> io::Result<Results<R, E>>
    where
        I: Iterator + Send + 'scope,
        W: FnMut(I::Item) -> Result<R, E>,
        R: Send + 'scope,
        E: Send + 'scope,
    {
        let (permits, permitted) = channel();
        let (sender, outcomes) = channel();
        let queue = Queue {
            jobs: Some(jobs.enumerate()),
            permitted,
        };
        let shared = Arc::new((Mutex::new(queue), worker));
        for started in 0..self.threads.max(1) {
            let (shared, sender) = (Arc::clone(&shared), sender.clone());
            let work = move || {
                let (queue, worker) = &*shared;
                let worked = catch_unwind(AssertUnwindSafe(|| work(queue, worker, &sender)));
                if let Some(failure) = worked.map(Result::err).transpose() {
                    // Fails if the results are no longer wanted.
                    let _ = sender.send(failure.map(Err));
                }
            };
            match Builder::new().spawn_scoped(scope, work) {
                Ok(_) => {}
                Err(error) if started < self.least => return Err(error),
                Err(_) => break,
            }
        }
        for _ in 0..self.window {
            let _ = permits.send(());
        }
        Ok(Results {
            outcomes: Some(outcomes),
            permits,
            early: BTreeMap::new(),
            next: 0,
        })
    }
}

/// Jobs that have not begun.
struct Queue<I> {
    /// `None` after the last job.
    jobs: Option<Enumerate<I>>,
    /// A permit for each job that may begin; disconnected once the results are dropped.
    permitted: Receiver<()>,
}

/// Waits for a permit and takes the next job; `None` after the last, and after a panic of the
/// iterator, which poisons the lock.
fn next_job<I: Iterator>(queue: &Mutex<Queue<I>>) -> Option<(usize, I::Item)> {
    let mut queue = queue.lock().ok()?;
    let Queue { jobs, permitted } = &mut *queue;
    let begun = jobs.as_mut()?;
    permitted.recv().ok()?;
    let job = begun.next();
    if job.is_none() {
        *jobs = None;
    }
    job
}

/// Runs one worker until the jobs end or the results are dropped.
fn work<I: Iterator, R, E, W: FnMut(I::Item) -> Result<R, E>>(
    queue: &Mutex<Queue<I>>,
    worker: impl Fn() -> Result<W, E>,
    sender: &Sender<Outcome<(usize, R), E>>,
) -> Result<(), E> {
    let mut work = worker()?;
    while let Some((number, job)) = next_job(queue) {
        let result = work(job)?;
        if sender.send(Ok(Ok((number, result)))).is_err() {
            break;
        }
    }
    Ok(())
}

/// Iterator over the results in the order of the jobs; ends after a failure. Dropping it ends the
/// workers, each after one more job at most.
pub struct Results<R, E> {
    /// `None` after a failure.
    outcomes: Option<Receiver<Outcome<(usize, R), E>>>,
    permits: Sender<()>,
    /// Results that wait for that of an earlier job.
    early: BTreeMap<usize, R>,
    /// Number of the next job in order.
    next: usize,
}

impl<R, E> Results<R, E> {
    /// Returns the results in the order in which they are completed.
    pub fn as_completed(mut self) -> impl Iterator<Item = Outcome<R, E>> {
        iter::from_fn(move || {
            let outcome = self.receive()?;
            self.permit();
            Some(outcome.map(|result| result.map(|(_, result)| result)))
        })
    }

    /// Waits for any outcome; `None` once all workers have ended.
    fn receive(&mut self) -> Option<Outcome<(usize, R), E>> {
        let outcome = self.outcomes.as_ref()?.recv().ok()?;
        if !matches!(outcome, Ok(Ok(_))) {
            self.outcomes = None;
        }
        Some(outcome)
    }

    /// Lets another job begin.
    fn permit(&self) {
        // Fails once all workers have ended.
        let _ = self.permits.send(());
    }
}

impl<R, E> Iterator for Results<R, E> {
    type Item = Outcome<R, E>;

    fn next(&mut self) -> Option<Outcome<R, E>> {
        loop {
            if let Some(result) = self.early.remove(&self.next) {
                self.next += 1;
                self.permit();
                return Some(Ok(Ok(result)));
            }
            match self.receive()? {
                Ok(Ok((number, result))) => drop(self.early.insert(number, result)),
                failure => return Some(failure.map(|failed| failed.map(|(_, result)| result))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    fn workers(threads: usize, window: usize) -> Workers {
        Workers {
            threads,
            least: 1,
            window,
        }
    }

    fn taken<R, E: std::fmt::Debug>(outcome: Outcome<R, E>) -> R {
        outcome.expect("no panic").expect("no error")
    }

    /// Worker whose first jobs take longest. Its results are the job and its count of jobs.
    fn slow_start() -> Result<impl FnMut(u64) -> Result<(u64, u64), Infallible>, Infallible> {
        let mut jobs = 0;
        Ok(move |job| {
            thread::sleep(Duration::from_millis(20 / (job + 1)));
            jobs += 1;
            Ok((job, jobs))
        })
    }

    #[test]
    fn results_keep_the_order_of_the_jobs() {
        for (threads, window) in [(1, 1), (3, 1), (2, 4), (4, 100), (30, 60)] {
            thread::scope(|scope| {
                let results = workers(threads, window).start(scope, 0..50, slow_start);
                let results: Vec<_> = results.unwrap().map(taken).collect();
                assert!(results.iter().map(|(job, _)| *job).eq(0..50));
                let workers = results.iter().filter(|(_, jobs)| *jobs == 1).count();
                assert!((1..=threads).contains(&workers), "one state a worker");
            });
        }
    }

    #[test]
    fn results_come_as_they_are_completed() {
        thread::scope(|scope| {
            let (release, held) = channel::<()>();
            let held = Mutex::new(held);
            let work = move |job| {
                if job == 0 {
                    held.lock().unwrap().recv().unwrap();
                }
                Ok::<u64, Infallible>(job)
            };
            let work = Arc::new(work);
            let worker = move || {
                let work = Arc::clone(&work);
                Ok(move |job| work(job))
            };
            let results = workers(2, 2).start(scope, 0..100, worker).unwrap();
            let mut jobs = results.as_completed().map(taken);
            assert!(jobs.by_ref().take(99).eq(1..100));
            release.send(()).unwrap();
            assert_eq!((jobs.next(), jobs.next()), (Some(0), None));
        });
    }

    #[test]
    fn jobs_in_flight_are_bounded() {
        let begun = AtomicUsize::new(0);
        thread::scope(|scope| {
            let worker = || {
                Ok::<_, Infallible>(|job: usize| {
                    begun.fetch_add(1, Ordering::Relaxed);
                    Ok(job)
                })
            };
            let results = workers(3, 5).start(scope, 0.., worker).unwrap();
            for (number, job) in results.map(taken).take(100).enumerate() {
                assert_eq!(job, number);
                assert!(begun.load(Ordering::Relaxed) <= number + 1 + 5);
            }
        });
        assert!(begun.load(Ordering::Relaxed) <= 100 + 5);
    }

    #[test]
    fn a_failure_ends_the_pool() {
        thread::scope(|scope| {
            let worker = || {
                Ok(|job: u64| match job {
                    7 => Err("an error"),
                    _ => Ok(job),
                })
            };
            let mut results = workers(1, 3).start(scope, 0.., worker).unwrap();
            assert!(results.by_ref().take(7).map(taken).eq(0..7));
            assert_eq!(results.next().unwrap().unwrap(), Err("an error"));
            assert!(results.next().is_none());
        });
        thread::scope(|scope| {
            let worker = || Err::<fn(u64) -> Result<u64, &'static str>, _>("no state");
            let mut results = workers(2, 2).start(scope, 0.., worker).unwrap();
            assert_eq!(results.next().unwrap().unwrap(), Err("no state"));
        });
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        fn check(jobs: impl Iterator<Item = u64> + Send, broken: u64) {
            thread::scope(|scope| {
                let worker = || {
                    Ok::<_, Infallible>(|job| {
                        assert!(job != broken, "a worker");
                        Ok(job)
                    })
                };
                let results = workers(2, 4).start(scope, jobs, worker).unwrap();
                let failure = results.as_completed().find_map(Result::err);
                assert!(failure.is_some());
            });
        }
        check(0.., 10);
        check(
            (0..).inspect(|&job| assert!(job != 10, "the jobs")),
            u64::MAX,
        );
    }
}
