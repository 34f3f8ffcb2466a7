//! `engine match`: two engines, each opening played twice with colours swapped.

mod adjudication;
pub mod conditions;
mod game;
pub mod interrupt;
mod library;
mod openings;
mod pace;
mod parameters;
pub mod pentanomial;
mod pgn;
mod player;
mod process;
pub mod progress;
mod report;
pub mod spec;
mod sprt;
pub mod tally;
mod thought;
pub mod tournament;

use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};
use clap::Args;

use conditions::{Conditions, even};
use progress::Progress;
use report::Summary;
use spec::EngineSpec;
use sprt::{Sprt, SprtState, Verdict};
use tally::Tally;
use tournament::{Pairing, Tournament};

const HELP: &str = "\
Examples: two nets in this process, two games at a time, until it is clear which is better:
  engine match --engine new.safetensors --engine old.safetensors --book openings.epd \\
      --tc 1+0.01 --concurrency 2 --sprt elo0=0,elo1=10 --games 20000
The net in this program at depth 4 against another program at 0.1 s a move:
  engine match --engine 'net=embedded depth=4' \\
      --engine 'cmd=\"stockfish\" option.Threads=1 movetime=100' --book openings.epd --games 100

An engine is a program, cmd=\"PROGRAM ARGUMENTS\" option.NAME=VALUE, or a net in this process,
net=FILE.safetensors, net=embedded or net=material, with hash=MIB and threads=N; net= may be
left out. Either may have name=NAME and a pace of its own: depth=, nodes=, movetime=, tc=.
Quote what holds spaces.

Exit codes: 0 played to the end (with --sprt: H1 accepted), 2 wrong command line, 3 file or
program missing or unreadable, 6 net refused, 10 H0 accepted, 11 SPRT undecided after --games,
130 interrupted with Ctrl-C (the result so far is printed), 1 all else.";

/// The exit codes of a test that does not accept H1.
const ACCEPTED_H0: u8 = 10;
const UNDECIDED: u8 = 11;

/// Arguments of `engine match`.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct MatchArgs {
    /// An engine, given twice; see below
    #[arg(long = "engine", value_name = "SPEC", required = true)]
    engines: Vec<EngineSpec>,
    /// Games in all, an even number; with --sprt the most
    #[arg(long, value_parser = even, required_unless_present = "sprt")]
    games: Option<usize>,
    /// Stop when it is clear whether the first engine is better by elo1 (H1) or only by elo0 (H0), in logistic Elo; alpha and beta are 0.05 where not given
    #[arg(long, value_name = "elo0=E,elo1=E,alpha=P,beta=P")]
    sprt: Option<Sprt>,
    #[command(flatten)]
    conditions: Conditions,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Plays the match and prints its result.
///
/// # Errors
/// Where a file cannot be used or an engine cannot be started; what was played
/// before is printed. A lost or broken game is no error.
pub fn run(args: &MatchArgs) -> Result<ExitCode> {
    let count = args.engines.len();
    ensure!(
        count == 2,
        "a match needs --engine twice, not {count} times"
    );
    let names = spec::names(&args.engines);
    let stop = interrupt::on_ctrl_c().context("cannot listen to Ctrl-C")?;
    let mut tally = Tally::default();
    let played = play(args, &names, &stop, &mut tally);
    let state = args.state(&tally);
    if played.is_ok() || tally.games() > 0 {
        let summary = Summary::new(&names, &tally, state);
        if args.json {
            println!("{}", serde_json::to_string(&summary)?);
        } else {
            print!("{}", summary.table(&tally));
        }
    }
    played?;
    Ok(ExitCode::from(match state.map(|state| state.verdict) {
        Some(Verdict::AcceptedH1) => 0,
        Some(Verdict::AcceptedH0) => ACCEPTED_H0,
        _ if stop.load(Ordering::Relaxed) => interrupt::EXIT_CODE,
        Some(Verdict::Undecided) => UNDECIDED,
        None => 0,
    }))
}

/// Plays until all games are done, the test has a verdict, or `stop` is set.
fn play(args: &MatchArgs, names: &[String], stop: &AtomicBool, tally: &mut Tally) -> Result<()> {
    let pairs = args.games.map(|games| games / 2);
    let book = args.conditions.openings(pairs)?;
    let tournament = Tournament {
        specs: &args.engines,
        paces: &args.conditions.paces(&args.engines)?,
        rules: &args.conditions.rules(),
        concurrency: args.conditions.concurrency.into(),
        stop,
    };
    let schedule = |number| {
        let scheduled = pairs.is_none_or(|pairs| number < pairs);
        scheduled.then(|| Pairing {
            number,
            engines: [0, 1],
            opening: book.opening(number),
        })
    };
    let mut pgn = args.conditions.pgn()?;
    let mut progress = Progress::new(args.games.map(|games| games as u64));
    tournament.play(schedule, |pairing, games| {
        tally.add_pair(games);
        if let Some(pgn) = &mut pgn {
            pgn.append_pair(pairing, names, games)?;
        }
        let state = args.state(tally);
        progress.show(tally.games(), || progress_line(tally, state));
        Ok(match state.map(|state| state.verdict) {
            None | Some(Verdict::Undecided) => ControlFlow::Continue(()),
            Some(_) => ControlFlow::Break(()),
        })
    })
}

impl MatchArgs {
    /// How the test stands, where one was asked for.
    fn state(&self, tally: &Tally) -> Option<SprtState> {
        self.sprt.map(|sprt| sprt.state(&tally.pairs))
    }
}

fn progress_line(tally: &Tally, sprt: Option<SprtState>) -> String {
    let sprt = sprt.map(|state| format!(", {state}"));
    report::line(tally) + &sprt.unwrap_or_default()
}
