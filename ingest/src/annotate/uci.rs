//! One engine process, over UCI.
//!
//! A process whose answer is late, wrong or missing is killed and never asked
//! again, so nothing that it may still say can be taken for another answer.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::error::Error;

/// A start may include the loading of a large network.
const START_SECONDS: u64 = 60;

/// A longer line is no UCI, and is read in pieces.
const LINE_BYTES: u64 = 1 << 16;

/// What is kept of what an engine says while nobody listens; then it waits.
const EVENTS: usize = 256;

/// How an engine is started.
pub struct Setup {
    /// The program and its arguments.
    pub command: String,
    /// Options to set, in order.
    pub options: Vec<(String, String)>,
}

/// A running engine.
pub struct Engine {
    child: Child,
    commands: Sender<String>,
    events: Receiver<Event>,
    name: String,
    options: Vec<String>,
    /// Searches that were asked for and are not answered yet.
    asked: usize,
    /// Whether the `isready` before them is still to be answered.
    awaits_ready: bool,
}

/// Why a search gave nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The process ended.
    Crash,
    /// There was no answer in time.
    Timeout,
    /// The answer is none that UCI allows here.
    BadAnswer,
}

/// The score of a search, from the side to move's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// Centipawns.
    Centipawns(i32),
    /// Moves to mate, negative if the side to move is mated.
    Mate(i32),
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The last exact score, or if there is none the last bound.
    pub score: Score,
    /// The depth of that score, in plies.
    pub depth: u8,
    /// The best move, in UCI notation.
    pub best: String,
}

/// What the engine said, as far as it matters.
#[derive(Debug, PartialEq, Eq)]
enum Event {
    Name(String),
    Option(String),
    UciOk,
    ReadyOk,
    BestMove(Option<Answer>),
}

