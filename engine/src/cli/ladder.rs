//! `engine ladder`: engines or nets play each other, and are rated.

mod chart;
mod ratings;

use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde::Serialize;

use super::files;
use super::matches::conditions::{Conditions, even};
use super::matches::pentanomial::Pentanomial;
use super::matches::progress::Progress;
use super::matches::spec::EngineSpec;
use super::matches::tally::Tally;
use super::matches::tournament::{Pairing, Tournament};
use super::matches::{interrupt, spec};
use ratings::Rating;

const HELP: &str = "\
Example: nets of three generations and material alone, 40 games between any two:
  engine ladder material gen1.safetensors gen2.safetensors embedded --depth 4 \\
      --games 40 --book openings.epd --concurrency 2 --plot ladder.svg
One against other programs:
  engine ladder --gauntlet embedded 'cmd=\"toga2\"' 'cmd=\"stockfish\" movetime=10' --tc 2+0.02 \\
      --games 200 --book openings.epd

Elo is logistic, counted from the first engine: the likeliest ratings for all results together,
one drawn game added between any two that meet. Errors are those of the difference to the first, 95 %.
Engines are named as for `engine match`: nets by their file, programs as
'cmd=\"PROGRAM ARGUMENTS\" name=NAME option.NAME=VALUE', either with a pace of its own.

Exit codes: 0 played to the end, 2 wrong command line, 3 file or program missing or unreadable,
6 net refused, 130 interrupted with Ctrl-C (the result so far is printed), 1 all else.";

/// Arguments of `engine ladder`.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct LadderArgs {
    /// Nets, or engines; see below
    #[arg(value_name = "NET", required = true)]
    engines: Vec<EngineSpec>,
    /// Games between any two that meet, an even number
    #[arg(long, value_parser = even)]
    games: usize,
    /// The first engine meets each of the others, who do not meet
    #[arg(long)]
    gauntlet: bool,
    #[command(flatten)]
    conditions: Conditions,
    /// Draw the ratings here
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// A finished ladder.
#[derive(Serialize)]
struct Ladder<'a> {
    /// The best first.
    ratings: Vec<Standing<'a>>,
    encounters: Vec<Encounter<'a>>,
}

/// An engine's place.
#[derive(Serialize)]
struct Standing<'a> {
    name: &'a str,
    #[serde(flatten)]
    rating: Rating,
    games: u64,
    /// Its share of the points.
    score: f64,
}

/// All games of two engines.
#[derive(Serialize)]
struct Encounter<'a> {
    engines: [&'a str; 2],
    wins: u64,
    draws: u64,
    losses: u64,
    pairs: Pentanomial,
    time_losses: [u64; 2],
    illegal_moves: [u64; 2],
    crashes: [u64; 2],
    hangs: [u64; 2],
}

/// Plays the games and prints the ratings.
///
/// # Errors
/// Where a file cannot be used or an engine cannot be started. A lost or
/// broken game is no error.
pub fn run(args: &LadderArgs) -> Result<ExitCode> {
    let count = args.engines.len();
    ensure!(count > 1, "a ladder needs two engines and more");
    let names = spec::names(&args.engines);
    let meetings = meetings(count, args.gauntlet);
    let stop = interrupt::on_ctrl_c().context("cannot listen to Ctrl-C")?;
    let tallies = play(args, &names, &meetings, &stop)?;
    let ladder = Ladder::new(&names, &meetings, &tallies);
    if let Some(path) = &args.plot {
        let ratings = ladder.ratings.iter();
        let rows: Vec<_> = ratings.map(|row| (row.name, row.rating)).collect();
        files::write(path, &chart::draw(&rows))?;
    }
    if args.json {
        println!("{}", serde_json::to_string(&ladder)?);
    } else {
        print!("{}", ladder.table());
    }
    Ok(match stop.load(Ordering::Relaxed) {
        true => ExitCode::from(interrupt::EXIT_CODE),
        false => ExitCode::SUCCESS,
    })
}

/// Everybody against everybody else, once; in a gauntlet the first against each.
fn meetings(engines: usize, gauntlet: bool) -> Vec<[usize; 2]> {
    let meetings = (0..engines).flat_map(|second| (0..second).map(move |first| [first, second]));
    meetings
        .filter(|&[first, _]| first == 0 || !gauntlet)
        .collect()
}

