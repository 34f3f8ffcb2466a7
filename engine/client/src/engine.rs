//! One engine process and the conversation with it.

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

/// How long a program may take to say that it speaks UCI. An interpreter has
/// to start first.
const UCI: Duration = Duration::from_secs(10);
/// How long an engine may take to get ready: it may load a large network.
const READY: Duration = Duration::from_secs(60);
/// After so long a wait the caller is told what is waited for.
const NOTICE: Duration = Duration::from_secs(1);
/// How long an engine may take to end by itself.
const QUIT: Duration = Duration::from_secs(2);
/// How often to look whether anybody still waits.
const LOOK: Duration = Duration::from_millis(50);
/// What is kept of what an engine says while nobody listens; then it waits.
const EVENTS: usize = 256;
/// What is taken in of what an engine says of itself; no engine says so much.
const INTRODUCTION: usize = 2_000;

/// How an engine is started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setup {
    /// The program: a path, or a name that is looked for in `PATH`.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Options to set, in order, where the engine has them.
    pub defaults: Vec<(String, String)>,
    /// Options to set after those, in order. The engine must have them.
    pub options: Vec<(String, String)>,
}

/// What the caller may want to know while an engine starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The engine takes its time.
    Waiting {
        /// The program as it was named.
        program: PathBuf,
        /// The answer that has not come.
        expected: &'static str,
        /// How long is waited at most from now on.
        seconds: u64,
    },
    /// The engine says something to people, such as that it does not like an
    /// option's value.
    Said {
        /// What the engine calls itself.
        engine: String,
        /// Its words.
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

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The best move as the engine writes it, legal or not; nothing, if it
    /// named none.
    pub best: String,
    /// From the question to the answer.
    pub time: Duration,
    /// What the engine said of the move.
    pub info: Info,
}

/// A running engine. Dropping it ends the process with all that it started: an
/// engine that has not failed is asked to `quit`, and has two seconds for it.
pub struct Engine {
    // In this order they are dropped: the engine's input ends, the engine is
    // waited for, and only then is its output closed, which would kill one that
    // still writes.
    commands: Sender<String>,
    process: Process,
    events: Receiver<(Instant, Event)>,
    /// What came too late for the wait before, and is for the next one.
    late: Option<(Instant, Event)>,
    name: String,
    options: Vec<EngineOption>,
    /// When the searches were asked for that are not answered yet.
    asked: VecDeque<Instant>,
    /// Whether the `isready` before them is still to be answered.
    awaits_ready: bool,
}

