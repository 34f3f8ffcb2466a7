//! `arena suite`: solves EPD test suites.

mod epd;
mod solver;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::{ArgGroup, Args};
use cozy_chess::util::display_san_move;
use host::{ExitCode, StopSignal, print, thousands};
use serde::Serialize;
use thiserror::Error;
use uci_client::UciScore;

use crate::players::spec::EngineSpec;
use crate::tournament::progress::Progress;
use crate::usage::{exit_codes, usage};
use epd::{Problem, Task};
use solver::{Solution, Solver, SolverLimits};

/// Upper limit of a suite's size.
const MAX_BYTES: u64 = 1 << 30;

fn help() -> String {
    let codes = exit_codes(&[
        (
            ExitCode::Other,
            "a mate is announced that is shorter than the published one, or for the wrong side",
        ),
        (
            ExitCode::Damaged,
            "a line of the suite is invalid, or it has no problem",
        ),
    ]);
    format!(
        "\
Examples:
  arena suite wac.epd --nodes 100000 --json
  arena suite wac.epd --nodes 100000 --engine 'cmd=\"stockfish\" option.Hash=64'

The engine is the embedded net, unless --engine names another as for `arena match`: a net,
net=FILE with hash=MIB and threads=N, or a program, cmd=\"PROGRAM ARGUMENTS\" option.NAME=VALUE.
Each problem is searched from an empty table. `bm` and `am` count by the move played, STS's `c8`
and `c9` give points, `bm #N` asks for the mate in N moves.

Exit codes:
{codes}"
    )
}

/// Arguments of `arena suite`.
#[derive(Args)]
#[command(group(ArgGroup::new("limit").required(true)), after_help = help())]
pub struct SuiteArgs {
    /// EPD file with one problem per line, such as `8/.../8 w - - bm Qg6; id "WAC.001";`
    #[arg(value_name = "FILE.epd")]
    suite: PathBuf,
    /// Node limit per problem
    #[arg(long, group = "limit")]
    nodes: Option<u64>,
    /// Time per problem, in milliseconds
    #[arg(long, value_name = "MS", group = "limit")]
    movetime: Option<u64>,
    /// Depth limit per problem, in plies
    #[arg(long, group = "limit")]
    depth: Option<u64>,
    /// Engine to test [default: the embedded net]; see below
    #[arg(short, long, value_name = "SPEC")]
    engine: Option<EngineSpec>,
    /// Search threads; with --engine give threads= or option.Threads=
    #[arg(
        short,
        long,
        value_name = "N",
        default_value_t = 1,
        conflicts_with = "engine"
    )]
    threads: usize,
    /// Search for the published mate, as `go mate N` does
    #[arg(long)]
    go_mate: bool,
    /// Print the counts as JSON
    #[arg(long)]
    json: bool,
}

impl SuiteArgs {
    /// Returns the engine to test.
    fn engine(&self) -> Result<EngineSpec> {
        let own = format!("net=embedded threads={}", self.threads);
        let engine = self.engine.clone().map_or_else(|| own.parse(), Ok);
        let engine: EngineSpec = engine.map_err(|why| usage(&format!("--threads: {why}")))?;
        match engine.pace {
            None => Ok(engine),
            Some(pace) => Err(usage(&format!(
                "--engine: give the limit as an option, not {}",
                pace.argument()
            ))),
        }
    }

    /// Returns the limits of each search.
    fn limits(&self) -> SolverLimits {
        SolverLimits {
            nodes: self.nodes,
            movetime: self.movetime.map(Duration::from_millis),
            depth: self.depth,
            go_mate: self.go_mate,
        }
    }
}

/// Reasons to refuse a suite.
#[derive(Debug, Error)]
pub enum ProblemError {
    /// A line that is not a problem in EPD.
    #[error("{line}: {why}")]
    Line { line: String, why: String },
    /// The file has no problem.
    #[error("{path:?} has no problem: give an EPD file with one problem a line")]
    Empty { path: PathBuf },
}

impl ProblemError {
    fn new(line: &str, why: &anyhow::Error) -> ProblemError {
        ProblemError::Line {
            line: line.to_string(),
            why: format!("{why:#}"),
        }
    }
}

/// Counts over a suite.
#[derive(Default, Serialize)]
struct SuiteScore {
    problems: usize,
    solved: usize,
    /// Points earned, and the maximum.
    points: u32,
    most_points: u32,
    /// Problems that ask for a mate, and those in which any mate was announced.
    mates: usize,
    mates_found: usize,
    /// Announced mates with a legal best line that ends in mate; `None` for a program, as its lines
    /// are not read.
    mates_shown: Option<usize>,
    /// Mates shorter than the published ones, or for the wrong side.
    mates_wrong: Vec<String>,
    unsolved: Vec<String>,
    nodes: u64,
    seconds: f64,
}

