//! `arena generate`: self-play of a net, as training data.

mod report;

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result};
use clap::Args;
use engine::{Syzygy, Tablebase};
use host::archive::OpenedArchive;
use host::{ExitCode, StopSignal, print, rate, tell, thousands};

use crate::games::adjudication::{Draw, Resign};
use crate::players::spec::{self, EngineSpec, Net, Program};
use crate::selfplay::earlier::Destination;
use crate::selfplay::exploration::Exploration;
use crate::selfplay::format::Format;
use crate::selfplay::game::{MAX_PLIES, Rules};
use crate::selfplay::generator::{Archive, Generator, OutputRecord, Work};
use crate::selfplay::settings::{COMMIT, PolicySettings, Settings, program_identity};
use crate::tournament::conditions::{net_sha256, open_tables, policy_sha256};
use crate::tournament::progress::Progress;
use crate::usage::{exit_codes, usage};
use report::Report;

/// Default size of the transposition table in MiB. A game fills little more, and a larger table
/// takes longer to clear.
const HASH_MIB: usize = 4;
/// Default hard node limit, as a multiple of the soft one.
const HARD: u64 = 20;

fn help() -> String {
    format!(
        "\
Example: half a million positions on all cores, to train the next net on:
  arena generate --engine net=embedded --out games.pgn.zst --positions 500000 --seed 1
  ingest build --keep quiet games.pgn.zst --out games.dataset

The engine is a net in this process: net=FILE.safetensors, net=embedded or net=material, with
hash=MIB ({HASH_MIB} by default) and name=NAME. It forgets everything between games. With
policy=FILE.safetensors or policy=uniform it searches by PUCT, --nodes playouts a move, and explores;
in PGN each move then has the visits that `ingest build --moves` learns from:
  arena generate --engine \"net=1.safetensors policy=1.policy.safetensors\" --nodes 200 \\
      --random-plies 0 --out games.pgn.zst --positions 500000

The output is FILE.part until it is complete; FILE.json records its settings. Ctrl-C ends early:
FILE then has the games so far. After any interruption the same command continues to the same
bytes, with any --concurrency. With more --games or --positions it adds to a complete FILE. With
--force an existing FILE stays until the new one, FILE.new, is complete. A game of {MAX_PLIES} plies is
drawn. Contents of the file: docs/self-play.md.

Exit codes:
{}",
        exit_codes(&[
            (ExitCode::Done, "the output is complete, or was before"),
            (
                ExitCode::Refused,
                "--out is refused: it exists, has other settings, or is in use"
            ),
            (
                ExitCode::Missing,
                "a net or a folder of tables is missing or unreadable"
            ),
        ])
    )
}

/// Arguments of `arena generate`.
#[derive(Args)]
#[command(after_help = help())]
pub struct GenerateArgs {
    /// Net that plays itself; see below
    #[arg(short, long, value_name = "SPEC")]
    engine: EngineSpec,
    /// Output file: .pgn.zst, .pgn, or .viri for viriformat
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Replace an existing --out, even of other settings, once all games are played
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    amount: Amount,
    /// Soft node limit: no new iteration begins after it
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// Hard node limit per search [default: 20 times --nodes]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    hard_nodes: Option<u64>,
    /// Random plies at the start of a game; every other game has one more
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(0..=100))]
    random_plies: u16,
    /// Share of noise in a policy's priors, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.25, value_parser = share)]
    noise: f32,
    /// Plies from the start of a game in which a policy's moves are drawn by visits
    #[arg(long, value_name = "N", default_value_t = 30)]
    drawn_plies: u16,
    /// Reject openings with a first score above this for either side
    #[arg(long, value_name = "CENTIPAWNS", default_value_t = 400)]
    opening_limit: u16,
    /// Start from Chess960 positions
    #[arg(long)]
    chess960: bool,
    /// Resign adjudication: a side loses after N moves in a row with its own score at -CP or less;
    /// none for never
    #[arg(
        long,
        value_name = "moves=N,score=CP",
        default_value = "moves=4,score=1200"
    )]
    resign: Rule<Resign>,
    /// Draw adjudication: both sides score within CP of zero for N moves each in a row, without
    /// capture or pawn move, from a move number on; none for never
    #[arg(
        long,
        value_name = "moves=N,score=CP,from=N",
        default_value = "moves=8,score=10,from=40"
    )]
    draw: Rule<Draw>,
    /// Folders of Syzygy tables that adjudicate games
    #[arg(long, value_name = "PATHS")]
    syzygy: Option<std::ffi::OsString>,
    /// Seed of the openings
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Games played at the same time [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    concurrency: Option<u16>,
    /// Print the statistics as JSON
    #[arg(long)]
    json: bool,
}

