//! `arena ladder`: round robins and gauntlets of engines or nets, with ratings.

mod chart;

use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{self, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use host::durable::NewFile;
use host::{StopSignal, tell};
use serde::Serialize;

use crate::games::pairing::Pairing;
use crate::games::pgn;
use crate::players::pace::Pace;
use crate::players::spec::{self, EngineSpec, Program};
use crate::statistics::pentanomial::Pentanomial;
use crate::statistics::ratings::{self, Rating};
use crate::tournament::conditions::{Conditions, Each, KeptGames, even, hang_help};
use crate::tournament::games_file::Settings;
use crate::tournament::match_score::MatchScore;
use crate::tournament::progress::Progress;
use crate::tournament::schedule::End;
use crate::usage::{PGN_REFUSED, exit_codes, interrupted, usage};
use host::{Action, ExitCode, FileError, Form, print, thousands};

fn help() -> String {
    format!(
        "\
Example: nets of three generations and material alone, 40 games between any two:
  arena ladder material gen1.safetensors gen2.safetensors embedded --depth 4 \\
      --games 40 --book openings.epd --concurrency 2 --plot ladder.svg
A gauntlet against other programs:
  arena ladder --gauntlet embedded 'cmd=\"toga2\"' 'cmd=\"stockfish\" movetime=10' --tc 2+0.02 \\
      --games 200 --book openings.epd

Elo is logistic and relative to the first engine: the likeliest ratings for all results together,
with one drawn game added between any two that meet. The 95 % interval is that of the difference
to the first engine. Engines are named as for `arena match`: nets by their file, programs as
'cmd=\"PROGRAM ARGUMENTS\" name=NAME option.NAME=VALUE', either with a limit of its own; and
beginners, beginner=random and beginner=greedy, which need none.
{}

Exit codes:
{}",
        hang_help(),
        exit_codes(&[
            (ExitCode::Done, "played to the end"),
            (ExitCode::Damaged, "the book is damaged, or has no opening"),
            PGN_REFUSED,
        ])
    )
}

/// Arguments of `arena ladder`.
#[derive(Args)]
#[command(after_help = help())]
pub struct LadderArgs {
    /// Nets or engines; see below
    #[arg(value_name = "NET", required = true)]
    engines: Vec<EngineSpec>,
    /// Games per pairing, an even number
    #[arg(long, value_parser = even)]
    games: u64,
    /// Gauntlet: the first engine plays each of the others
    #[arg(long)]
    gauntlet: bool,
    #[command(flatten)]
    each: Each,
    #[command(flatten)]
    conditions: Conditions,
    #[command(flatten)]
    kept: KeptGames,
    /// Plot the ratings to FILE.svg
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Result of a ladder.
#[derive(Serialize)]
struct Ladder<'a> {
    /// Ratings, the best first.
    ratings: Vec<Standing<'a>>,
    encounters: Vec<Encounter<'a>>,
}

/// Rating and score of one engine.
#[derive(Serialize)]
struct Standing<'a> {
    name: &'a str,
    #[serde(flatten)]
    rating: Rating,
    games: u64,
    /// Share of the points, 0 to 1.
    score: f64,
}

/// Score of all games between two engines.
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
/// If a file cannot be used or an engine cannot be started; the result so far is printed. Forfeited
/// games are not errors.
pub fn run(args: &LadderArgs) -> Result<ExitCode> {
    let count = args.engines.len();
    if count < 2 {
        return Err(usage("a ladder needs two engines or more"));
    }
    if let (Some(plot), Some(pgn)) = (&args.plot, &args.kept.pgn)
        && path::absolute(plot).ok() == path::absolute(pgn).ok()
    {
        return Err(usage(
            "--plot would replace the games of --pgn: name two files",
        ));
    }
    let engines = args.each.complete(&args.engines)?;
    let names = spec::names(&engines);
    let meetings = meetings(count, args.gauntlet);
    let stop = StopSignal::listen().context("cannot listen to signals")?;
    // Fails before the games, not after, if the plot cannot be written.
    let cannot_write = || FileError::to(Action::Write, args.plot.clone().unwrap_or_default());
    if let Some(plot) = &args.plot {
        host::check_free_for_markup(plot)?;
    }
    let plot = args
        .plot
        .as_deref()
        .map(|path| NewFile::create(path, ".tmp"));
    let plot = plot.transpose().map_err(cannot_write())?;
    let mut tallies = vec![MatchScore::default(); meetings.len()];
    let end = End::of(play(args, &engines, &names, &meetings, &stop, &mut tallies));
    if end.is_ok() || games(&tallies) > 0 {
        let ladder = Ladder::new(&names, &meetings, &tallies);
        print(&match args.json {
            true => serde_json::to_string(&ladder)? + "\n",
            false => ladder.table(),
        })?;
        if let Some(mut plot) = plot {
            let ratings = ladder.ratings.iter();
            let rows: Vec<_> = ratings.map(|row| (row.name, row.rating)).collect();
            let paces = args.conditions.paces(&engines)?;
            // Beginners have no limit.
            let paces: Vec<(&str, Pace)> = engines
                .iter()
                .zip(names.iter().zip(paces))
                .filter(|(engine, _)| !matches!(engine.program, Program::Beginner(_)))
                .map(|(_, (name, pace))| (&**name, pace))
                .collect();
            let conditions = chart::conditions(&paces, games(&tallies));
            let written = plot.write_all(chart::draw(&rows, &conditions).as_bytes());
            written
                .and_then(|()| plot.commit())
                .map_err(cannot_write())?;
        }
    }
    Ok(match end? {
        End::Stopped => stop.exit_code(),
        End::Complete | End::Enough => ExitCode::Done,
    })
}

