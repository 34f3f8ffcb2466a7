//! A UCI engine process: startup handshake, positions, searches, shutdown.

use std::collections::VecDeque;
use std::fmt;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{EngineError, StartError};
use crate::info::{Event, Info, Parser};
use crate::options::EngineOption;
use crate::process::{Process, read_line};

/// Longest wait for `uciok`. An interpreter may have to start first.
const UCI: Duration = Duration::from_secs(10);
/// Longest wait for `readyok`: the engine may load a large network.
const READY: Duration = Duration::from_secs(60);
/// Wait after which the caller receives [`Notice::Waiting`].
const NOTICE: Duration = Duration::from_secs(1);
/// Time an engine has to exit after `quit`.
const QUIT: Duration = Duration::from_secs(2);
/// Interval at which a wait checks the `stop` flag.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Capacity of the event queue; a full queue blocks the reader thread, and so the engine.
const EVENTS: usize = 256;
/// Most events processed in a handshake; no engine sends as many.
const INTRODUCTION: usize = 2_000;

/// Program, arguments and options of an engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setup {
    /// Program: a path, or a name searched in `PATH`.
    pub program: PathBuf,
    /// Arguments of the program.
    pub arguments: Vec<String>,
    /// Options to set, in order; those that the engine lacks are skipped.
    pub defaults: Vec<(String, String)>,
    /// Options to set after the defaults, in order. The engine must have them.
    pub options: Vec<(String, String)>,
}

/// Message to the user while an engine starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The engine has not answered yet.
    Waiting {
        /// Program as named in the [`Setup`].
        program: PathBuf,
        /// Expected answer.
        expected: &'static str,
        /// Longest further wait in seconds.
        seconds: u64,
    },
    /// An `info string` from the engine, such as a complaint about an option.
    Said {
        /// Name of the engine.
        engine: String,
        /// Text of the message.
        text: String,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::Waiting {
                program,
                expected,
                seconds,
            } => write!(
                f,
                "waiting for `{expected}` from {program:?}, for {seconds} s at most"
            ),
            Notice::Said { engine, text } => write!(f, "{engine}: info string {text}"),
        }
    }
}

/// Result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Best move as the engine writes it, not checked for legality; empty if it gave none.
    pub best: String,
    /// Time from sending `go` to receiving `bestmove`.
    pub time: Duration,
    /// Score, depth and nodes of the search.
    pub info: Info,
}

/// A running engine. Dropping it ends the process and its children: an engine that has not failed
/// is sent `quit` and has two seconds to exit.
pub struct EngineProcess {
    // Drop order matters: stdin closes, the process is awaited, and only then is its stdout closed,
    // which would kill an engine that still writes.
    commands: Sender<String>,
    process: Process,
    events: Receiver<(Instant, Event)>,
    /// Event that arrived too late for the previous wait, kept for the next one.
    late: Option<(Instant, Event)>,
    name: String,
    options: Vec<EngineOption>,
    /// Start times of the unanswered searches.
    asked: VecDeque<Instant>,
    /// The `isready` before these searches is unanswered.
    awaits_ready: bool,
}

impl EngineProcess {
    /// Starts an engine and sets its options. Messages meanwhile go to `notice`. Setting `stop`
    /// cancels the wait.
    ///
    /// # Errors
    /// [`StartError`]; the process has then been ended.
    pub fn start(
        setup: &Setup,
        stop: &AtomicBool,
        notice: &mut dyn FnMut(Notice),
    ) -> Result<EngineProcess, StartError> {
        let failed = |source| StartError::Program {
            program: setup.program.clone(),
            source,
        };
        let started = Process::start(setup.program.as_os_str(), &setup.arguments);
        let (process, input, output) = started.map_err(failed)?;
        let (commands, to_write) = channel();
        let (said, events) = sync_channel(EVENTS);
        // A hung engine may neither read nor write, so both directions have threads, which end with
        // the process.
        let writer = thread::Builder::new().spawn(move || write(input, &to_write));
        writer.map_err(failed)?;
        let listener = thread::Builder::new().spawn(move || listen(output, &said));
        listener.map_err(failed)?;
        let name = setup.program.file_name().unwrap_or_default();
        let mut engine = EngineProcess {
            commands,
            process,
            events,
            late: None,
            name: name.to_string_lossy().into_owned(),
            options: Vec::new(),
            asked: VecDeque::new(),
            awaits_ready: false,
        };
        engine.shake_hands(setup, stop, notice)?;
        engine.process.grace = QUIT;
        Ok(engine)
    }

