//! The thread that owns the engine and runs the jobs of a session.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};
use std::{env, thread};

use anyhow::{Result, bail};
use cozy_chess::{Board, Move};
use engine::uci::{
    self, DEFAULT_OVERHEAD, GenFens, Go, SearchKind, SetOption, Style, best_move_line, ended_line,
    info_line, visits_line,
};
use engine::{
    Engine, Evaluator, Handicap, Level, MAX_ELO, People, Position, Report, Signals, Strength,
    Syzygy, Tablebase, flipped, position_key, write_fen,
};
use fastrand::Rng;
use models::{Network, QuantisedNetwork};

use super::super::book::Book;
use super::super::diagram::{DiagramStyle, diagram};
use super::super::{bench, eval, files, memory, perft};
use super::control::Control;
use super::openings;
use super::output::{inform, say};

/// Maximum number of refused tablebase files reported by name.
const MAX_REPORTED_FILES: usize = 8;

/// Maximum number of moves reported with their visits.
const MAX_REPORTED_MOVES: usize = 10;

/// A job from the session.
pub enum Job {
    /// `isready`
    Ready,
    /// `ucinewgame`
    NewGame,
    /// `setoption`
    Set(SetOption),
    /// `position`; `None` if unplayable
    Position(Option<Box<Position>>),
    /// `genfens`
    Openings {
        /// Parameters.
        asked: GenFens,
        /// Stop flag and state.
        control: Arc<Control>,
    },
    /// `d`
    Display,
    /// `eval`
    Eval,
    /// `flip`
    Flip,
    /// `bench`
    Bench {
        /// Depth in plies.
        plies: u64,
        /// Stop flag and state.
        control: Arc<Control>,
    },
    /// `go perft`
    Perft {
        /// Depth in plies.
        plies: u32,
        /// Stop flag and state.
        control: Arc<Control>,
    },
    /// `go`
    Search {
        /// Parameters.
        go: Go,
        /// Stop flag and state.
        control: Arc<Control>,
        /// Time of the command.
        asked: Instant,
    },
}

/// The engine and its options; state of the thread.
pub struct EngineThread {
    engine: Engine,
    /// The network in use, in floats and quantised; kept under `Evaluation material`.
    networks: (Network, QuantisedNetwork),
    /// Current position; `None` after an unplayable `position`.
    position: Option<Position>,
    threads: usize,
    style: uci::AnswerStyle,
    overhead: Duration,
    lines: usize,
    level: Option<Level>,
    limit_strength: bool,
    elo: u32,
    people: Option<People>,
    playing_style: Style,
    search_kind: SearchKind,
    own_book: bool,
    book: Option<Book>,
    tables: TableOptions,
    random: Rng,
    /// End of the last search.
    idle_since: Instant,
    /// Number of queued `setoption` and `ucinewgame` jobs.
    unsettled: Arc<AtomicUsize>,
}

impl EngineThread {
    /// Returns an engine with default options. `unsettled` is decremented after each `setoption`
    /// and `ucinewgame`.
    pub fn new(unsettled: Arc<AtomicUsize>) -> Result<EngineThread> {
        let networks = files::embedded_networks()?;
        Ok(EngineThread {
            engine: Engine::new(Evaluator::new(networks.1.clone())),
            networks,
            position: Some(Position::startpos()),
            threads: 1,
            style: uci::AnswerStyle::default(),
            overhead: DEFAULT_OVERHEAD,
            lines: 1,
            level: None,
            limit_strength: false,
            elo: MAX_ELO,
            people: None,
            playing_style: Style::default(),
            search_kind: SearchKind::default(),
            own_book: false,
            book: None,
            tables: TableOptions::default(),
            random: Rng::new(),
            idle_since: Instant::now(),
            unsettled,
        })
    }