impl Engine {
    /// Starts the engine and sets its options. One thread, unless an option
    /// says otherwise.
    ///
    /// # Errors
    /// [`Error::NoEngine`], [`Error::NotUci`], [`Error::NoSuchOption`].
    pub fn start(setup: &Setup) -> Result<Engine, Error> {
        let mut child = command(&setup.command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| Error::NoEngine {
                command: setup.command.clone(),
                error,
            })?;
        let (commands, to_write) = channel();
        let (said, events) = sync_channel(EVENTS);
        // An engine that hangs may neither read nor write: both have threads
        // of their own, which end with the process.
        if let Some(stdin) = child.stdin.take() {
            thread::spawn(move || write(stdin, &to_write));
        }
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || listen(stdout, &said));
        }
        let mut engine = Engine {
            child,
            commands,
            events,
            name: setup.command.clone(),
            options: Vec::new(),
            asked: 0,
            awaits_ready: false,
        };
        engine.shake_hands(setup)?;
        Ok(engine)
    }

    fn shake_hands(&mut self, setup: &Setup) -> Result<(), Error> {
        let not_uci = |expected| Error::NotUci {
            command: setup.command.clone(),
            expected,
            seconds: START_SECONDS,
        };
        let deadline = Instant::now() + Duration::from_secs(START_SECONDS);
        self.send("uci");
        loop {
            match self.next(deadline).map_err(|_| not_uci("uciok"))? {
                Event::Name(name) => self.name = name,
                Event::Option(name) => self.options.push(name),
                Event::UciOk => break,
                _ => {}
            }
        }
        if self.has_option("Threads") {
            self.set_option("Threads", "1");
        }
        for (name, value) in &setup.options {
            if !self.has_option(name) {
                return Err(Error::NoSuchOption {
                    engine: self.name.clone(),
                    option: name.clone(),
                    known: self.options.join(", "),
                });
            }
            self.set_option(name, value);
        }
        self.send("isready");
        self.ready(deadline).map_err(|_| not_uci("readyok"))
    }

    /// What the engine calls itself.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the engine has the option. Names have no case in UCI.
    pub fn has_option(&self, name: &str) -> bool {
        self.options.iter().any(|o| o.eq_ignore_ascii_case(name))
    }

    fn set_option(&mut self, name: &str, value: &str) {
        self.send(&format!("setoption name {name} value {value}"));
    }

    /// Says that what follows belongs to another game: the engine forgets what
    /// it knew.
    pub fn new_game(&mut self, chess960: bool) {
        if self.has_option("UCI_Chess960") {
            self.set_option("UCI_Chess960", if chess960 { "true" } else { "false" });
        }
        self.send("ucinewgame");
    }

    /// Asks for the search of a position; [`Engine::answer`] gives what it finds.
    /// UCI knows no second search before the first has ended, but some engines
    /// keep it for then.
    pub fn ask(&mut self, position: &str, go: &str) {
        let first = self.asked == 0;
        // Whatever comes before `readyok` belongs to what was asked before.
        let ready = if first { "isready\n" } else { "" };
        self.awaits_ready |= first;
        self.asked += 1;
        self.send(&format!("{ready}{position}\n{go}"));
    }

    /// Waits for the end of the first search that is not answered yet.
    ///
    /// # Errors
    /// After any [`Failure`] the engine is of no more use.
    pub fn answer(&mut self, timeout: Duration) -> Result<Answer, Failure> {
        let deadline = Instant::now() + timeout;
        if self.awaits_ready {
            self.ready(deadline)?;
            self.awaits_ready = false;
        }
        loop {
            match self.next(deadline)? {
                Event::BestMove(answer) => {
                    self.asked -= 1;
                    return answer.ok_or(Failure::BadAnswer);
                }
                Event::ReadyOk => return Err(Failure::BadAnswer),
                _ => {}
            }
        }
    }

    fn ready(&mut self, deadline: Instant) -> Result<(), Failure> {
        while self.next(deadline)? != Event::ReadyOk {}
        Ok(())
    }

    fn next(&mut self, deadline: Instant) -> Result<Event, Failure> {
        let left = deadline.saturating_duration_since(Instant::now());
        self.events.recv_timeout(left).map_err(|error| match error {
            RecvTimeoutError::Timeout => Failure::Timeout,
            RecvTimeoutError::Disconnected => Failure::Crash,
        })
    }

    fn send(&mut self, line: &str) {
        // A process that has ended shows in what is read from it.
        let _ = self.commands.send(format!("{line}\n"));
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The command of a line: a program, then its arguments; or the path of a
/// program with blanks in it.
fn command(line: &str) -> Command {
    if Path::new(line).is_file() {
        return Command::new(line);
    }
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    command
}

fn write(mut stdin: ChildStdin, commands: &Receiver<String>) {
    for command in commands {
        if stdin.write_all(command.as_bytes()).is_err() {
            return;
        }
    }
}

fn listen(stdout: ChildStdout, events: &SyncSender<Event>) {
    let mut reader = BufReader::new(stdout);
    let (mut line, mut parser) = (Vec::new(), Parser::default());
    loop {
        line.clear();
        let mut limited = reader.by_ref().take(LINE_BYTES);
        match limited.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if let Some(event) = parser.read(&String::from_utf8_lossy(&line))
            && events.send(event).is_err()
        {
            return;
        }
    }
}

/// Reads what the engine says, line by line.
#[derive(Default)]
struct Parser {
    info: Option<Info>,
}

/// What an `info` line says of the best variation.
#[derive(Clone, Copy)]
struct Info {
    score: Score,
    depth: u8,
    bound: bool,
}

impl Parser {
    fn read(&mut self, line: &str) -> Option<Event> {
        let line = line.trim();
        let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
        match command {
            "id" => rest
                .strip_prefix("name ")
                .map(|name| Event::Name(name.trim().to_string())),
            "option" => {
                let name = rest.strip_prefix("name ")?;
                let (name, _) = name.split_once(" type ")?;
                Some(Event::Option(name.to_string()))
            }
            "uciok" => Some(Event::UciOk),
            "readyok" => {
                self.info = None;
                Some(Event::ReadyOk)
            }
            "info" => {
                if let Some(info) = read_info(rest)
                    && (!info.bound || self.info.is_none_or(|known| known.bound))
                {
                    self.info = Some(info);
                }
                None
            }
            "bestmove" => {
                let best = rest.split_whitespace().next().unwrap_or_default();
                Some(Event::BestMove(self.info.take().map(|info| Answer {
                    score: info.score,
                    depth: info.depth,
                    best: best.to_string(),
                })))
            }
            _ => None,
        }
    }
}

/// Reads an `info` line's score; `None` if it has none, or tells of another
/// than the best variation.
fn read_info(text: &str) -> Option<Info> {
    let (mut score, mut depth, mut bound) = (None, 0, false);
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        match word {
            // What follows is moves, or text.
            "pv" | "string" => break,
            "depth" => depth = words.next()?.parse::<u32>().ok()?.min(255) as u8,
            "multipv" if words.next()? != "1" => return None,
            "score" => {
                let (unit, value) = (words.next()?, words.next()?.parse().ok()?);
                score = Some(match unit {
                    "cp" => Score::Centipawns(value),
                    "mate" => Score::Mate(value),
                    _ => return None,
                });
            }
            "lowerbound" | "upperbound" => bound = true,
            _ => {}
        }
    }
    score.map(|score| Info {
        score,
        depth,
        bound,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(text: &str) -> Vec<Event> {
        let mut parser = Parser::default();
        text.lines().filter_map(|line| parser.read(line)).collect()
    }

    fn answer(score: Score, depth: u8, best: &str) -> Event {
        Event::BestMove(Some(Answer {
            score,
            depth,
            best: best.to_string(),
        }))
    }

    #[test]
    fn reads_a_handshake() {
        assert_eq!(
            events(
                "Stockfish 15.1 by the Stockfish developers\nid name Stockfish 15.1\nid author x\n\
                 option name Clear Hash type button\r\noption name Hash type spin default 16\nuciok"
            ),
            [
                Event::Name("Stockfish 15.1".to_string()),
                Event::Option("Clear Hash".to_string()),
                Event::Option("Hash".to_string()),
                Event::UciOk,
            ]
        );
    }

    #[test]
    fn the_last_exact_score_of_the_best_variation_counts() {
        assert_eq!(
            events(
                "info depth 9 seldepth 12 multipv 1 score cp 21 nodes 5 pv e2e4\n\
                 info depth 10 multipv 1 score cp -7 wdl 1 2 3 nodes 9 pv d2d4 score cp 1\n\
                 info depth 11 multipv 1 score cp 40 lowerbound nodes 12 pv e2e4\n\
                 info depth 11 multipv 2 score cp 900 pv a2a3\n\
                 info depth 12 currmove e2e4\ninfo string depth 5 score cp 77\nnoise\n\
                 bestmove d2d4 ponder d7d5"
            ),
            [answer(Score::Centipawns(-7), 10, "d2d4")]
        );
        assert_eq!(
            events("info depth 3 score mate -2 upperbound\nbestmove a1a2"),
            [answer(Score::Mate(-2), 3, "a1a2")]
        );
    }

    #[test]
    fn nothing_said_before_readyok_counts() {
        assert_eq!(
            events("info depth 9 score cp 21\nreadyok\nbestmove e2e4"),
            [Event::ReadyOk, Event::BestMove(None)]
        );
    }
}