    fn shake_hands(
        &mut self,
        setup: &Setup,
        stop: &AtomicBool,
        notice: &mut dyn FnMut(Notice),
    ) -> Result<(), StartError> {
        let program = || setup.program.clone();
        self.send("uci");
        let mut handshake = Handshake {
            program: &setup.program,
            expected: "uciok",
            patience: UCI,
            stop,
            notice,
        };
        self.wait_for(&mut handshake, Event::UciOk)
            .map_err(|failure| match failure {
                EngineError::Cancelled => StartError::Cancelled,
                failure => StartError::NotUci {
                    program: program(),
                    failure,
                    seconds: UCI.as_secs(),
                },
            })?;
        for (name, value) in &setup.defaults {
            if self.has_option(name) {
                self.set_option(name, value)?;
            }
        }
        for (name, value) in &setup.options {
            self.set_option(name, value)?;
        }
        self.send("isready");
        (handshake.expected, handshake.patience) = ("readyok", READY);
        self.wait_for(&mut handshake, Event::ReadyOk)
            .map_err(|failure| match failure {
                EngineError::Cancelled => StartError::Cancelled,
                failure => StartError::NotReady {
                    program: program(),
                    failure,
                    seconds: READY.as_secs(),
                },
            })
    }

    /// Processes names, options and messages up to the event `last`.
    fn wait_for(&mut self, handshake: &mut Handshake, last: Event) -> Result<(), EngineError> {
        let begun = Instant::now();
        let (mut noticed, mut events) = (false, 0);
        loop {
            let patience = if noticed { handshake.patience } else { NOTICE };
            events += 1;
            match self.next(begun, patience, handshake.stop) {
                Ok((_, event)) if event == last => return Ok(()),
                Ok(_) if events > INTRODUCTION => {}
                Ok((_, Event::Name(name))) => self.name = name,
                Ok((_, Event::Option(option))) => self.options.push(option),
                Ok((_, Event::Said(text))) => (handshake.notice)(Notice::Said {
                    engine: self.name.clone(),
                    text,
                }),
                Ok(_) => {}
                Err(EngineError::TimedOut) if !noticed => {
                    noticed = true;
                    (handshake.notice)(Notice::Waiting {
                        program: handshake.program.into(),
                        expected: handshake.expected,
                        seconds: (handshake.patience - NOTICE).as_secs(),
                    });
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Returns the name that the engine gives, or the file name of the program.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the options that the engine declares.
    pub(crate) fn options(&self) -> &[EngineOption] {
        &self.options
    }

    /// Returns whether the engine has the option. Names are case-insensitive in UCI.
    pub fn has_option(&self, name: &str) -> bool {
        self.options.iter().any(|option| option.is(name))
    }

    /// Returns whether the engine supports Chess960.
    pub fn plays_chess960(&self) -> bool {
        self.has_option("UCI_Chess960")
    }

    /// Sets an option.
    ///
    /// # Errors
    /// [`StartError::NoSuchOption`], [`StartError::BadValue`].
    pub fn set_option(&mut self, name: &str, value: &str) -> Result<(), StartError> {
        let option = self.options.iter().find(|option| option.is(name));
        let Some(option) = option else {
            let known: Vec<&str> = self.options.iter().map(|option| &*option.name).collect();
            return Err(StartError::NoSuchOption {
                engine: self.name.clone(),
                option: name.to_string(),
                known: match known.len() {
                    0 => "none".to_string(),
                    _ => known.join(", "),
                },
            });
        };
        let command = option.set(value).map_err(|wanted| StartError::BadValue {
            engine: self.name.clone(),
            option: name.to_string(),
            value: value.to_string(),
            wanted,
        })?;
        self.send(&command);
        Ok(())
    }

    /// Starts another game: sends `ucinewgame`, and `UCI_Chess960` if supported.
    pub fn new_game(&mut self, chess960: bool) {
        if self.plays_chess960() {
            self.send(&format!("setoption name UCI_Chess960 value {chess960}"));
        }
        self.send("ucinewgame");
    }

    /// Waits until the engine has processed all commands. Discards earlier output.
    ///
    /// # Errors
    /// Any [`EngineError`], after which the engine is unusable.
    pub fn ready(&mut self, stop: &AtomicBool) -> Result<(), EngineError> {
        self.send("isready");
        self.wait_until_ready(Instant::now(), READY, stop)
    }

    /// Sends a `position` command and waits until it is processed.
    ///
    /// # Errors
    /// As [`EngineProcess::ready`].
    pub fn position(&mut self, position: &str, stop: &AtomicBool) -> Result<(), EngineError> {
        self.send(position);
        self.ready(stop)
    }

    /// Sends a `go` command for the current position and waits for the result.
    ///
    /// # Errors
    /// As [`EngineProcess::ready`]; an engine that timed out may still respond to
    /// [`EngineProcess::stop`].
    pub fn go(
        &mut self,
        go: &str,
        patience: Duration,
        stop: &AtomicBool,
    ) -> Result<Answer, EngineError> {
        self.asked.push_back(Instant::now());
        self.send(go);
        self.answer(patience, stop)
    }

    /// Sends a search without waiting; [`EngineProcess::answer`] returns its result. UCI does not
    /// allow a second search before the first has ended, but some engines queue it.
    pub fn ask(&mut self, position: &str, go: &str) {
        let first = self.asked.is_empty();
        // Output before `readyok` belongs to earlier searches.
        let ready = if first { "isready\n" } else { "" };
        self.awaits_ready |= first;
        self.asked.push_back(Instant::now());
        self.send(&format!("{ready}{position}\n{go}"));
    }

    /// Waits for the result of the oldest unanswered search.
    ///
    /// # Errors
    /// As [`EngineProcess::go`].
    pub fn answer(&mut self, patience: Duration, stop: &AtomicBool) -> Result<Answer, EngineError> {
        let begun = Instant::now();
        if self.awaits_ready {
            self.wait_until_ready(begun, patience, stop)?;
            self.awaits_ready = false;
        }
        loop {
            let (arrived, event) = self.next(begun, patience, stop)?;
            if let Event::BestMove { best, info } = event {
                let asked = self.asked.pop_front().unwrap_or(begun);
                return Ok(Answer {
                    best,
                    time: arrived.saturating_duration_since(asked),
                    info,
                });
            }
        }
    }

    /// Stops all unanswered searches and waits for their end.
    ///
    /// # Errors
    /// As [`EngineProcess::ready`].
    pub fn stop(&mut self, patience: Duration, stop: &AtomicBool) -> Result<(), EngineError> {
        if self.asked.is_empty() {
            return Ok(());
        }
        self.send("stop");
        let begun = Instant::now();
        while !self.asked.is_empty() {
            self.answer(patience.saturating_sub(begun.elapsed()), stop)?;
        }
        self.process.grace = QUIT;
        Ok(())
    }

    fn wait_until_ready(
        &mut self,
        begun: Instant,
        patience: Duration,
        stop: &AtomicBool,
    ) -> Result<(), EngineError> {
        while self.next(begun, patience, stop)?.1 != Event::ReadyOk {}
        Ok(())
    }

    /// Returns the next event and its arrival time, within `patience` from `begun`. An engine that
    /// ended or timed out is not asked to quit later.
    fn next(
        &mut self,
        begun: Instant,
        patience: Duration,
        stop: &AtomicBool,
    ) -> Result<(Instant, Event), EngineError> {
        let event = self.wait(begun, patience, stop);
        if let Err(EngineError::Ended | EngineError::TimedOut) = event {
            self.process.grace = Duration::ZERO;
        }
        event
    }

    fn wait(
        &mut self,
        begun: Instant,
        patience: Duration,
        stop: &AtomicBool,
    ) -> Result<(Instant, Event), EngineError> {
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(EngineError::Cancelled);
            }
            let left = patience.saturating_sub(begun.elapsed());
            let next = match self.late.take() {
                Some(event) => Ok(event),
                None => self.events.recv_timeout(left.min(POLL_INTERVAL)),
            };
            match next {
                // Judged by arrival time: an engine that floods its output must time out, and one
                // that answered in time must not lose because this process was delayed.
                Ok(event) if event.0.saturating_duration_since(begun) > patience => {
                    self.late = Some(event);
                    return Err(EngineError::TimedOut);
                }
                Ok(event) => return Ok(event),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                    return Err(EngineError::TimedOut);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(EngineError::Ended),
            }
        }
    }

    fn send(&mut self, line: &str) {
        // A process that has ended is noticed when reading its output.
        let _ = self.commands.send(format!("{line}\n"));
    }
}

impl Drop for EngineProcess {
    fn drop(&mut self) {
        if !self.asked.is_empty() {
            self.send("stop");
        }
        self.send("quit");
    }
}

/// A wait for one answer of the handshake.
struct Handshake<'a> {
    program: &'a Path,
    expected: &'static str,
    patience: Duration,
    stop: &'a AtomicBool,
    notice: &'a mut dyn FnMut(Notice),
}

fn write(mut input: ChildStdin, commands: &Receiver<String>) {
    for command in commands {
        if input.write_all(command.as_bytes()).is_err() {
            return;
        }
    }
}

fn listen(output: ChildStdout, events: &SyncSender<(Instant, Event)>) {
    let mut output = BufReader::new(output);
    let (mut line, mut parser) = (Vec::new(), Parser::default());
    while let Ok(true) = read_line(&mut output, &mut line) {
        let arrived = Instant::now();
        if let Some(event) = parser.read(&String::from_utf8_lossy(&line))
            && events.send((arrived, event)).is_err()
        {
            return;
        }
    }
}
