//! `arena tune`: SPSA tuning of an engine's options.

mod chart;
mod record;

use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use charts::Point;
use clap::Args;
use host::durable::NewFile;
use host::{Action, ExitCode, FileError, StopSignal, print, tell, thousands};
use serde::Serialize;
use thiserror::Error;

use crate::games::openings::Book;
use crate::games::pairing::{OptionValues, Pairing};
use crate::players::player::Player;
use crate::players::spec::{EngineSpec, Program};
use crate::statistics::spsa::{Parameter, Spsa};
use crate::tournament::conditions::{Conditions, even, hang_help};
use crate::tournament::games_file::{Existing, Settings};
use crate::tournament::match_score::MatchScore;
use crate::tournament::progress::Progress;
use crate::tournament::schedule::{End, Tournament};
use crate::usage::{exit_codes, interrupted, usage};

pub use record::RecordError;
use record::RunRecord;

/// Iterations that start from the same values, so that the outcome does not depend on the
/// concurrency. The record is written after each batch.
const BATCH: usize = 16;
/// Approximate number of plotted points per parameter.
const POINTS: usize = 300;
/// Upper limit of a parameter file's size.
const MAX_BYTES: u64 = 1 << 20;

fn help() -> String {
    format!(
        "\
Example: the margins of the search, 20,000 games of 5,000 nodes a move:
  cargo build --release -p engine --features tune
  engine spsa > margins.spsa
  arena tune --engine 'cmd=\"target/release/engine\"' --parameters margins.spsa --nodes 5000 \\
      --book openings.epd --games 20000 --concurrency 2 --out margins.json --plot margins.svg

--parameters has one option of the engine per line, in OpenBench's format for SPSA:
  NAME, int, VALUE, MIN, MAX, C_END, R_END
Delete the lines that are not to be tuned. In each pair of games all options are changed by about
C_END up or down, in opposite directions for the two engines. --seed decides how. {BATCH} pairs
start from the same values, so a --concurrency above {BATCH} is of no use.
{}

--out is replaced after every {BATCH} pairs. After any interruption, kill -9 included, the same
command with --resume continues to the same outcome; --concurrency may change. With one thread and
a limit in nodes or depth, the same command always has the same outcome.

Exit codes:
{}",
        hang_help(),
        exit_codes(&[
            (ExitCode::Done, "played to the end"),
            (
                ExitCode::Damaged,
                "the book or the parameters are damaged or empty"
            ),
            (
                ExitCode::Refused,
                "--out is refused: it exists, or has other settings"
            ),
        ])
    )
}

