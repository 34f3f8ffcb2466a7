//! An engine that is a child process and speaks UCI.

use std::io::{BufRead, BufReader, Write};
#[cfg(unix)]
use std::os::unix::process::CommandExt;
use std::process::{self, Child, ChildStdin, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::super::error::FileError;
use super::player::{Answer, Question, Silence};
use super::spec::Command;
use super::thought::Thought;

/// How long an engine may take to get ready.
const READY: Duration = Duration::from_secs(20);
/// How long an engine that was too slow may take to come to its senses.
const GRACE: Duration = Duration::from_secs(2);
/// How often to look whether the match is over.
const LOOK: Duration = Duration::from_millis(100);

/// A running engine; dropping it ends the process.
pub struct Process {
    child: Child,
    input: ChildStdin,
    lines: Receiver<(Instant, String)>,
    knows_chess960: bool,
}

impl Process {
    /// Starts an engine and sets its options.
    ///
    /// # Errors
    /// [`FileError`] where the program cannot be started, [`Silence`] where
    /// it does not speak UCI.
    pub fn start(spec: &Command) -> Result<Process> {
        let mut command = process::Command::new(&spec.program);
        command.args(&spec.arguments);
        // Ctrl-C is for the match, which then ends its engines itself.
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|source| FileError {
                action: "start",
                path: (&spec.program).into(),
                source,
            })?;
        let input = child.stdin.take().context("a piped child has an input")?;
        let output = child.stdout.take().context("a piped child has an output")?;
        let (sender, lines) = channel();
        thread::spawn(move || {
            // Lines that are no text end the engine's part as its end would.
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send((Instant::now(), line)).is_err() {
                    break;
                }
            }
        });
        let mut process = Process {
            child,
            input,
            lines,
            knows_chess960: false,
        };
        process
            .shake_hands(spec)
            .with_context(|| format!("engine {:?}", spec.program))?;
        Ok(process)
    }

    fn shake_hands(&mut self, spec: &Command) -> Result<()> {
        self.send("uci")?;
        let deadline = Instant::now() + READY;
        let mut offered = Vec::new();
        loop {
            let (_, line) = self.next_line(deadline)?;
            if line.trim() == "uciok" {
                break;
            }
            let option = line.strip_prefix("option name ");
            offered
                .extend(option.and_then(|option| Some(option.split_once(" type ")?.0.to_string())));
        }
        let offers = |name: &str| offered.iter().any(|known| known.eq_ignore_ascii_case(name));
        self.knows_chess960 = offers("UCI_Chess960");
        for (name, value) in &spec.options {
            // Ignored, it would be a match between others than was asked for.
            ensure!(offers(name), "there is no option {name:?}");
            self.send(&format!("setoption name {name} value {value}"))?;
        }
        self.send("isready")?;
        let deadline = Instant::now() + READY;
        loop {
            let (_, line) = self.next_line(deadline)?;
            match line.trim() {
                "readyok" => return Ok(()),
                // A value that is refused, for one.
                said if said.starts_with("info string ") => eprintln!("{}: {said}", spec.program),
                _ => {}
            }
        }
    }

    /// Prepares for a game.
    pub fn new_game(&mut self, chess960: bool) -> Result<(), Silence> {
        if self.knows_chess960 {
            self.send(&format!("setoption name UCI_Chess960 value {chess960}"))?;
        }
        self.send("ucinewgame")?;
        self.wait_until_ready()
    }

    /// Asks for a move; its time is that until its line was read.
    ///
    /// # Errors
    /// [`Silence`] where no answer came in time.
    pub fn best_move(&mut self, question: &Question) -> Result<Answer, Silence> {
        self.send(question.command)?;
        let go = question.allowance.go_command();
        let start = Instant::now();
        self.send(&go)?;
        let deadline = start + question.allowance.patience;
        let mut thought = Thought::default();
        loop {
            let (arrived, line) = self.line_unless(question.stop, deadline)?;
            let mut words = line.split_ascii_whitespace();
            match words.next() {
                Some("info") => thought.hear(&line),
                Some("bestmove") => {
                    return Ok(Answer {
                        text: words.next().unwrap_or_default().to_string(),
                        time: arrived.saturating_duration_since(start),
                        thought,
                    });
                }
                _ => {}
            }
        }
    }

    /// Calls off a search whose answer nobody waits for any more.
    pub fn recover(&mut self) -> Result<(), Silence> {
        self.send("stop")?;
        let deadline = Instant::now() + GRACE;
        while !self.next_line(deadline)?.1.starts_with("bestmove") {}
        Ok(())
    }

    /// As [`Process::next_line`], but soon after `stop` is set at the latest.
    fn line_unless(
        &mut self,
        stop: &AtomicBool,
        deadline: Instant,
    ) -> Result<(Instant, String), Silence> {
        loop {
            let look = deadline.min(Instant::now() + LOOK);
            match self.next_line(look) {
                Err(Silence::Late) if stop.load(Ordering::Relaxed) => return Err(Silence::Stopped),
                Err(Silence::Late) if look < deadline => {}
                line => return line,
            }
        }
    }

    fn wait_until_ready(&mut self) -> Result<(), Silence> {
        self.send("isready")?;
        let deadline = Instant::now() + READY;
        while self.next_line(deadline)?.1.trim() != "readyok" {}
        Ok(())
    }

    fn send(&mut self, line: &str) -> Result<(), Silence> {
        writeln!(self.input, "{line}")
            .and_then(|()| self.input.flush())
            .map_err(|_| Silence::Crashed)
    }

    fn next_line(&mut self, deadline: Instant) -> Result<(Instant, String), Silence> {
        let wait = deadline.saturating_duration_since(Instant::now());
        self.lines.recv_timeout(wait).map_err(|error| match error {
            RecvTimeoutError::Timeout => Silence::Late,
            RecvTimeoutError::Disconnected => Silence::Crashed,
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let deadline = Instant::now() + GRACE;
        let asked = self.send("quit").is_ok();
        while asked && Instant::now() < deadline {
            if let Ok(Some(_)) = self.child.try_wait() {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        // Errors mean that it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