    /// Runs jobs until the queue is closed. A closed stdout is ignored.
    pub fn run(mut self, jobs: Receiver<Job>) {
        for job in jobs {
            match job {
                Job::Ready => {
                    let _ = say("readyok");
                }
                Job::NewGame => {
                    self.engine.clear();
                    self.settled();
                }
                Job::Position(position) => self.position = position.map(|position| *position),
                Job::Set(option) => {
                    if let Err(error) = self.set(option) {
                        inform(&format!("{error:#}; nothing changed"));
                    }
                    self.settled();
                }
                Job::Openings { asked, control } => {
                    self.generate(&asked, &control.stop);
                    self.is_done(&control);
                }
                Job::Display => {
                    if let Some(position) = self.position() {
                        let _ = say(&display(position.board()));
                    }
                }
                Job::Eval => {
                    if let Some(position) = self.position() {
                        let board = position.board();
                        let (float, quantised) = &self.networks;
                        let values = eval::evaluate(float, quantised.clone(), board);
                        let _ = say(&values.text(board));
                    }
                }
                Job::Flip => {
                    let flipped = self.position().map(|position| flipped(position.board()));
                    self.position = flipped.map(Position::of);
                }
                Job::Bench { plies, control } => {
                    let evaluator = Evaluator::new(self.networks.1.clone());
                    bench::search(evaluator, plies, &control.stop, |line| {
                        let _ = say(line);
                    });
                    self.is_done(&control);
                }
                Job::Perft { plies, control } => {
                    if let Some(position) = self.position() {
                        let stop = &control.stop;
                        perft::count(position.board(), plies, stop, |line| say(line).is_ok());
                    }
                    self.is_done(&control);
                }
                Job::Search { go, control, asked } => {
                    let best = self.search(&go, &control, asked);
                    // Before the answer, so that a GUI that has read it finds the engine idle.
                    control.done.store(true, Ordering::Relaxed);
                    let _ = say(&best);
                    self.idle_since = Instant::now();
                }
            }
        }
    }

    /// Prints the openings of `genfens`, until `stop` is set.
    fn generate(&mut self, asked: &GenFens, stop: &AtomicBool) {
        let generated = openings::generate(&mut self.engine, asked, stop, |opening| {
            say(&format!("info string genfens {}", write_fen(opening))).is_ok()
        });
        if let Err(error) = generated {
            inform(&format!("{error:#}"));
        }
    }

    /// Marks a `bench`, `genfens` or `go perft` as done; the next search's time starts now.
    fn is_done(&mut self, control: &Control) {
        control.done.store(true, Ordering::Relaxed);
        self.idle_since = Instant::now();
    }

    fn settled(&self) {
        self.unsettled.fetch_sub(1, Ordering::Release);
    }

    fn set(&mut self, option: SetOption) -> Result<()> {
        match option {
            SetOption::Threads(threads) => {
                self.threads = threads;
                self.engine.set_threads(threads);
            }
            SetOption::Hash(mebibytes) => {
                memory::check_table(mebibytes)?;
                self.engine.set_hash(mebibytes)?;
            }
            SetOption::ClearHash => self.engine.clear(),
            SetOption::Ponder(_) => {}
            SetOption::MultiPv(lines) => self.lines = lines,
            SetOption::MoveOverhead(overhead) => self.overhead = overhead,
            SetOption::Chess960(on) => self.style.chess960 = on,
            SetOption::LimitStrength(on) => self.limit_strength = on,
            SetOption::Elo(elo) => self.elo = elo,
            SetOption::Level(level) => self.level = level,
            SetOption::OwnBook(on) => self.own_book = on,
            SetOption::BookFile(path) => self.book = path.as_deref().map(open_book).transpose()?,
            SetOption::SyzygyPath(folders) => self.set_tables(|tables| tables.folders = folders)?,
            SetOption::SyzygyProbeDepth(plies) => {
                self.set_tables(|tables| tables.probe_depth = plies)?;
            }
            SetOption::Syzygy50MoveRule(holds) => {
                self.set_tables(|tables| tables.fifty_moves = holds)?;
            }
            SetOption::ShowWdl(on) => self.style.chances = on,
            SetOption::EngineAbout => {}
            SetOption::EvalFile(path) => {
                self.networks = match &path {
                    Some(path) => files::load_network(path)?,
                    None => files::embedded_networks()?,
                };
                let network = self.networks.1.clone();
                self.engine
                    .change_evaluator(|evaluator| evaluator.set_network(network));
            }
            SetOption::Evaluation(kind) => {
                self.engine
                    .change_evaluator(|evaluator| evaluator.set_kind(kind));
            }
            SetOption::PolicyFile(path) => {
                self.people = path.as_deref().map(open_policy).transpose()?;
                self.engine.clear();
            }
            SetOption::Style(style) => {
                if style == Style::Human && self.people.is_none() {
                    bail!("Style human needs a policy; set PolicyFile first");
                }
                self.playing_style = style;
            }
            SetOption::Search(kind) => {
                if kind == SearchKind::Puct && self.people.is_none() {
                    bail!("Search puct needs a policy; set PolicyFile first");
                }
                self.search_kind = kind;
            }
            #[cfg(feature = "tune")]
            SetOption::Tune(tunable, value) => self.engine.tune(tunable, value),
        }
        Ok(())
    }

