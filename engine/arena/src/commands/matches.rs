//! `arena match`: two engines, each opening played twice with colours swapped.

use std::ops::ControlFlow;

use anyhow::{Context, Result};
use clap::Args;
use host::{StopSignal, tell};

use crate::games::pairing::Pairing;
use crate::games::pgn;
use crate::players::spec::{self, EngineSpec};
use crate::statistics::sprt::{Sprt, SprtState, Verdict};
use crate::tournament::conditions::{Conditions, Each, KeptGames, even, hang_help};
use crate::tournament::games_file::Settings;
use crate::tournament::match_score::MatchScore;
use crate::tournament::progress::Progress;
use crate::tournament::report::{self, Summary};
use crate::tournament::schedule::{BrokenEngine, End};
use crate::usage::{PGN_REFUSED, exit_codes, interrupted, usage};
use host::{ExitCode, print};

fn help() -> String {
    format!(
        "\
Examples: an SPRT between two nets in this process, two games at a time:
  arena match --engine new.safetensors --engine old.safetensors --book openings.epd \\
      --tc 1+0.01 --concurrency 2 --sprt elo0=0 elo1=10 --games 20000
The embedded net at depth 4 against another program at 0.1 s per move:
  arena match --engine 'net=embedded depth=4' \\
      --engine 'cmd=\"stockfish\" option.Threads=1 movetime=100' --book openings.epd --games 100

An engine is a program, cmd=\"PROGRAM ARGUMENTS\" option.NAME=VALUE, or a net in this process,
net=FILE.safetensors, net=embedded or net=material, with hash=MIB and threads=N; net= may be
left out. With policy=FILE.safetensors or policy=uniform a net searches by PUCT. Either may have
name=NAME and a limit of its own: depth=, nodes=, movetime=, tc=. beginner=random and
beginner=greedy (takes the most valuable piece) do not search. Quote values with spaces.
{}

Elo is logistic; its 95 % interval is Wilson's, for pairs of games (docs/engine.md).

Exit codes:
{}",
        hang_help(),
        exit_codes(&[
            (
                ExitCode::Done,
                "played to the end; with --sprt: H1 accepted"
            ),
            (
                ExitCode::Other,
                "another failure; an engine crashed in every game, or in several in a row",
            ),
            (ExitCode::Damaged, "the book is damaged, or has no opening"),
            PGN_REFUSED,
            (ExitCode::AcceptedH0, "with --sprt: H0 accepted"),
            (ExitCode::Undecided, "with --sprt: undecided after --games"),
        ])
    )
}