/// Plays all meetings side by side, so that what is interrupted is even.
fn play(
    args: &LadderArgs,
    names: &[String],
    meetings: &[[usize; 2]],
    stop: &AtomicBool,
) -> Result<Vec<Tally>> {
    let pairs = args.games / 2;
    let book = args.conditions.openings(Some(pairs))?;
    let tournament = Tournament {
        specs: &args.engines,
        paces: &args.conditions.paces(&args.engines)?,
        rules: &args.conditions.rules(),
        concurrency: args.conditions.concurrency.into(),
        stop,
    };
    let schedule = |number: usize| {
        let round = number / meetings.len();
        (round < pairs).then(|| Pairing {
            number,
            engines: meetings[number % meetings.len()],
            opening: book.opening(round),
        })
    };
    let mut pgn = args.conditions.pgn()?;
    let mut tallies = vec![Tally::default(); meetings.len()];
    let mut progress = Progress::new(Some((meetings.len() * args.games) as u64));
    tournament.play(schedule, |pairing, games| {
        tallies[pairing.number % meetings.len()].add_pair(games);
        if let Some(pgn) = &mut pgn {
            pgn.append_pair(pairing, names, games)?;
        }
        let done: u64 = tallies.iter().map(Tally::games).sum();
        progress.show(done, || format!("{done} games"));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(tallies)
}

impl<'a> Ladder<'a> {
    fn new(names: &'a [String], meetings: &[[usize; 2]], tallies: &[Tally]) -> Ladder<'a> {
        let results: Vec<_> = (meetings.iter().zip(tallies))
            .map(|(&engines, tally)| (engines, tally.pairs))
            .collect();
        let ratings = ratings::rate(names.len(), &results);
        let mut standings: Vec<Standing> = (names.iter().zip(ratings).enumerate())
            .map(|(engine, (name, rating))| Standing::new(name, rating, engine, &results))
            .collect();
        standings.sort_by(|a, b| b.rating.elo.total_cmp(&a.rating.elo));
        let encounters = meetings
            .iter()
            .zip(tallies)
            .map(|(engines, tally)| Encounter {
                engines: engines.map(|engine| &*names[engine]),
                wins: tally.wins,
                draws: tally.draws,
                losses: tally.losses,
                pairs: tally.pairs,
                time_losses: tally.conduct.map(|conduct| conduct.time_losses),
                illegal_moves: tally.conduct.map(|conduct| conduct.illegal_moves),
                crashes: tally.conduct.map(|conduct| conduct.crashes),
                hangs: tally.conduct.map(|conduct| conduct.hangs),
            });
        Ladder {
            ratings: standings,
            encounters: encounters.collect(),
        }
    }

    fn table(&self) -> String {
        let width = self
            .ratings
            .iter()
            .map(|row| row.name.chars().count())
            .max();
        let width = width.unwrap_or_default();
        let mut text = format!("{:width$}      Elo   95 %  games   score\n", "");
        for row in &self.ratings {
            let error = row.rating.elo_error;
            let error = error.map_or("anchor".to_string(), |error| format!("{error:.1}"));
            let _ = writeln!(
                text,
                "{:width$}  {:>7.1} {error:>6}  {:>5}  {:>4.1} %",
                row.name,
                row.rating.elo,
                row.games,
                100.0 * row.score
            );
        }
        for meeting in self
            .encounters
            .iter()
            .filter(|meeting| meeting.forfeits() > 0)
        {
            let [first, second] = meeting.engines;
            let _ = writeln!(
                text,
                "{first} - {second}: time losses {:?}, illegal moves {:?}, crashes {:?}, hangs {:?}",
                meeting.time_losses, meeting.illegal_moves, meeting.crashes, meeting.hangs
            );
        }
        text
    }
}

impl<'a> Standing<'a> {
    fn new(
        name: &'a str,
        rating: Rating,
        engine: usize,
        results: &[([usize; 2], Pentanomial)],
    ) -> Standing<'a> {
        let (mut games, mut points) = (0, 0.0);
        for (engines, pairs) in results {
            let score = pairs.score().0;
            let share = match engines.iter().position(|&other| other == engine) {
                Some(0) => score,
                Some(_) => 1.0 - score,
                None => continue,
            };
            games += 2 * pairs.pairs();
            points += share * (2 * pairs.pairs()) as f64;
        }
        Standing {
            name,
            rating,
            games,
            score: points / games.max(1) as f64,
        }
    }
}

impl Encounter<'_> {
    /// Games that did not end on the board.
    fn forfeits(&self) -> u64 {
        let counts = [
            self.time_losses,
            self.illegal_moves,
            self.crashes,
            self.hangs,
        ];
        counts.iter().flatten().sum()
    }
}
