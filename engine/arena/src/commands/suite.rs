//! `arena suite`: test positions, and what an engine solves of them.

mod epd;
mod solver;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{ArgGroup, Args};
use cozy_chess::util::display_san_move;
use host::{ExitCode, StopSignal, print};
use serde::Serialize;
use thiserror::Error;
use uci_client::Score;

use crate::players::spec::EngineSpec;
use crate::tournament::progress::Progress;
use crate::usage::{exit_codes, usage};
use epd::{Problem, Task};
use solver::{Solution, Solver};

/// Far more than any suite has.
const MAX_BYTES: u64 = 1 << 30;

fn help() -> String {
    let codes = exit_codes(&[
        (
            ExitCode::Other,
            "a mate is announced that is shorter than the published one, or for the wrong side",
        ),
        (
            ExitCode::Damaged,
            "a line of the suite is no problem, or it has none",
        ),
    ]);
    format!(
        "\
Examples:
  arena suite wac.epd --nodes 100000 --json
  arena suite wac.epd --nodes 100000 --engine 'cmd=\"stockfish\" option.Hash=64'

The engine is the net within, unless --engine names another as `arena match` does: a net, net=FILE
with hash=MIB and threads=N, or a program, cmd=\"PROGRAM ARGUMENTS\" option.NAME=VALUE. Each
problem is searched from an empty table. `bm` and `am` count by the move played, STS's `c8`
and `c9` give points, `bm #N` asks for the mate in N moves.

Exit codes:
{codes}"
    )
}

/// Arguments of `arena suite`.
#[derive(Args)]
#[command(group(ArgGroup::new("limit").required(true)), after_help = help())]
pub struct SuiteArgs {
    /// One problem a line, such as `8/.../8 w - - bm Qg6; id "WAC.001";`
    #[arg(value_name = "FILE.epd")]
    suite: PathBuf,
    /// Nodes a problem
    #[arg(long, group = "limit")]
    nodes: Option<u64>,
    /// Milliseconds a problem
    #[arg(long, value_name = "MS", group = "limit")]
    movetime: Option<u64>,
    /// Plies a problem
    #[arg(long, group = "limit")]
    depth: Option<u64>,
    /// The engine that is asked; see below
    #[arg(long, value_name = "SPEC")]
    engine: Option<EngineSpec>,
    /// Threads of the search; with --engine give threads= or option.Threads=
    #[arg(long, default_value_t = 1, conflicts_with = "engine")]
    threads: usize,
    /// Tell the search which mate is asked for, as `go mate N` does
    #[arg(long)]
    go_mate: bool,
    /// Print the counts as JSON
    #[arg(long)]
    json: bool,
}

impl SuiteArgs {
    /// The engine that is asked.
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
}

/// Why a suite was refused.
#[derive(Debug, Error)]
pub enum ProblemError {
    /// A line that is not a problem in EPD.
    #[error("{line}: {why}")]
    Line {
        /// The line as it stands.
        line: String,
        /// The reason.
        why: String,
    },
    /// The file has no problem.
    #[error("{path:?} has no problem: give an EPD file with one problem a line")]
    Empty {
        /// The suite as the user named it.
        path: PathBuf,
    },
}

impl ProblemError {
    fn new(line: &str, why: &anyhow::Error) -> ProblemError {
        ProblemError::Line {
            line: line.to_string(),
            why: format!("{why:#}"),
        }
    }
}

/// The counts of a suite.
#[derive(Default, Serialize)]
struct SuiteScore {
    problems: usize,
    solved: usize,
    /// Points earned, and the most that could be.
    points: u32,
    most_points: u32,
    /// Problems that ask for a mate; of these, those where any was announced.
    mates: usize,
    mates_found: usize,
    /// Of these, those whose line is legal and ends in the mate announced; `None` of a
    /// program, whose lines are not read.
    mates_shown: Option<usize>,
    /// Mates shorter than the published ones, or for the wrong side.
    mates_wrong: Vec<String>,
    unsolved: Vec<String>,
    nodes: u64,
    seconds: f64,
}

impl SuiteScore {
    /// Counts a problem; whether it is solved.
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
        let Some(Score::Mate(found)) = solution.score else {
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

    /// In words.
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
        text + &format!("nodes   {} in {:.1} s\n", self.nodes, self.seconds)
    }
}

/// Solves the suite and prints the counts.
///
/// # Errors
/// Where the file cannot be read, a line of it is no problem, or the engine fails.
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

/// Solves problem after problem, until `stop` is set.
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
    let mut solver = Solver::new(args, stop.flag())?;
    let mut tally = SuiteScore {
        mates_shown: solver.reads_lines().then_some(0),
        ..SuiteScore::default()
    };
    let mut progress = Progress::new(Some(problems.len() as u64), 0);
    let start = Instant::now();
    for problem in &problems {
        let solution = solver.solve(problem);
        // A search that was broken off tells nothing of the engine.
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

/// What was played where something else was asked.
fn played(problem: &Problem, solution: &Solution) -> String {
    let board = problem.position.board();
    let score = match solution.score {
        Some(Score::Centipawns(centipawns)) => format!("cp {centipawns}"),
        Some(Score::Mate(moves)) => format!("mate {moves}"),
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
