//! An engine at the board: a child process that speaks UCI.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use thiserror::Error;

use super::super::error::FileError;
use super::spec::EngineSpec;

/// How long an engine may take to get ready.
const READY: Duration = Duration::from_secs(20);
/// How long an engine that was too slow may take to come to its senses.
const GRACE: Duration = Duration::from_secs(2);

/// Why an engine gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Silence {
    /// Its output ended.
    #[error("it ended")]
    Crashed,
    /// It still runs, but the time is up.
    #[error("it does not answer")]
    Late,
}

/// A running engine; dropping it ends the process.
pub struct Player {
    child: Child,
    input: ChildStdin,
    lines: Receiver<(Instant, String)>,
    knows_chess960: bool,
}

impl Player {
    /// Starts an engine and sets its options.
    ///
    /// # Errors
    /// [`FileError`] where the program cannot be started, [`Silence`] where
    /// it does not speak UCI.
    pub fn start(spec: &EngineSpec) -> Result<Player> {
        let mut child = Command::new(&spec.program)
            .args(&spec.arguments)
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
        let mut player = Player {
            child,
            input,
            lines,
            knows_chess960: false,
        };
        player
            .shake_hands(spec)
            .with_context(|| format!("engine {:?}", spec.program))?;
        Ok(player)
    }

    fn shake_hands(&mut self, spec: &EngineSpec) -> Result<(), Silence> {
        self.send("uci")?;
        let deadline = Instant::now() + READY;
        loop {
            let (_, line) = self.next_line(deadline)?;
            self.knows_chess960 |= line.starts_with("option name UCI_Chess960 ");
            if line.trim() == "uciok" {
                break;
            }
        }
        for (name, value) in &spec.options {
            self.send(&format!("setoption name {name} value {value}"))?;
        }
        self.wait_until_ready()
    }

    /// Prepares for a game.
    pub fn new_game(&mut self, chess960: bool) -> Result<(), Silence> {
        if self.knows_chess960 {
            self.send(&format!("setoption name UCI_Chess960 value {chess960}"))?;
        }
        self.send("ucinewgame")?;
        self.wait_until_ready()
    }

    /// Asks for a move; returns its text and the time it took.
    ///
    /// # Errors
    /// [`Silence`] where no answer came within `patience`.
    pub fn best_move(
        &mut self,
        position: &str,
        go: &str,
        patience: Duration,
    ) -> Result<(String, Duration), Silence> {
        self.send(position)?;
        let start = Instant::now();
        self.send(go)?;
        loop {
            let (arrived, line) = self.next_line(start + patience)?;
            let mut words = line.split_ascii_whitespace();
            if words.next() == Some("bestmove") {
                let mv = words.next().unwrap_or_default().to_string();
                return Ok((mv, arrived.saturating_duration_since(start)));
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

impl Drop for Player {
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
