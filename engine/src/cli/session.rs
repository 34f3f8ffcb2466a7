//! UCI session over a pipe. A reader thread splits the input into lines, the engine thread owns the
//! engine and runs jobs in order, and the session between them handles `isready`, `stop`,
//! `ponderhit`, `quit` and signals at any time.

mod control;
mod engine_thread;
mod openings;
mod output;

use std::io::{BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use engine::uci::{Command, Go, SetOption};
use host::{ExitCode, StopSignal};

use super::lines::{InputLine, MAX_LINE, read_lines};
use control::Control;
use engine_thread::{EngineThread, Job};
use output::{inform, say};

/// Interval between two checks for signals.
const TICK: Duration = Duration::from_millis(100);

/// Capacity of the event and job queues; senders block when one is full.
const MOST_WAITING: usize = 1000;

/// Runs a UCI session until `quit`, the end of input, or a stop signal.
///
/// # Errors
/// If the embedded network is refused, the input cannot be read, or the search thread dies.
pub fn run(input: impl Read + Send + 'static) -> Result<ExitCode> {
    let stop = StopSignal::listen().context("cannot listen to signals")?;
    stop.end_soon().context("cannot start a thread")?;
    let unsettled = Arc::new(AtomicUsize::new(0));
    let engine = EngineThread::new(Arc::clone(&unsettled))?;
    let (sender, received) = mpsc::sync_channel(MOST_WAITING);
    let read = sender.clone();
    start("reader", move || {
        let input = BufReader::new(input);
        read_lines(input, |line| read.send(Event::Line(line)).is_ok());
    })?;
    let events = Events { stop, received };
    let session = Session::start(events, sender, unsettled, |jobs| engine.run(jobs))?;
    let ended = session.run();
    if let Err(error) = &ended {
        inform(&format!("{error:#}"));
    }
    ended
}

fn start(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    let thread = thread::Builder::new().name(name.to_string()).spawn(run);
    thread.context("cannot start a thread")
}

/// Event that the session waits for.
enum Event {
    /// A line of input.
    Line(InputLine),
    /// End of the engine thread, by a panic or because there are no more jobs.
    EngineEnded,
}

struct Events {
    stop: StopSignal,
    received: Receiver<Event>,
}

impl Events {
    /// Returns the next event; `None` after a stop signal.
    fn next(&self) -> Option<Event> {
        loop {
            if self.stop.is_asked() {
                return None;
            }
            match self.received.recv_timeout(TICK) {
                Ok(event) => return Some(event),
                Err(RecvTimeoutError::Timeout) => {}
                // Both threads have reported their end before.
                Err(RecvTimeoutError::Disconnected) => return Some(Event::EngineEnded),
            }
        }
    }
}

struct Session {
    events: Events,
    jobs: SyncSender<Job>,
    engine: JoinHandle<()>,
    /// Searches not known to be done, oldest first; done ones are dropped at the next command.
    searches: Vec<Arc<Control>>,
    /// Number of queued `setoption` and `ucinewgame` jobs.
    unsettled: Arc<AtomicUsize>,
}

/// Sends [`Event::EngineEnded`] when dropped, also by a panic.
struct NotifyEnd(SyncSender<Event>);

impl Drop for NotifyEnd {
    fn drop(&mut self) {
        // The session may have ended already.
        let _ = self.0.send(Event::EngineEnded);
    }
}

impl Session {
    fn start(
        events: Events,
        sender: SyncSender<Event>,
        unsettled: Arc<AtomicUsize>,
        work: impl FnOnce(Receiver<Job>) + Send + 'static,
    ) -> Result<Session> {
        let (jobs, given) = mpsc::sync_channel(MOST_WAITING);
        let engine = start("engine", move || {
            let _end = NotifyEnd(sender);
            work(given);
        })?;
        Ok(Session {
            events,
            jobs,
            engine,
            searches: Vec::new(),
            unsettled,
        })
    }

    /// Processes events until the end of the session.
    fn run(mut self) -> Result<ExitCode> {
        loop {
            match self.events.next() {
                None => return self.finish(),
                Some(Event::EngineEnded) => return Err(engine_lost()),
                Some(Event::Line(InputLine::End)) => return self.finish(),
                Some(Event::Line(InputLine::Failed(error))) => {
                    return Err(error).context("cannot read UCI input");
                }
                Some(Event::Line(InputLine::TooLong)) => {
                    inform(&format!("line of more than {MAX_LINE} bytes ignored"));
                }
                Some(Event::Line(InputLine::Text(line))) => {
                    let (command, wrong) = Command::read(&line);
                    for error in wrong {
                        inform(&error.to_string());
                    }
                    match command {
                        Some(Command::Quit) => {
                            self.stop_searches(|_| true);
                            return self.finish();
                        }
                        Some(command) => self.obey(command)?,
                        None => {}
                    }
                }
            }
        }
    }

    fn obey(&mut self, command: Command) -> Result<()> {
        self.searches
            .retain(|search| !search.done.load(Ordering::Relaxed));
        match command {
            Command::Uci => {
                // Errors are ignored here and below: a closed stdout needs no answer.
                let _ = say(&format!(
                    "id name Kibitz {}\nid author the Kibitz authors\n{}\nuciok",
                    env!("CARGO_PKG_VERSION"),
                    SetOption::describe()
                ));
            }
            Command::IsReady if self.is_only_searching() => {
                let _ = say("readyok");
            }
            Command::IsReady => self.give(Job::Ready)?,
            Command::NewGame => self.settle(Job::NewGame)?,
            Command::SetOption(option) => self.settle(Job::Set(option))?,
            Command::Position(position) => self.give(Job::Position(Some(position)))?,
            Command::NoPosition => self.give(Job::Position(None))?,
            Command::GenFens(asked) => {
                let control = self.begin(false, true);
                self.give(Job::Openings { asked, control })?;
            }
            Command::Display => self.give(Job::Display)?,
            Command::Eval => self.give(Job::Eval)?,
            Command::Flip => self.give(Job::Flip)?,
            Command::Bench(plies) => {
                let control = self.begin(false, true);
                self.give(Job::Bench { plies, control })?;
            }
            Command::Perft(plies) => {
                let control = self.begin(false, true);
                self.give(Job::Perft { plies, control })?;
            }
            Command::Go(go) => self.go(go)?,
            Command::PonderHit => self.ponder_hit(),
            Command::Stop | Command::Quit => self.stop_searches(|_| true),
        }
        Ok(())
    }

    /// Returns whether only searches keep the engine busy: `isready` is then answered at once,
    /// otherwise after all earlier jobs.
    fn is_only_searching(&self) -> bool {
        !self.searches.is_empty() && self.unsettled.load(Ordering::Acquire) == 0
    }

    /// Queues a job that `isready` waits for.
    fn settle(&self, job: Job) -> Result<()> {
        self.unsettled.fetch_add(1, Ordering::Release);
        self.give(job)
    }

    /// Queues a search. It waits for bounded searches and stops unbounded ones.
    fn go(&mut self, go: Go) -> Result<()> {
        let control = self.begin(go.ponder, go.is_bounded());
        self.give(Job::Search {
            go,
            control,
            asked: Instant::now(),
        })
    }

    /// Registers a new search and stops unbounded ones.
    fn begin(&mut self, pondering: bool, bounded: bool) -> Arc<Control> {
        self.stop_searches(|search| !search.bounded);
        let control = Arc::new(Control {
            stop: AtomicBool::new(false),
            pondering: AtomicBool::new(pondering),
            done: AtomicBool::new(false),
            bounded,
        });
        self.searches.push(Arc::clone(&control));
        control
    }

    fn stop_searches(&self, which: impl Fn(&Control) -> bool) {
        stop_searches(&self.searches, &self.engine, which);
    }

    fn ponder_hit(&self) {
        if let Some(search) = self.searches.last() {
            search.pondering.store(false, Ordering::Relaxed);
            self.engine.thread().unpark();
        }
    }

    /// Queues a job. If the queue is full, unbounded searches are stopped to make room.
    fn give(&self, job: Job) -> Result<()> {
        let given = self.jobs.try_send(job).or_else(|error| match error {
            TrySendError::Full(job) => {
                self.stop_searches(|search| !search.bounded);
                self.jobs.send(job).map_err(drop)
            }
            TrySendError::Disconnected(_) => Err(()),
        });
        given.map_err(|()| engine_lost())
    }

    /// Waits until all jobs are done. Stops unbounded searches now, and all searches on a signal.
    fn finish(self) -> Result<ExitCode> {
        self.stop_searches(|search| !search.bounded);
        drop(self.jobs);
        let asked = loop {
            match self.events.next() {
                None => break true,
                Some(Event::EngineEnded) => break false,
                Some(Event::Line(_)) => {}
            }
        };
        if asked {
            stop_searches(&self.searches, &self.engine, |_| true);
        }
        self.engine.join().map_err(|_| engine_lost())?;
        Ok(match asked {
            true => self.events.stop.exit_code(),
            false => ExitCode::Done,
        })
    }
}

fn stop_searches(
    searches: &[Arc<Control>],
    engine: &JoinHandle<()>,
    which: impl Fn(&Control) -> bool,
) {
    for search in searches.iter().filter(|search| which(search)) {
        search.stop.store(true, Ordering::Relaxed);
    }
    engine.thread().unpark();
}

fn engine_lost() -> anyhow::Error {
    anyhow!("the search thread ended unexpectedly; this is a bug of the engine")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session that receives these lines, and no end of input.
    fn session(lines: &[&str], work: impl FnOnce(Receiver<Job>) + Send + 'static) -> Session {
        let (sender, received) = mpsc::sync_channel(MOST_WAITING);
        for line in lines {
            let line = InputLine::Text(line.to_string());
            sender.send(Event::Line(line)).unwrap();
        }
        let stop = StopSignal::default();
        let events = Events { stop, received };
        Session::start(events, sender, Arc::default(), work).unwrap()
    }

    #[test]
    fn a_session_ends_with_its_engine() {
        for lines in [
            &["go infinite", "isready"][..],
            &["isready"],
            &["go depth 1", "quit"],
        ] {
            let session = session(lines, |jobs| {
                let _ = jobs.recv();
                panic!("deliberate panic in the engine");
            });
            let (sender, ended) = mpsc::channel();
            thread::spawn(move || sender.send(session.run()));
            let minute = Duration::from_secs(60);
            let error = ended.recv_timeout(minute).expect("it ends").unwrap_err();
            assert_eq!(error.to_string(), engine_lost().to_string(), "{lines:?}");
        }
    }
}