/// Amount of games to play.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct Amount {
    /// Number of games in total
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    games: Option<u64>,
    /// Number of positions in total: the game that reaches it is the last
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    positions: Option<u64>,
}

/// An adjudication rule, or `none`.
#[derive(Clone, Copy)]
struct Rule<T>(Option<T>);

impl<T: FromStr> FromStr for Rule<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Rule<T>, T::Err> {
        match text {
            "none" => Ok(Rule(None)),
            text => text.parse().map(|rule| Rule(Some(rule))),
        }
    }
}

/// Parses a number from 0 to 1.
fn share(text: &str) -> Result<f32, String> {
    let share = text
        .parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "give a number from 0 to 1".to_string())
}

/// Plays the missing games and prints the statistics.
///
/// # Errors
/// If a file cannot be used or the output is refused. Games written before stay.
pub fn run(args: &GenerateArgs) -> Result<ExitCode> {
    let net = args.net()?;
    let format = Format::of(&args.out).ok_or_else(|| {
        let out = args.out.display();
        usage(&format!(
            "--out {out}: give a name that ends with .pgn.zst, to be compressed, .pgn or .viri"
        ))
    })?;
    let stop = StopSignal::listen().context("cannot listen to signals")?;
    let tables = open_tables(args.syzygy.as_deref())?;
    let settings = args.settings(&net, tables.as_ref())?;
    let rules = args.rules(&net, tables);
    let destination = Destination::open(&args.out, &settings, args.force)?;
    let opened = Archive::open(destination.path(), settings, format.is_compressed())?;
    let (record, work) = match opened {
        OpenedArchive::Finished(record) => {
            let out = args.out.display();
            tell(format_args!("{out}: finished before"));
            (*record, None)
        }
        OpenedArchive::Begun(archive) => {
            let settings = archive.record().made_by.clone();
            let generator = Generator {
                net: &net,
                rules: &rules,
                settings: &settings,
                format,
                concurrency: args.concurrency()?,
                stop: stop.flag(),
            };
            let (record, work) = args.generate(&generator, *archive)?;
            (record, Some((generator.concurrency, work)))
        }
    };
    let is_enough = record.made_by.is_enough(&record.done.counts);
    if is_enough {
        destination.replace()?;
    }
    let out = match destination.keeps_earlier() && !is_enough {
        true => destination.path(),
        false => &args.out,
    };
    let report = Report::new(out, &record, work);
    print(&match args.json {
        true => serde_json::to_string_pretty(&report)? + "\n",
        false => report.text(),
    })?;
    if is_enough {
        return Ok(ExitCode::Done);
    }
    let unchanged = format!("interrupted; {} is unchanged", args.out.display());
    let command = match args.force {
        true => "the same command without --force",
        false => "the same command",
    };
    tell(match destination.keeps_earlier() {
        true if record.done.counts.games == 0 => unchanged,
        true => format!("{unchanged}; {command} goes on"),
        false => format!("interrupted; {command} goes on"),
    });
    Ok(stop.exit_code())
}

