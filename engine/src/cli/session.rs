//! A UCI session over a pipe: one thread reads, one searches.

use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use engine::uci::{Command, DEFAULT_OVERHEAD, Go, SetOption, info_line};
use engine::{EMBEDDED_NET, Engine, Position, Signals, write_move};

use super::files;

/// Longer lines are refused: a game of ten thousand plies fits.
const MAX_LINE: usize = 1 << 20;

/// Speaks UCI until `quit` or the end of the input.
///
/// # Errors
/// Where the embedded network is refused, the input cannot be read, or the
/// search dies.
pub fn run(mut input: impl BufRead) -> Result<()> {
    let mut session = Session::new()?;
    let mut line = Vec::new();
    loop {
        match read_line(&mut input, &mut line)? {
            Line::End => return session.finish_search(),
            Line::TooLong => say(&format!(
                "info string line of more than {MAX_LINE} bytes ignored"
            )),
            Line::Read => match Command::parse(&String::from_utf8_lossy(&line)) {
                Ok(Some(Command::Quit)) => return session.stop_search(),
                Ok(Some(command)) => session.obey(command)?,
                Ok(None) => {}
                Err(error) => say(&format!("info string {error}")),
            },
        }
    }
}

enum Line {
    Read,
    TooLong,
    End,
}

/// Reads a line of bounded length into `line`; what is left of a longer one is skipped.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Line> {
    line.clear();
    if input
        .by_ref()
        .take(MAX_LINE as u64)
        .read_until(b'\n', line)?
        == 0
    {
        return Ok(Line::End);
    }
    if line.len() < MAX_LINE || line.ends_with(b"\n") {
        return Ok(Line::Read);
    }
    input.skip_until(b'\n')?;
    Ok(Line::TooLong)
}

/// Prints a line at once.
fn say(line: &str) {
    // A GUI that no longer listens closes our input too, and that ends us.
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// A search under way; its thread has the engine and gives it back.
struct Running {
    thread: JoinHandle<Engine>,
    stop: Arc<AtomicBool>,
    bounded: bool,
}

struct Session {
    /// `None` while it searches.
    engine: Option<Engine>,
    running: Option<Running>,
    position: Position,
    chess960: bool,
    overhead: Duration,
}

impl Session {
    fn new() -> Result<Session> {
        Ok(Session {
            engine: Some(Engine::new(files::embedded_evaluator()?)),
            running: None,
            position: Position::startpos(),
            chess960: false,
            overhead: DEFAULT_OVERHEAD,
        })
    }

    fn obey(&mut self, command: Command) -> Result<()> {
        match command {
            Command::Uci => {
                say(&format!(
                    "id name Kibitz {}\nid author the Kibitz authors\n{}\nuciok",
                    env!("CARGO_PKG_VERSION"),
                    SetOption::describe()
                ));
            }
            Command::IsReady => say("readyok"),
            Command::NewGame => self.idle_engine()?.clear(),
            Command::SetOption(option) => self.set(option)?,
            Command::Position(position) => self.position = *position,
            Command::Go(go) => self.go(&go)?,
            Command::Stop | Command::Quit => self.stop_search()?,
        }
        Ok(())
    }

    fn set(&mut self, option: SetOption) -> Result<()> {
        match option {
            SetOption::Chess960(on) => self.chess960 = on,
            SetOption::MoveOverhead(overhead) => self.overhead = overhead,
            SetOption::ClearHash => self.idle_engine()?.clear(),
            SetOption::Hash(mebibytes) => {
                if let Err(error) = self.idle_engine()?.set_hash(mebibytes) {
                    say(&format!("info string {error}"));
                }
            }
            SetOption::Evaluation(kind) => {
                self.idle_engine()?
                    .change_evaluator(|evaluator| evaluator.set_kind(kind));
            }
            SetOption::EvalFile(path) => {
                let loaded = match &path {
                    Some(path) => files::load_network(path),
                    None => files::networks(EMBEDDED_NET),
                };
                match loaded {
                    Ok((_, network)) => self
                        .idle_engine()?
                        .change_evaluator(|evaluator| evaluator.set_network(network)),
                    Err(error) => say(&format!("info string {error:#}; network unchanged")),
                }
            }
        }
        Ok(())
    }

    /// Starts a search in its own thread.
    fn go(&mut self, go: &Go) -> Result<()> {
        self.finish_search()?;
        let start = Instant::now();
        let mut engine = self.engine.take().ok_or_else(engine_lost)?;
        let position = self.position.clone();
        let chess960 = self.chess960;
        let limits = go.limits(position.board().side_to_move(), self.overhead);
        let bounded = go.is_bounded();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let signals = Signals {
                stop: &stopped,
                pondering: None,
                elapsed: &|| start.elapsed(),
            };
            let board = position.board();
            let outcome = engine.search(&position, &limits, &signals, &mut |report| {
                say(&info_line(report, board, chess960));
            });
            // An unbounded search that has nothing left to find still owes its
            // answer only after `stop`.
            while !bounded && !stopped.load(Ordering::Relaxed) {
                thread::park();
            }
            let best = outcome.best.map(|mv| write_move(board, mv, chess960));
            say(&format!("bestmove {}", best.as_deref().unwrap_or("0000")));
            engine
        });
        self.running = Some(Running {
            thread,
            stop,
            bounded,
        });
        Ok(())
    }

    /// Ends a search at once.
    fn stop_search(&mut self) -> Result<()> {
        if let Some(running) = &self.running {
            running.stop.store(true, Ordering::Relaxed);
            running.thread.thread().unpark();
        }
        self.join()
    }

    /// Lets a search that ends by itself do so, and stops any other: commands
    /// from a script must not cut short what it asked for before.
    fn finish_search(&mut self) -> Result<()> {
        match &self.running {
            Some(running) if !running.bounded => self.stop_search(),
            _ => self.join(),
        }
    }

    fn join(&mut self) -> Result<()> {
        if let Some(running) = self.running.take() {
            self.engine = Some(running.thread.join().map_err(|_| engine_lost())?);
        }
        Ok(())
    }

    /// The engine, once it is idle.
    fn idle_engine(&mut self) -> Result<&mut Engine> {
        self.finish_search()?;
        self.engine.as_mut().ok_or_else(engine_lost)
    }
}

fn engine_lost() -> anyhow::Error {
    anyhow!("the search ended unexpectedly")
}
