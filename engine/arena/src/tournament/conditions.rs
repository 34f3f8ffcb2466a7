//! Command-line arguments that `match`, `ladder` and `tune` share.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use engine::{Syzygy, Tablebase};
use host::{tell, thousands};
use sha2::{Digest, Sha256};

use crate::games::adjudication::{Draw, Resign};
use crate::games::game::Rules;
use crate::games::openings::Book;
use crate::players::pace::{HANG_TIMEOUT, Pace};
use crate::players::player;
use crate::players::spec::{EngineSpec, Net, Program};
use crate::selfplay::settings::{COMMIT, program_identity};
use crate::tournament::games_file::{Existing, GamesFile, PlayedPair, Settings};
use crate::tournament::schedule::Tournament;
use crate::usage::usage;
use uci_client::{EngineProcess, Identity};

/// Upper limit of --games.
const MAX_GAMES: u64 = 1_000_000_000;
/// Default of --max-moves.
const MAX_MOVES: u16 = 200;

/// Conditions of the games.
#[derive(Args)]
pub struct Conditions {
    /// Opening book: one EPD or FEN per line, or PGN games, for their last positions
    #[arg(long, value_name = "FILE")]
    book: PathBuf,
    /// Seed that shuffles the openings
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Depth limit per move, in plies
    #[arg(long, group = "pace", value_parser = |text: &str| pace("depth", text))]
    depth: Option<Pace>,
    /// Node limit per move
    #[arg(long, group = "pace", value_parser = |text: &str| pace("nodes", text))]
    nodes: Option<Pace>,
    /// Time per move, in milliseconds
    #[arg(long, value_name = "MS", group = "pace", value_parser = |text: &str| pace("movetime", text))]
    movetime: Option<Pace>,
    /// Time control: seconds per game + seconds per move, such as 10+0.1; MOVES/ makes it seconds per
    /// period of so many moves, such as 40/60+1. Minutes are written 1:30
    #[arg(long, value_name = "[MOVES/]S+INC", group = "pace", value_parser = Pace::clock)]
    tc: Option<Pace>,
    /// Time margin: lateness that is forgiven, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 20,
          value_parser = clap::value_parser!(u64).range(..=3_600_000))]
    margin_ms: u64,
    /// Resign adjudication: an engine loses after N moves in a row with its own score at -CP or
    /// less, such as moves=4,score=600 [default: never]
    #[arg(long, value_name = "moves=N,score=CP")]
    resign: Option<Resign>,
    /// Draw adjudication: both engines score within CP of zero for N moves each in a row, without
    /// capture or pawn move, from a move number on, such as moves=8,score=10,from=40 [default:
    /// never]
    #[arg(long, value_name = "moves=N,score=CP,from=N")]
    draw: Option<Draw>,
    /// Folders of Syzygy tables that adjudicate games
    #[arg(long, value_name = "PATHS")]
    syzygy: Option<OsString>,
    /// Moves of each side after which a game is drawn
    #[arg(long, value_name = "N", default_value_t = MAX_MOVES,
          value_parser = clap::value_parser!(u16).range(1..))]
    max_moves: u16,
    /// Games played at the same time
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    concurrency: u16,
}

/// Arguments for the output of games.
#[derive(Args)]
pub struct KeptGames {
    /// Write the games to FILE, and their record for --resume to FILE.jsonl; an existing FILE is
    /// replaced only with --force
    #[arg(long, value_name = "FILE")]
    pub pgn: Option<PathBuf>,
    /// Continue the interrupted match of --pgn, or start a new one
    #[arg(long, requires = "pgn")]
    resume: bool,
    /// Append to the games of --pgn; the match cannot be resumed
    #[arg(long, requires = "pgn", conflicts_with = "resume")]
    append: bool,
    /// Replace the games of --pgn once the first new pair is played
    #[arg(long, requires = "pgn", conflicts_with_all = ["resume", "append"])]
    pub force: bool,
}

/// Arguments common to all engines.
#[derive(Args)]
pub struct Each {
    /// Defaults of every engine: option.NAME=VALUE for programs, hash= and threads= for nets, and a
    /// limit
    #[arg(long, value_name = "SPEC")]
    each: Option<String>,
}