impl GenerateArgs {
    /// Returns the net that plays.
    fn net(&self) -> Result<Net> {
        let EngineSpec { program, pace, .. } = &self.engine;
        let Program::Net(net) = program else {
            return Err(usage("--engine: only nets in this process generate games"));
        };
        if pace.is_some() || net.threads != 1 {
            return Err(usage(
                "--engine: --nodes limits a search, which has one thread; give net=, policy=, hash= and name= alone",
            ));
        }
        Ok(Net {
            hash: net.hash.or(Some(HASH_MIB)),
            ..net.clone()
        })
    }

    fn concurrency(&self) -> Result<usize> {
        Ok(match self.concurrency {
            Some(games) => games.into(),
            None => thread::available_parallelism()?.get(),
        })
    }

    fn hard_nodes(&self) -> u64 {
        let hard = self.hard_nodes.unwrap_or(self.nodes.saturating_mul(HARD));
        hard.max(self.nodes)
    }

    fn settings(&self, net: &Net, tables: Option<&Syzygy>) -> Result<Settings> {
        let describe = |tables: &Syzygy| {
            let (files, pieces) = (tables.files(), tables.max_pieces());
            format!("{files} files, up to {pieces} pieces")
        };
        Ok(Settings {
            program: program_identity()?,
            commit: COMMIT.map(str::to_string),
            net: spec::names(std::slice::from_ref(&self.engine)).concat(),
            net_sha256: net_sha256(net)?,
            hash_mib: net.hash.unwrap_or(HASH_MIB),
            nodes: self.nodes,
            policy: match self.exploration(net) {
                Some(exploration) => Some(PolicySettings {
                    sha256: policy_sha256(net)?,
                    exploration,
                }),
                None => None,
            },
            hard_nodes: self.hard_nodes(),
            random_plies: self.random_plies.into(),
            opening_limit: self.opening_limit,
            chess960: self.chess960,
            resign: self.resign.0.map(|resign| resign.to_string()),
            draw: self.draw.0.map(|draw| draw.to_string()),
            syzygy: tables.map(describe),
            seed: self.seed,
            games: self.amount.games,
            positions: self.amount.positions,
        })
    }

    /// Returns how games of a net with a policy explore; `None` without.
    fn exploration(&self, net: &Net) -> Option<Exploration> {
        net.policy.as_ref().map(|_| Exploration {
            noise: self.noise,
            drawn_plies: self.drawn_plies,
        })
    }

    fn rules(&self, net: &Net, tables: Option<Syzygy>) -> Rules {
        Rules {
            exploration: self.exploration(net),
            seed: self.seed,
            random_plies: self.random_plies.into(),
            opening_limit: self.opening_limit,
            chess960: self.chess960,
            soft_nodes: self.nodes,
            hard_nodes: self.hard_nodes(),
            resign: self.resign.0,
            draw: self.draw.0,
            tables: tables.map(|tables| Arc::new(tables) as Arc<dyn Tablebase>),
        }
    }

    /// Plays the missing games, with a progress bar.
    fn generate(&self, generator: &Generator, archive: Archive) -> Result<(OutputRecord, Work)> {
        let before = &archive.record().done.counts;
        if before.games > 0 {
            let (out, games) = (self.out.display(), thousands(before.games));
            tell(format_args!("{out}: going on after {games} games"));
        }
        let total = self.amount.games.or(self.amount.positions);
        let by_games = self.amount.games.is_some();
        let done = |games, positions| if by_games { games } else { positions };
        let mut progress = Progress::new(total, done(before.games, before.positions));
        generator.run(archive, |tally, work| {
            progress.show(done(tally.games, tally.positions), |_| {
                let [games, positions] = [tally.games, tally.positions].map(thousands);
                let speed = rate(work.positions as f64 / work.time.as_secs_f64());
                format!("{games} games, {positions} positions, {speed} positions/s")
            });
        })
    }
}