impl SuiteScore {
    /// Counts a problem and returns whether it is solved.
    fn count(&mut self, problem: &Problem, solution: &Solution) -> bool {
        let solved = match &problem.task {
            Task::Mate(moves) => self.count_mate(*moves, problem, solution),
            Task::Move {
                best,
                avoid,
                points,
            } => {
                let worth =
                    |(mv, points): &(_, u32)| (Some(*mv) == solution.best).then_some(*points);
                self.points += points.iter().find_map(worth).unwrap_or(0);
                self.most_points += points.iter().map(|(_, points)| *points).max().unwrap_or(0);
                solution.best.is_some_and(|mv| {
                    (best.is_empty() || best.contains(&mv)) && !avoid.contains(&mv)
                })
            }
        };
        self.problems += 1;
        self.nodes += solution.nodes;
        if solved {
            self.solved += 1;
        } else {
            self.unsolved.push(problem.id.clone());
        }
        solved
    }

    fn count_mate(&mut self, published: i32, problem: &Problem, solution: &Solution) -> bool {
        self.mates += 1;
        let Some(UciScore::Mate(found)) = solution.score else {
            return false;
        };
        self.mates_found += 1;
        if let Some(shown) = &mut self.mates_shown {
            *shown += usize::from(solution.line_mates);
        }
        if found.signum() != published.signum() || found.abs() < published.abs() {
            let id = &problem.id;
            self.mates_wrong
                .push(format!("{id}: mate {found}, published {published}"));
        }
        found == published
    }

    /// Returns the counts as text.
    fn table(&self) -> String {
        let percent = |part: f64, whole: f64| 100.0 * part / whole.max(1.0);
        let share = percent(self.solved as f64, self.problems as f64);
        let mut text = format!(
            "solved  {} of {}, {share:.1} %\n",
            self.solved, self.problems
        );
        if self.most_points > 0 {
            let share = percent(self.points.into(), self.most_points.into());
            text += &format!(
                "points  {} of {}, {share:.1} %\n",
                self.points, self.most_points
            );
        }
        if self.mates > 0 {
            let share = percent(self.mates_found as f64, self.mates as f64);
            let shown = self.mates_shown;
            let shown = shown.map_or(String::new(), |shown| {
                format!(" {shown} shown to their end;")
            });
            text += &format!(
                "mates   {} found, {share:.1} %;{shown} {} wrong\n",
                self.mates_found,
                self.mates_wrong.len()
            );
            for wrong in &self.mates_wrong {
                text += &format!("wrong   {wrong}\n");
            }
        }
        text + &format!(
            "nodes   {} in {:.1} s\n",
            thousands(self.nodes),
            self.seconds
        )
    }
}

/// Solves the suite and prints the counts.
///
/// # Errors
/// If the file cannot be read, a line is invalid, or the engine fails.
pub fn run(args: &SuiteArgs) -> Result<ExitCode> {
    let stop = StopSignal::listen().context("cannot listen to signals")?;
    let tally = match solve(args, &stop) {
        Err(_) if stop.is_asked() => return Ok(stop.exit_code()),
        solved => solved?,
    };
    print(&match args.json {
        true => serde_json::to_string(&tally)? + "\n",
        false => tally.table(),
    })?;
    Ok(match tally.mates_wrong.is_empty() {
        _ if stop.is_asked() => stop.exit_code(),
        true => ExitCode::Done,
        false => ExitCode::Other,
    })
}

/// Solves the problems in order, until `stop` is set.
fn solve(args: &SuiteArgs, stop: &StopSignal) -> Result<SuiteScore> {
    let bytes = host::read(&args.suite, MAX_BYTES)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let problems: Vec<Problem> = lines
        .map(|line| Problem::parse(line).map_err(|error| ProblemError::new(line, &error)))
        .collect::<Result<_, ProblemError>>()?;
    if problems.is_empty() {
        let path = args.suite.clone();
        return Err(ProblemError::Empty { path }.into());
    }
    let mut solver = Solver::new(&args.engine()?, args.limits(), stop.flag())?;
    let mut tally = SuiteScore {
        mates_shown: solver.reads_lines().then_some(0),
        ..SuiteScore::default()
    };
    let mut progress = Progress::new(Some(problems.len() as u64), 0);
    let start = Instant::now();
    for problem in &problems {
        let solution = solver.solve(problem);
        // An interrupted search does not count.
        if stop.is_asked() {
            break;
        }
        let solution = solution?;
        if !tally.count(problem, &solution) && !args.json {
            progress.suspend(|| print(&(played(problem, &solution) + "\n")))?;
        }
        progress.show(tally.problems as u64, |_| {
            format!("{} of {} solved", tally.solved, tally.problems)
        });
    }
    tally.seconds = start.elapsed().as_secs_f64();
    Ok(tally)
}

/// Describes the wrong answer to a problem.
fn played(problem: &Problem, solution: &Solution) -> String {
    let board = problem.position.board();
    let score = match solution.score {
        Some(UciScore::Centipawns(centipawns)) => format!("cp {centipawns}"),
        Some(UciScore::Mate(moves)) => format!("mate {moves}"),
        None => "no score".to_string(),
    };
    let best = solution
        .best
        .map(|mv| display_san_move(board, mv).to_string());
    format!(
        "{}  {} ({score}, depth {})",
        problem.id,
        best.as_deref().unwrap_or("no move"),
        solution.depth
    )
}