/// Arguments of `arena tune`.
#[derive(Args)]
#[command(after_help = help())]
pub struct TuneArgs {
    /// Program with the parameters as options: cmd="PROGRAM ARGUMENTS" option.NAME=VALUE
    #[arg(short, long, value_name = "SPEC")]
    engine: EngineSpec,
    /// File of the parameters to tune; see below
    #[arg(long, value_name = "FILE")]
    parameters: PathBuf,
    /// Number of games, even
    #[arg(long, value_parser = even)]
    games: u64,
    #[command(flatten)]
    conditions: Conditions,
    /// Record of the run, for --resume; an existing one is replaced only with --force
    #[arg(short, long, value_name = "FILE.json")]
    out: PathBuf,
    /// Continue the run of --out, or start a new one
    #[arg(long)]
    resume: bool,
    /// Replace an existing --out once the first games are played
    #[arg(long, conflicts_with = "resume")]
    force: bool,
    /// Plot the values of all parameters to FILE.svg
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Reasons to refuse a parameter file.
#[derive(Debug, Error)]
pub enum ParametersError {
    /// A line that is not a parameter.
    #[error("parameters {path:?}, line {line}: {reason}")]
    Line {
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        reason: String,
    },
    /// A file without parameters.
    #[error("parameters {path:?}: there is none")]
    Empty { path: PathBuf },
}

/// Plays the games and prints the tuned values.
///
/// # Errors
/// If a file cannot be used or the engine cannot be started. Forfeited games are not errors.
pub fn run(args: &TuneArgs) -> Result<ExitCode> {
    let Program::Command(_) = args.engine.program else {
        return Err(usage(
            "parameters are options of a program: give --engine cmd=PROGRAM",
        ));
    };
    let parameters = read_parameters(&args.parameters)?;
    let stop = StopSignal::listen().context("cannot listen to signals")?;
    let cannot_write = || FileError::to(Action::Write, args.plot.clone().unwrap_or_default());
    if let Some(plot) = &args.plot {
        host::check_free_for_markup(plot)?;
    }
    let plot = (args.plot.as_deref()).map(|path| NewFile::create(path, ".tmp"));
    let plot = plot.transpose().map_err(cannot_write())?;
    let mut run = Run::new(Spsa::new(parameters, args.games / 2, args.conditions.seed));
    let end = End::of(play(args, &mut run, &stop))?;
    print(&match args.json {
        true => serde_json::to_string(&run.summary())? + "\n",
        false => run.table(),
    })?;
    if let Some(mut plot) = plot {
        let paces = args.conditions.paces(std::slice::from_ref(&args.engine))?;
        let conditions = format!("{}; {} games", paces[0].describe(), thousands(run.games()));
        let parameters = &run.spsa.parameters;
        let svg = chart::draw(parameters, &run.thinned(), args.games, &conditions);
        let written = plot.write_all(svg.as_bytes());
        (written.and_then(|()| plot.commit())).map_err(cannot_write())?;
    }
    Ok(match end {
        End::Stopped => stop.exit_code(),
        End::Complete | End::Enough => ExitCode::Done,
    })
}

/// Plays the rest of the run and records it.
fn play(args: &TuneArgs, run: &mut Run, stop: &StopSignal) -> Result<End> {
    let specs = [args.engine.clone(), args.engine.clone()];
    let paces = args.conditions.paces(&specs)?;
    let iterations = args.games / 2;
    let book = args.conditions.openings(Some(iterations))?;
    let mut settings = Settings::from([("--games".to_string(), args.games.to_string())]);
    for parameter in &run.spsa.parameters {
        settings.insert(parameter.name.clone(), parameter.to_string());
    }
    let rules = args.conditions.rules()?;
    let settings = (args.conditions).settings(settings, &specs, &paces, &book, stop.flag())?;
    run.check(&args.engine, stop)?;
    let existing = Existing::of(args.resume, args.force);
    let mut record = RunRecord::open(&args.out, settings, existing)?;
    record.results.iter().for_each(|&result| run.learn(result));
    let tournament = (args.conditions).tournament(&specs, &paces, rules, &[], stop.flag());
    let end = play_batches(args, &tournament, &book, run, &mut record);
    record.remove_if_empty(&args.out);
    if matches!(end, Ok(End::Stopped)) && record.is_resumable() {
        tell(interrupted(args.force));
    }
    end
}

/// Plays the iterations in batches and records each batch.
fn play_batches(
    args: &TuneArgs,
    tournament: &Tournament,
    book: &Book,
    run: &mut Run,
    record: &mut RunRecord,
) -> Result<End> {
    let iterations = args.games / 2;
    let mut progress = Progress::new(Some(args.games), run.games());
    let mut end = End::Complete;
    while run.learnt < iterations && end == End::Complete {
        let begin = run.learnt as usize;
        let size = BATCH.min((iterations - run.learnt) as usize);
        let rivals: Vec<_> = (begin..begin + size).map(|i| run.rivals(i)).collect();
        let schedule = |number: usize| {
            let options = rivals.get(number)?;
            Some(Pairing {
                number,
                engines: [0, 1],
                opening: book.opening(begin + number),
                options: [&options[0], &options[1]],
            })
        };
        let mut results = vec![0; size];
        let mut played = 0;
        end = tournament.play(schedule, |pairing, games| {
            let pair = MatchScore::of_pair(games);
            results[pairing.number] = pair.wins as i8 - pair.losses as i8;
            if pair.is_broken() {
                let iteration = begin + pairing.number + 1;
                let with = &rivals[pairing.number];
                progress.suspend(|| {
                    tell(format!(
                        "pair {iteration}: the engine lost other than on the board, with one of {with:?}"
                    ))
                });
            }
            played += 1;
            progress.show(run.games() + 2 * played, |_| run.line());
            Ok(ControlFlow::Continue(()))
        })?;
        if end == End::Complete {
            results.iter().for_each(|&result| run.learn(result));
            record.results.extend(results);
            record.save(&args.out)?;
        }
    }
    Ok(end)
}

fn read_parameters(path: &Path) -> Result<Vec<Parameter>> {
    let bytes = host::read(path, MAX_BYTES)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut parameters: Vec<Parameter> = Vec::new();
    for (text, line) in text.lines().zip(1..) {
        if text.trim().is_empty() {
            continue;
        }
        let wrong = |reason| ParametersError::Line {
            path: path.into(),
            line,
            reason,
        };
        let parameter: Parameter = text.parse().map_err(wrong)?;
        if parameters.iter().any(|other| other.name == parameter.name) {
            return Err(wrong(format!("{} is there twice", parameter.name)).into());
        }
        parameters.push(parameter);
    }
    match parameters.is_empty() {
        true => Err(ParametersError::Empty { path: path.into() }.into()),
        false => Ok(parameters),
    }
}

/// State of a run.
struct Run {
    spsa: Spsa,
    learnt: u64,
    /// Games and the value after them, by parameter.
    trajectories: Vec<Vec<Point>>,
}

/// Tuned value of one parameter.
#[derive(Serialize)]
struct Tuned<'a> {
    name: &'a str,
    start: i32,
    value: f64,
    /// The value as the engine takes it.
    rounded: i32,
}