    /// Changes the tablebase options; on an error nothing changes.
    fn set_tables(&mut self, change: impl FnOnce(&mut TableOptions)) -> Result<()> {
        let mut tables = self.tables.clone();
        change(&mut tables);
        self.engine.set_tablebase(tables.open()?);
        self.tables = tables;
        Ok(())
    }

    /// Returns the current position; reports if there is none.
    fn position(&self) -> Option<&Position> {
        if self.position.is_none() {
            inform("no position: the last one cannot be played");
        }
        self.position.as_ref()
    }

    /// Searches, and returns the `bestmove` line once it is due.
    fn search(&mut self, go: &Go, control: &Control, asked: Instant) -> String {
        let Some(position) = self.position().cloned() else {
            wait_until_owed(go, control);
            return best_move_line(&[], &Board::default(), false);
        };
        let best = match self.book_move(&position, go) {
            Some(mv) => vec![mv],
            None => self.think(&position, go, control, asked),
        };
        best_move_line(&best, position.board(), self.style.chess960)
    }

    fn book_move(&mut self, position: &Position, go: &Go) -> Option<Move> {
        let book = self.book.as_ref().filter(|_| self.own_book)?;
        go.wants_any_move()
            .then(|| book.choose(position.board(), &mut self.random))?
    }

    /// Returns the line to play.
    fn think(
        &mut self,
        position: &Position,
        go: &Go,
        control: &Control,
        asked: Instant,
    ) -> Vec<Move> {
        // A search that was queued behind another has its time from that one's end.
        let start = asked.max(self.idle_since);
        let strength = self.strength();
        let board = position.board();
        let (mut limits, wrong) = go.limits(board, self.overhead);
        for error in wrong {
            inform(&error.to_string());
        }
        limits.lines = self.lines;
        strength.apply(&mut limits);
        let signals = Signals {
            stop: &control.stop,
            pondering: Some(&control.pondering),
            elapsed: &|| start.elapsed(),
        };
        // A search for a mate has to end where there is none.
        let by_playouts = self.search_kind == SearchKind::Puct && limits.mate.is_none();
        let priors = self.people.as_ref().filter(|_| by_playouts);
        let mut report = |report: &Report| {
            let line = || info_line(report, board, self.style);
            if report.rank <= self.lines && say(&line()).is_err() {
                // The GUI is gone: stop the search.
                control.stop.store(true, Ordering::Relaxed);
            }
        };
        let outcome = match (strength, priors) {
            (Strength::Full, Some(people)) => {
                let (engine, person) = (&mut self.engine, people.strongest());
                let outcome = engine.search_puct(person, position, &limits, &signals, &mut report);
                for visited in self
                    .engine
                    .visited_moves()
                    .iter()
                    .take(MAX_REPORTED_MOVES)
                    .rev()
                {
                    inform(&visits_line(visited, board, self.style));
                }
                outcome
            }
            _ => self.engine.search(position, &limits, &signals, &mut report),
        };
        if (1..self.threads).contains(&outcome.threads) {
            let (found, wanted) = (outcome.threads, self.threads);
            inform(&format!(
                "searched with {found} threads: the system had no more of {wanted}"
            ));
        }
        if outcome.best.is_none() {
            let _ = say(&ended_line(outcome.score, board, self.style));
        }
        wait_until_owed(go, control);
        let draw = self.random.f64();
        match self.strength().choose(board, &outcome.lines, draw) {
            Some(line) => line.pv.clone(),
            None => outcome.best.into_iter().collect(),
        }
    }

