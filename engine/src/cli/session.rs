//! A UCI session over a pipe. One thread reads; another owns the engine and
//! obeys in order, so that whatever it does, the reader hears `isready`,
//! `stop`, `ponderhit` and `quit`.

mod input;
mod worker;

use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use anyhow::{Result, anyhow};
use engine::uci::{Command, Go, SetOption};

use input::{Line, MAX_LINE, read_line};
use worker::{Job, Worker};

/// Speaks UCI until `quit` or the end of the input.
///
/// # Errors
/// Where the embedded network is refused, the input cannot be read, or the
/// search dies.
pub fn run(mut input: impl BufRead) -> Result<()> {
    let mut session = Session::start()?;
    let mut line = Vec::new();
    loop {
        match read_line(&mut input, &mut line)? {
            Line::End => return session.finish(),
            Line::TooLong => say(&format!(
                "info string line of more than {MAX_LINE} bytes ignored"
            )),
            Line::Read => match Command::parse(&String::from_utf8_lossy(&line)) {
                Ok(Some(Command::Quit)) => {
                    session.stop_searches(|_| true);
                    return session.finish();
                }
                Ok(Some(command)) => session.obey(command)?,
                Ok(None) => {}
                Err(error) => say(&format!("info string {error}")),
            },
        }
    }
}

/// Prints a line at once.
fn say(line: &str) {
    // A GUI that no longer listens closes our input too, and that ends us.
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// How the reader reaches a search, under way or waiting for its turn.
struct Control {
    stop: AtomicBool,
    pondering: AtomicBool,
    /// Its `bestmove` is known.
    done: AtomicBool,
    /// Ends by itself, so that what a script asks for next may wait for it.
    bounded: bool,
}

struct Session {
    jobs: Sender<Job>,
    worker: JoinHandle<()>,
    /// Those not known to be done, oldest first.
    searches: Vec<Arc<Control>>,
}

impl Session {
    fn start() -> Result<Session> {
        let worker = Worker::new()?;
        let (jobs, received) = channel();
        Ok(Session {
            jobs,
            worker: thread::spawn(move || worker.run(received)),
            searches: Vec::new(),
        })
    }

    fn obey(&mut self, command: Command) -> Result<()> {
        self.searches
            .retain(|search| !search.done.load(Ordering::Relaxed));
        match command {
            Command::Uci => say(&format!(
                "id name Kibitz {}\nid author the Kibitz authors\n{}\nuciok",
                env!("CARGO_PKG_VERSION"),
                SetOption::describe()
            )),
            // While it searches, the engine is ready; else it is once it has
            // done what was asked before.
            Command::IsReady if !self.searches.is_empty() => say("readyok"),
            Command::IsReady => self.give(Job::Ready)?,
            Command::NewGame => self.give(Job::NewGame)?,
            Command::SetOption(option) => self.give(Job::Set(option))?,
            Command::Position(position) => self.give(Job::Position(position))?,
            Command::Go(go) => self.go(go)?,
            Command::PonderHit => self.ponder_hit(),
            Command::Stop | Command::Quit => self.stop_searches(|_| true),
        }
        Ok(())
    }

    /// Has the worker search, after those searches that end by themselves;
    /// others make room.
    fn go(&mut self, go: Go) -> Result<()> {
        self.stop_searches(|search| !search.bounded);
        let control = Arc::new(Control {
            stop: AtomicBool::new(false),
            pondering: AtomicBool::new(go.ponder),
            done: AtomicBool::new(false),
            bounded: go.is_bounded(),
        });
        self.searches.push(Arc::clone(&control));
        self.give(Job::Search {
            go,
            control,
            asked: Instant::now(),
        })
    }

    fn stop_searches(&self, which: impl Fn(&Control) -> bool) {
        for search in self.searches.iter().filter(|search| which(search)) {
            search.stop.store(true, Ordering::Relaxed);
        }
        self.worker.thread().unpark();
    }

    fn ponder_hit(&self) {
        if let Some(search) = self.searches.last() {
            search.pondering.store(false, Ordering::Relaxed);
            self.worker.thread().unpark();
        }
    }

    fn give(&self, job: Job) -> Result<()> {
        self.jobs.send(job).map_err(|_| engine_lost())
    }

    /// Waits until all is done; a search without an end of its own ends now.
    fn finish(self) -> Result<()> {
        self.stop_searches(|search| !search.bounded);
        drop(self.jobs);
        self.worker.join().map_err(|_| engine_lost())
    }
}

fn engine_lost() -> anyhow::Error {
    anyhow!("the search ended unexpectedly")
}