/// Result of a run.
#[derive(Serialize)]
struct Summary<'a> {
    games: u64,
    parameters: Vec<Tuned<'a>>,
}

impl Run {
    fn new(spsa: Spsa) -> Run {
        let trajectories = spsa.values.iter().map(|&value| vec![(0.0, value)]);
        Run {
            trajectories: trajectories.collect(),
            learnt: 0,
            spsa,
        }
    }

    /// Checks that the engine accepts the bounds and the start value of each parameter.
    ///
    /// # Errors
    /// If the engine cannot be started, lacks an option or refuses a value.
    fn check(&self, engine: &EngineSpec, stop: &StopSignal) -> Result<()> {
        let mut player = Player::start(engine, stop.flag())?;
        for parameter in &self.spsa.parameters {
            let values = [parameter.min, parameter.max, parameter.start];
            let options = values.map(|value| (parameter.name.clone(), value.to_string()));
            player.set_options(&options)?;
        }
        Ok(())
    }

    /// Returns the option values of both engines in an iteration.
    fn rivals(&self, iteration: usize) -> [OptionValues; 2] {
        let rivals = self.spsa.rivals(iteration as u64);
        rivals.map(|values| {
            let named = self.spsa.parameters.iter().zip(values);
            named
                .map(|(parameter, value)| (parameter.name.clone(), value.to_string()))
                .collect()
        })
    }

    /// Applies the result of the next iteration.
    fn learn(&mut self, result: i8) {
        self.spsa.learn(self.learnt, result);
        self.learnt += 1;
        let games = self.games() as f64;
        for (trajectory, &value) in self.trajectories.iter_mut().zip(&self.spsa.values) {
            trajectory.push((games, value));
        }
    }

    fn games(&self) -> u64 {
        2 * self.learnt
    }

    /// Returns about `POINTS` points of each trajectory, the first and last among them.
    fn thinned(&self) -> Vec<Vec<Point>> {
        let every = self.learnt as usize / POINTS + 1;
        let thin = |trajectory: &Vec<Point>| {
            let some = trajectory.iter().rev().step_by(every);
            let mut some: Vec<Point> = some.copied().chain([trajectory[0]]).collect();
            some.reverse();
            some
        };
        self.trajectories.iter().map(thin).collect()
    }

    /// Returns the two parameters that moved most, measured in their `c_end`, with their values.
    fn line(&self) -> String {
        let moved = |i: usize| {
            let parameter = &self.spsa.parameters[i];
            (self.spsa.values[i] - f64::from(parameter.start)) / parameter.c_end
        };
        let mut order: Vec<usize> = (0..self.spsa.values.len()).collect();
        order.sort_by(|&a, &b| moved(b).abs().total_cmp(&moved(a).abs()));
        let shown = order.iter().take(2).map(|&i| {
            let (parameter, value) = (&self.spsa.parameters[i], self.spsa.values[i]);
            format!("{} {value:.1}", parameter.name)
        });
        shown.collect::<Vec<String>>().join(", ")
    }

    fn summary<'a>(&'a self) -> Summary<'a> {
        let parameters = self.spsa.parameters.iter().zip(&self.spsa.values);
        let tuned = |(parameter, &value): (&'a Parameter, &f64)| Tuned {
            name: &parameter.name,
            start: parameter.start,
            value,
            rounded: value.round() as i32,
        };
        Summary {
            games: self.games(),
            parameters: parameters.map(tuned).collect(),
        }
    }

    fn table(&self) -> String {
        let names = self.spsa.parameters.iter();
        let width = names.map(|parameter| parameter.name.len()).max();
        let width = width.unwrap_or_default().max("parameter".len());
        let mut text = format!("{:width$}   start     now\n", "parameter");
        for Tuned {
            name,
            start,
            rounded,
            ..
        } in self.summary().parameters
        {
            let _ = writeln!(text, "{name:width$}  {start:>6}  {rounded:>6}");
        }
        text + &format!("after {} games\n", thousands(self.games()))
    }
}