impl Each {
    /// Returns the engines with these defaults.
    ///
    /// # Errors
    /// Wrong usage, if a word of `--each` is invalid.
    pub fn complete(&self, engines: &[EngineSpec]) -> Result<Vec<EngineSpec>> {
        let Some(each) = &self.each else {
            return Ok(engines.to_vec());
        };
        let complete = |engine: &EngineSpec| engine.with(each);
        let engines: Result<Vec<_>, String> = engines.iter().map(complete).collect();
        engines.map_err(|why| usage(&format!("--each: {why}")))
    }
}

fn pace(name: &str, value: &str) -> Result<Pace, String> {
    Pace::parse(name, value).unwrap_or_else(|| Err(format!("no pace is called {name}")))
}

impl Conditions {
    /// Returns the limit of each engine: its own, else the common one.
    ///
    /// # Errors
    /// Wrong usage, if an engine has neither.
    pub fn paces(&self, specs: &[EngineSpec]) -> Result<Vec<Pace>> {
        let common = self.depth.or(self.nodes).or(self.movetime).or(self.tc);
        let pace = |spec: &EngineSpec| {
            let pace = spec.pace.or(common);
            pace.ok_or_else(|| {
                let engine = &spec.text;
                usage(&format!(
                    "engine {engine:?} needs a limit for each move: give --depth, --nodes, --movetime or --tc"
                ))
            })
        };
        specs.iter().map(pace).collect()
    }

    /// Returns the rules of all games.
    ///
    /// # Errors
    /// If a folder of `--syzygy` has no tables.
    pub fn rules(&self) -> Result<Rules> {
        let tables = open_tables(self.syzygy.as_deref())?;
        Ok(Rules {
            margin: Duration::from_millis(self.margin_ms),
            resign: self.resign,
            draw: self.draw,
            tables: tables.map(|tables| Arc::new(tables) as Arc<dyn Tablebase>),
            max_plies: 2 * usize::from(self.max_moves),
        })
    }

    /// Returns a tournament under these conditions, without the pairs already `played`.
    pub fn tournament<'a>(
        &self,
        specs: &'a [EngineSpec],
        paces: &'a [Pace],
        rules: Rules,
        played: &[PlayedPair],
        stop: &'a AtomicBool,
    ) -> Tournament<'a> {
        Tournament {
            specs,
            paces,
            rules,
            done: played.iter().map(|pair| pair.number).collect(),
            concurrency: self.concurrency.into(),
            stop,
        }
    }

    /// Loads the shuffled book. Warns if it has fewer than `openings` openings (`None`: no limit),
    /// since repeated games between the same engines add nothing to a result.
    ///
    /// # Errors
    /// If the file cannot be read or an opening is invalid.
    pub fn openings(&self, openings: Option<u64>) -> Result<Book> {
        let book = Book::load(&self.book, self.seed)?;
        let (name, count) = (&self.book, book.len() as u64);
        if book.ended > 0 {
            tell(format!(
                "{name:?}: in {} openings the game is over; {} others are played",
                thousands(book.ended as u64),
                thousands(count)
            ));
        }
        if openings.is_none_or(|openings| openings > count) {
            tell(format!(
                "{name:?} has {} openings: they repeat after {} games between two engines",
                thousands(count),
                thousands(2 * count)
            ));
        }
        Ok(book)
    }

    /// Returns all settings that decide which games are played: the given ones of the command, and
    /// these conditions. Starts each program once and loads each net, to identify them.
    ///
    /// # Errors
    /// If an engine cannot be started, or a net or a program's file cannot be read;
    /// `StartError::Cancelled` if `stop` was set meanwhile.
    pub fn settings(
        &self,
        mut settings: Settings,
        specs: &[EngineSpec],
        paces: &[Pace],
        book: &Book,
        stop: &AtomicBool,
    ) -> Result<Settings> {
        let mut known: Vec<(&Program, Vec<(String, String)>)> = Vec::new();
        for spec in specs {
            if known.iter().all(|(program, _)| **program != spec.program) {
                known.push((&spec.program, identity(&spec.program, stop)?));
            }
        }
        let mut add = |name: &str, value: String| settings.insert(name.to_string(), value);
        for ((spec, pace), number) in specs.iter().zip(paces).zip(1..) {
            add(&format!("engine {number}"), spec.text.clone());
            add(&format!("the limit of engine {number}"), pace.argument());
            let identity = known.iter().find(|(program, _)| **program == spec.program);
            for (what, value) in identity.iter().flat_map(|(_, identity)| identity) {
                add(&format!("the {what} of engine {number}"), value.clone());
            }
        }
        let openings = format!("{} openings, SHA-256 {}", book.len(), book.digest);
        add("--book", openings);
        add("--seed", self.seed.to_string());
        add("--margin-ms", self.margin_ms.to_string());
        if let Some(resign) = self.resign {
            add("--resign", resign.to_string());
        }
        if let Some(draw) = self.draw {
            add("--draw", draw.to_string());
        }
        if let Some(tables) = &self.syzygy {
            add("--syzygy", tables.to_string_lossy().into_owned());
        }
        if self.max_moves != MAX_MOVES {
            add("--max-moves", self.max_moves.to_string());
        }
        Ok(settings)
    }
}