/// Arguments of `arena match`.
#[derive(Args)]
#[command(after_help = help())]
pub struct MatchArgs {
    /// Engine specification, given twice; see below
    #[arg(short, long = "engine", value_name = "SPEC", required = true)]
    engines: Vec<EngineSpec>,
    /// Number of games, even; the maximum with --sprt
    #[arg(long, value_parser = even, required_unless_present = "sprt")]
    games: Option<u64>,
    /// SPRT: stop once the first engine is better by elo1 (H1) or only by elo0 (H0), in logistic
    /// Elo, or with model=normalised in normalised Elo; alpha and beta are 0.05 by default. Commas
    /// may stand between the parts
    #[arg(long, num_args = 1.., value_name = "elo0=E elo1=E alpha=P beta=P model=M")]
    sprt: Vec<String>,
    #[command(flatten)]
    each: Each,
    #[command(flatten)]
    conditions: Conditions,
    #[command(flatten)]
    kept: KeptGames,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Plays the match and prints its result.
///
/// # Errors
/// If a file cannot be used or an engine cannot be started; the result so far is printed.
/// [`BrokenEngine`] if an engine crashed in every game, or in several in a row. Other forfeited
/// games are not errors.
pub fn run(args: &MatchArgs) -> Result<ExitCode> {
    if args.engines.len() != 2 {
        let count = args.engines.len();
        return Err(usage(&format!(
            "a match is between two engines: give --engine twice (it is there {count} times); \
             `arena ladder` plays more"
        )));
    }
    let sprt = args.sprt()?;
    let engines = args.each.complete(&args.engines)?;
    let names = spec::names(&engines);
    let stop = StopSignal::listen().context("cannot listen to signals")?;
    let mut tally = MatchScore::default();
    let end = End::of(play(args, sprt, &engines, &names, &stop, &mut tally));
    let state = sprt.map(|sprt| sprt.state(&tally.pairs));
    if end.is_ok() || tally.games() > 0 {
        let summary = Summary::new(&names, &tally, state);
        print(&match args.json {
            true => serde_json::to_string(&summary)? + "\n",
            false => summary.table(&tally),
        })?;
    }
    let end = end?;
    if let Some(engine) = tally.always_crashed() {
        let broken = BrokenEngine {
            engine: engines[engine].text.clone(),
            games: tally.games(),
        };
        return Err(broken.into());
    }
    Ok(match (end, state.map(|state| state.verdict)) {
        (_, Some(Verdict::AcceptedH1)) => ExitCode::Done,
        (_, Some(Verdict::AcceptedH0)) => ExitCode::AcceptedH0,
        (End::Stopped, _) => stop.exit_code(),
        (_, Some(Verdict::Undecided)) => ExitCode::Undecided,
        (_, None) => ExitCode::Done,
    })
}

/// Plays until all games are done, the SPRT has a verdict, or `stop` is set.
fn play(
    args: &MatchArgs,
    sprt: Option<Sprt>,
    engines: &[EngineSpec],
    names: &[String],
    stop: &StopSignal,
    tally: &mut MatchScore,
) -> Result<End> {
    let paces = args.conditions.paces(engines)?;
    let pairs = args.games.map(|games| games / 2);
    let book = args.conditions.openings(pairs)?;
    let mut settings = Settings::from([("the command".to_string(), "match".to_string())]);
    if let Some(sprt) = sprt {
        settings.insert("--sprt".to_string(), sprt.to_string());
    }
    let rules = args.conditions.rules()?;
    let settings = || (args.conditions).settings(settings, engines, &paces, &book, stop.flag());
    let (mut file, played) = args.kept.open(settings)?;
    for pair in &played {
        tally.add(&pair.tally);
    }
    let state = |tally: &MatchScore| sprt.map(|sprt| sprt.state(&tally.pairs));
    let is_decided =
        |tally: &MatchScore| state(tally).is_some_and(|state| state.verdict != Verdict::Undecided);
    if is_decided(tally) {
        return Ok(End::Enough);
    }
    let tournament = (args.conditions).tournament(engines, &paces, rules, &played, stop.flag());
    let schedule = |number: usize| {
        let scheduled = pairs.is_none_or(|pairs| (number as u64) < pairs);
        scheduled.then(|| Pairing {
            number,
            engines: [0, 1],
            opening: book.opening(number),
            options: [&[]; 2],
        })
    };
    let mut progress = Progress::new(args.games, tally.games());
    let end = tournament.play(schedule, |pairing, games| {
        let pair = MatchScore::of_pair(games);
        if let Some(file) = &mut file {
            file.append(
                pairing.number,
                &pair,
                &pgn::write_pair(pairing, names, games),
            )?;
        }
        tally.add(&pair);
        progress.show(tally.games(), |_| progress_line(tally, state(tally)));
        Ok(match is_decided(tally) {
            false => ControlFlow::Continue(()),
            true => ControlFlow::Break(()),
        })
    })?;
    drop(progress);
    if end == End::Stopped && file.is_some_and(|file| file.is_resumable()) {
        tell(interrupted(args.kept.force));
    }
    Ok(end)
}

impl MatchArgs {
    /// Returns the SPRT, if one was asked for.
    ///
    /// # Errors
    /// Wrong usage, if its parts are invalid.
    fn sprt(&self) -> Result<Option<Sprt>> {
        if self.sprt.is_empty() {
            return Ok(None);
        }
        let parts = self.sprt.iter().map(|part| part.trim_matches(','));
        let sprt = parts.collect::<Vec<_>>().join(",").parse::<Sprt>();
        sprt.map(Some)
            .map_err(|why| usage(&format!("--sprt: {why}")))
    }
}

fn progress_line(tally: &MatchScore, sprt: Option<SprtState>) -> String {
    let sprt = sprt.map(|state| format!(", {state}"));
    report::line(tally) + &sprt.unwrap_or_default()
}