/// Returns the number of games so far.
fn games(tallies: &[MatchScore]) -> u64 {
    tallies.iter().map(MatchScore::games).sum()
}

/// Returns the pairings: a round robin, or a gauntlet of the first engine.
fn meetings(engines: usize, gauntlet: bool) -> Vec<[usize; 2]> {
    let meetings = (0..engines).flat_map(|second| (0..second).map(move |first| [first, second]));
    meetings
        .filter(|&[first, _]| first == 0 || !gauntlet)
        .collect()
}

/// Plays all pairings side by side, so that an interrupted ladder is balanced.
fn play(
    args: &LadderArgs,
    engines: &[EngineSpec],
    names: &[String],
    meetings: &[[usize; 2]],
    stop: &StopSignal,
    tallies: &mut [MatchScore],
) -> Result<End> {
    let paces = args.conditions.paces(engines)?;
    let pairs = args.games / 2;
    let book = args.conditions.openings(Some(pairs))?;
    let settings = [
        ("the command", "ladder".to_string()),
        ("--gauntlet", args.gauntlet.to_string()),
    ];
    let settings = settings.map(|(name, value)| (name.to_string(), value));
    let settings = Settings::from(settings);
    let rules = args.conditions.rules()?;
    let settings = || (args.conditions).settings(settings, engines, &paces, &book, stop.flag());
    let (mut file, played) = args.kept.open(settings)?;
    for pair in &played {
        tallies[pair.number % meetings.len()].add(&pair.tally);
    }
    let tournament = (args.conditions).tournament(engines, &paces, rules, &played, stop.flag());
    let schedule = |number: usize| {
        let round = number / meetings.len();
        ((round as u64) < pairs).then(|| Pairing {
            number,
            engines: meetings[number % meetings.len()],
            opening: book.opening(round),
            options: [&[]; 2],
        })
    };
    let all = args.games.saturating_mul(meetings.len() as u64);
    let mut progress = Progress::with_table(all, games(tallies));
    let end = tournament.play(schedule, |pairing, played| {
        let pair = MatchScore::of_pair(played);
        if let Some(file) = &mut file {
            file.append(
                pairing.number,
                &pair,
                &pgn::write_pair(pairing, names, played),
            )?;
        }
        tallies[pairing.number % meetings.len()].add(&pair);
        let done = games(tallies);
        progress.show(done, |form| match form {
            Form::Bar => Ladder::new(names, meetings, tallies).table(),
            Form::Line { .. } => format!("{} games", thousands(done)),
        });
        Ok(ControlFlow::Continue(()))
    })?;
    drop(progress);
    if end == End::Stopped && file.is_some_and(|file| file.is_resumable()) {
        tell(interrupted(args.kept.force));
    }
    Ok(end)
}

impl<'a> Ladder<'a> {
    fn new(names: &'a [String], meetings: &[[usize; 2]], tallies: &[MatchScore]) -> Ladder<'a> {
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
        let mut text = format!("{:width$}      Elo             95 %  games   score\n", "");
        for row in &self.ratings {
            let interval = match row.rating.elo_interval {
                Some([low, high]) => format!("{low:+.1} to {high:+.1}"),
                None => "anchor".to_string(),
            };
            let _ = writeln!(
                text,
                "{:width$}  {:>+7.1} {interval:>16}  {:>5}  {:>4.1} %",
                row.name,
                row.rating.elo,
                thousands(row.games),
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
    /// Returns the number of games lost other than on the board.
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