impl KeptGames {
    /// Opens the games file, if there is to be one, and returns it with the pairs played before.
    /// Calls `settings` only for a file with a record.
    ///
    /// # Errors
    /// If the file cannot be used, or `settings` fails.
    pub fn open(
        &self,
        settings: impl FnOnce() -> Result<Settings>,
    ) -> Result<(Option<GamesFile>, Vec<PlayedPair>)> {
        let Some(path) = &self.pgn else {
            return Ok((None, Vec::new()));
        };
        if self.append {
            return Ok((Some(GamesFile::append_to(path)?), Vec::new()));
        }
        let existing = Existing::of(self.resume, self.force);
        let (file, played) = GamesFile::open(path, settings()?, existing)?;
        if !played.is_empty() {
            tell(format!(
                "{path:?}: going on after {} games",
                thousands(2 * played.len() as u64)
            ));
        }
        Ok((Some(file), played))
    }
}

/// Opens the Syzygy tables of the folders of `--syzygy`.
///
/// # Errors
/// If one of the folders has none.
pub fn open_tables(paths: Option<&OsStr>) -> Result<Option<Syzygy>> {
    let open = |paths| Syzygy::open(env::split_paths(paths));
    paths.map(open).transpose().context("--syzygy")
}

/// Returns the labelled identity of an engine beside its specification: digests of its net or of
/// its program's files, and the program's name.
fn identity(program: &Program, stop: &AtomicBool) -> Result<Vec<(String, String)>> {
    let of = |digest: String| format!("of SHA-256 {digest}");
    Ok(match program {
        Program::Net(net) => {
            let labelled = |what: &str, digest| (what.to_string(), of(digest));
            let digest = net_sha256(net)?.map(|digest| labelled("net", digest));
            let policy = policy_sha256(net)?.map(|digest| labelled("policy", digest));
            let commit = COMMIT.map(|commit| ("commit".to_string(), commit.to_string()));
            let program = ("program".to_string(), program_identity()?);
            let digests = digest.into_iter().chain(policy);
            digests.chain(commit).chain([program]).collect()
        }
        Program::Beginner(_) => vec![("program".to_string(), program_identity()?)],
        Program::Command(setup) => {
            let engine = EngineProcess::start(setup, stop, &mut |notice| tell(notice))?;
            let Identity { name, digests } = Identity::of(setup, &engine)?;
            let digests = digests.into_iter().map(|(what, digest)| (what, of(digest)));
            digests.chain([("name".to_string(), name)]).collect()
        }
    })
}

/// Returns the SHA-256 of a net's file in hexadecimal; `None` for material.
///
/// # Errors
/// If the net cannot be loaded.
pub fn net_sha256(net: &Net) -> Result<Option<String>> {
    let (_, bytes) = player::load(net)?;
    Ok(sha256(&bytes))
}

/// Returns the SHA-256 of a policy's file in hexadecimal; `None` for a uniform one, and without.
///
/// # Errors
/// If the policy cannot be loaded.
pub fn policy_sha256(net: &Net) -> Result<Option<String>> {
    let policy = player::load_policy(net)?;
    Ok(policy.and_then(|(_, bytes)| sha256(&bytes)))
}

/// Returns the SHA-256 of a file in hexadecimal; `None` if it is empty.
fn sha256(bytes: &[u8]) -> Option<String> {
    let digest = || format!("{:x}", Sha256::digest(bytes));
    (!bytes.is_empty()).then(digest)
}

/// Returns the help text about engines that hang.
pub fn hang_help() -> String {
    format!(
        "Without a clock, an engine that does not answer within {} s has hung, and loses.",
        HANG_TIMEOUT.as_secs()
    )
}

/// Parses an even number of games: each opening is played twice.
pub fn even(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(games) if (2..=MAX_GAMES).contains(&games) && games % 2 == 0 => Ok(games),
        _ => Err(format!(
            "each opening is played twice: give an even number from 2 to {MAX_GAMES}"
        )),
    }
}