impl Engine {
    /// Starts an engine and sets its options. What may interest the caller
    /// meanwhile goes to `notice`. Setting `stop` ends the wait.
    ///
    /// # Errors
    /// [`StartError`]; the process has then been ended.
    pub fn start(
        setup: &Setup,
        stop: &AtomicBool,
        notice: &mut dyn FnMut(Notice),
    ) -> Result<Engine, StartError> {
        let failed = |source| StartError::Program {
            program: setup.program.clone(),
            source,
        };
        let started = Process::start(setup.program.as_os_str(), &setup.arguments);
        let (process, input, output) = started.map_err(failed)?;
        let (commands, to_write) = channel();
        let (said, events) = sync_channel(EVENTS);
        // An engine that hangs may neither read nor write: both have threads
        // of their own, which end with the process.
        let writer = thread::Builder::new().spawn(move || write(input, &to_write));
        writer.map_err(failed)?;
        let listener = thread::Builder::new().spawn(move || listen(output, &said));
        listener.map_err(failed)?;
        let name = setup.program.file_name().unwrap_or_default();
        let mut engine = Engine {
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
        let mut hello = Hello {
            program: &setup.program,
            expected: "uciok",
            patience: UCI,
            stop,
            notice,
        };
        self.hear_until(&mut hello, Event::UciOk)
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
        (hello.expected, hello.patience) = ("readyok", READY);
        self.hear_until(&mut hello, Event::ReadyOk)
            .map_err(|failure| match failure {
                EngineError::Cancelled => StartError::Cancelled,
                failure => StartError::NotReady {
                    program: program(),
                    failure,
                    seconds: READY.as_secs(),
                },
            })
    }

    /// Takes in what the engine says of itself, up to `last`.
    fn hear_until(&mut self, hello: &mut Hello, last: Event) -> Result<(), EngineError> {
        let begun = Instant::now();
        let (mut told, mut heard) = (false, 0);
        loop {
            let patience = if told { hello.patience } else { NOTICE };
            heard += 1;
            match self.next(begun, patience, hello.stop) {
                Ok((_, event)) if event == last => return Ok(()),
                Ok(_) if heard > INTRODUCTION => {}
                Ok((_, Event::Name(name))) => self.name = name,
                Ok((_, Event::Option(option))) => self.options.push(option),
                Ok((_, Event::Said(text))) => (hello.notice)(Notice::Said {
                    engine: self.name.clone(),
                    text,
                }),
                Ok(_) => {}
                Err(EngineError::TimedOut) if !told => {
                    told = true;
                    (hello.notice)(Notice::Waiting {
                        program: hello.program.into(),
                        expected: hello.expected,
                        seconds: (hello.patience - NOTICE).as_secs(),
                    });
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    /// What the engine calls itself; the program's name if it does not say.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The options that the engine declares.
    pub(crate) fn options(&self) -> &[EngineOption] {
        &self.options
    }

    /// Whether the engine has the option. Names have no case in UCI.
    pub fn has_option(&self, name: &str) -> bool {
        self.options.iter().any(|option| option.is(name))
    }

    /// Whether the engine plays Chess960.
    pub fn plays_chess960(&self) -> bool {
        self.has_option("UCI_Chess960")
    }

    /// Sets an option that the engine must have.
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

    /// Says that what follows belongs to another game: the engine forgets what
    /// it knew.
    pub fn new_game(&mut self, chess960: bool) {
        if self.plays_chess960() {
            self.send(&format!("setoption name UCI_Chess960 value {chess960}"));
        }
        self.send("ucinewgame");
    }

    /// Waits until the engine has done what it was told. What it said before
    /// is forgotten.
    ///
    /// # Errors
    /// Any [`EngineError`]. After one the engine is of no more use.
    pub fn ready(&mut self, stop: &AtomicBool) -> Result<(), EngineError> {
        self.send("isready");
        self.wait_until_ready(Instant::now(), READY, stop)
    }

    /// Tells the engine of a position, and waits until it knows it.
    ///
    /// # Errors
    /// As [`Engine::ready`].
    pub fn position(&mut self, position: &str, stop: &AtomicBool) -> Result<(), EngineError> {
        self.send(position);
        self.ready(stop)
    }

    /// Has the engine search the position that it knows.
    ///
    /// # Errors
    /// As [`Engine::ready`]; but an engine that does not answer in time may
    /// yet be brought to by [`Engine::stop`].
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

    /// Asks for the search of a position without waiting; [`Engine::answer`]
    /// gives what it finds. UCI knows no second search before the first has
    /// ended, but some engines keep it for then.
    pub fn ask(&mut self, position: &str, go: &str) {
        let first = self.asked.is_empty();
        // Whatever comes before `readyok` belongs to what was asked before.
        let ready = if first { "isready\n" } else { "" };
        self.awaits_ready |= first;
        self.asked.push_back(Instant::now());
        self.send(&format!("{ready}{position}\n{go}"));
    }

    /// Waits for the end of the first search that is not answered yet.
    ///
    /// # Errors
    /// As [`Engine::go`].
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

    /// Calls off the searches that are not answered, and waits for their end.
    ///
    /// # Errors
    /// As [`Engine::ready`].
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

    /// What the engine says next, and when it said it, within `patience` from
    /// when the wait began. One that fails is not asked to quit.
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
                None => self.events.recv_timeout(left.min(LOOK)),
            };
            match next {
                // An engine that never falls silent has to end too, and one that was
                // in time is not to lose because we were held up.
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
        // A process that has ended shows in what is read from it.
        let _ = self.commands.send(format!("{line}\n"));
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if !self.asked.is_empty() {
            self.send("stop");
        }
        self.send("quit");
    }
}

/// The wait for one answer of the handshake.
struct Hello<'a> {
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