    fn strength(&self) -> Strength<'_> {
        let elo = self.limit_strength.then(|| Handicap::of_elo(self.elo));
        let people = self.people.as_ref();
        let people = people.filter(|_| self.playing_style == Style::Human);
        let person = people.map(|people| people.person(self.elo));
        Strength::new(person, self.level.map(Handicap::from).or(elo))
    }
}

/// Returns the board as a diagram, with its FEN, key and checkers.
fn display(board: &Board) -> String {
    let style = DiagramStyle {
        ascii: true,
        flipped: false,
    };
    let checkers: String = board.checkers().iter().map(|at| format!(" {at}")).collect();
    format!(
        "{}\n\nFen: {}\nKey: {:016X}\nCheckers:{checkers}",
        diagram(board, style),
        write_fen(board),
        position_key(board)
    )
}

/// Waits until `bestmove` may be sent: an infinite search that has ended needs `stop`, a pondering
/// one `ponderhit` or `stop`.
fn wait_until_owed(go: &Go, control: &Control) {
    let early = || go.is_infinite() || control.pondering.load(Ordering::Relaxed);
    while early() && !control.stop.load(Ordering::Relaxed) {
        thread::park();
    }
}

fn open_policy(path: &Path) -> Result<People> {
    let people = files::load_policy(path)?;
    let bands: Vec<String> = people
        .metadata()
        .known_bands()
        .map(|b| b.to_string())
        .collect();
    inform(&match &bands[..] {
        [] => "policy that knows no rating: all play alike".to_string(),
        bands => format!("policy that knows the ratings {}", bands.join(", ")),
    });
    Ok(people)
}

fn open_book(path: &Path) -> Result<Book> {
    let book = Book::load(path)?;
    inform(&format!("book with {} entries", book.len()));
    Ok(book)
}

/// Tablebase options.
#[derive(Clone)]
struct TableOptions {
    /// Folders, separated as the system separates paths.
    folders: Option<String>,
    probe_depth: i32,
    fifty_moves: bool,
}

impl Default for TableOptions {
    fn default() -> TableOptions {
        TableOptions {
            folders: None,
            probe_depth: 1,
            fifty_moves: true,
        }
    }
}

impl TableOptions {
    fn open(&self) -> Result<Option<Arc<dyn Tablebase>>> {
        let Some(folders) = &self.folders else {
            return Ok(None);
        };
        let mut tables = Syzygy::open(env::split_paths(folders))?;
        tables.set_probe_depth(self.probe_depth);
        tables.set_fifty_move_rule(self.fifty_moves);
        let refused = tables.refused();
        for (path, error) in refused.iter().take(MAX_REPORTED_FILES) {
            inform(&format!("Syzygy file {path:?} left out: {error}"));
        }
        if refused.len() > MAX_REPORTED_FILES {
            inform(&format!("{} Syzygy files left out in all", refused.len()));
        }
        let (files, pieces) = (tables.files(), tables.max_pieces());
        inform(&format!("{files} Syzygy files, up to {pieces} pieces"));
        Ok(Some(Arc::new(tables)))
    }
}
