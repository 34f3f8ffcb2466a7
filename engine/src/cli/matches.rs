//! `engine match`: two engines, each opening played twice with colours swapped.

pub mod adjudication;
pub mod conditions;
pub mod game;
pub mod interrupt;
mod library;
pub mod openings;
pub mod pace;
mod parameters;
pub mod pentanomial;
pub mod pgn;
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
use std::sync::atomic::Ordering;

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
/// Where a file cannot be used or an engine cannot be started at all. A lost
/// or broken game is no error.
pub fn run(args: &MatchArgs) -> Result<ExitCode> {
    let count = args.engines.len();
    ensure!(
        count == 2,
        "a match needs --engine twice, not {count} times"
    );
    let names = spec::names(&args.engines);
    let book = args.conditions.openings()?;
    let paces = args.conditions.paces(&args.engines)?;
    let stop = interrupt::on_ctrl_c().context("cannot listen to Ctrl-C")?;
    let tournament = Tournament {
        specs: &args.engines,
        paces: &paces,
        rules: &args.conditions.rules(),
        concurrency: args.conditions.concurrency.into(),
        stop: &stop,
    };
    let schedule = |number| {
        let scheduled = args.games.is_none_or(|games| number < games / 2);
        scheduled.then(|| Pairing {
            number,
            engines: [0, 1],
            opening: book.opening(number),
        })
    };
    let pgn = args.conditions.pgn.as_deref();
    let mut pgn = pgn.map(pgn::PgnFile::create).transpose()?;
    let mut tally = Tally::default();
    let mut progress = Progress::new(args.games.map(|games| games as u64));
    let state = |tally: &Tally| args.sprt.map(|sprt| sprt.state(&tally.pairs));
    let mut decided = false;
    tournament.play(schedule, |pairing, games| {
        tally.add_pair(games);
        if let Some(pgn) = &mut pgn {
            pgn.append_pair(pairing, &names, games)?;
        }
        progress.show(tally.games(), || progress_line(&tally, state(&tally)));
        decided = state(&tally).is_some_and(|state| state.verdict != Verdict::Undecided);
        Ok(if decided {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    })?;
    progress.finish();
    let state = state(&tally);
    let summary = Summary::new(&names, &tally, state);
    if args.json {
        println!("{}", serde_json::to_string(&summary)?);
    } else {
        print!("{}", summary.table(&tally));
    }
    let interrupted = stop.load(Ordering::Relaxed) && !decided;
    Ok(ExitCode::from(match state.map(|state| state.verdict) {
        _ if interrupted => interrupt::EXIT_CODE,
        None | Some(Verdict::AcceptedH1) => 0,
        Some(Verdict::AcceptedH0) => ACCEPTED_H0,
        Some(Verdict::Undecided) => UNDECIDED,
    }))
}

fn progress_line(tally: &Tally, sprt: Option<SprtState>) -> String {
    let sprt = sprt.map(|state| format!(", {state}"));
    report::line(tally) + &sprt.unwrap_or_default()
}
