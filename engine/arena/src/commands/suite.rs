//! `arena suite`: test positions through the library, and what the search solves.

mod epd;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::{ArgGroup, Args};
use cozy_chess::util::display_san_move;
use engine::{Engine, Evaluator, Limits, Outcome, Position, Score, Signals, TimeBudget};
use host::{ExitCode, print};
use serde::Serialize;
use thiserror::Error;

use crate::tournament::progress::Progress;
use crate::usage::exit_codes;
use epd::{Problem, Task};

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
Example: arena suite wac.epd --nodes 100000 --json

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
    /// Threads of the search
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Tell the search which mate is asked for, as `go mate N` does
    #[arg(long)]
    go_mate: bool,
    /// Print the counts as JSON
    #[arg(long)]
    json: bool,
}

impl SuiteArgs {
    /// What one search may use.
    fn limits(&self) -> Limits {
        let time = self.movetime.map(Duration::from_millis);
        Limits {
            nodes: self.nodes,
            time: time.map(|time| TimeBudget::fixed(time, Duration::ZERO)),
            depth: self.depth,
            ..Limits::default()
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

/// An engine and what each of its searches may use.
struct Solver {
    engine: Engine,
    limits: Limits,
    go_mate: bool,
}

impl Solver {
    fn new(args: &SuiteArgs) -> Result<Solver> {
        let evaluator = Evaluator::embedded().context("the embedded network")?;
        let mut engine = Engine::new(evaluator);
        engine.set_threads(args.threads);
        Ok(Solver {
            engine,
            limits: args.limits(),
            go_mate: args.go_mate,
        })
    }

    fn search(&mut self, problem: &Problem) -> Outcome {
        let mut limits = self.limits.clone();
        if let Task::Mate(moves) = problem.task
            && self.go_mate
        {
            limits.mate = Some(moves.unsigned_abs());
        }
        // The library reads no clock: its caller does. Another thread could set
        // `stop`; here nothing but the limits ends a search.
        let start = Instant::now();
        let stop = AtomicBool::new(false);
        let signals = Signals {
            stop: &stop,
            pondering: None,
            elapsed: &|| start.elapsed(),
        };
        // So that no problem profits from the one before.
        self.engine.clear();
        // The callback hears of every iteration; the outcome is enough here.
        self.engine
            .search(&problem.position, &limits, &signals, &mut |_| {})
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
    /// Of these, those whose line is legal and ends in the mate announced.
    mates_shown: usize,
    /// Mates shorter than the published ones, or for the wrong side.
    mates_wrong: Vec<String>,
    unsolved: Vec<String>,
    nodes: u64,
    seconds: f64,
}

impl SuiteScore {
    /// Counts a problem; whether it is solved.
    fn count(&mut self, problem: &Problem, outcome: &Outcome) -> bool {
        let solved = match &problem.task {
            Task::Mate(moves) => self.count_mate(*moves, problem, outcome),
            Task::Move {
                best,
                avoid,
                points,
            } => {
                let worth =
                    |(mv, points): &(_, u32)| (Some(*mv) == outcome.best).then_some(*points);
                self.points += points.iter().find_map(worth).unwrap_or(0);
                self.most_points += points.iter().map(|(_, points)| *points).max().unwrap_or(0);
                outcome.best.is_some_and(|mv| {
                    (best.is_empty() || best.contains(&mv)) && !avoid.contains(&mv)
                })
            }
        };
        self.problems += 1;
        self.nodes += outcome.nodes;
        if solved {
            self.solved += 1;
        } else {
            self.unsolved.push(problem.id.clone());
        }
        solved
    }

    fn count_mate(&mut self, published: i32, problem: &Problem, outcome: &Outcome) -> bool {
        self.mates += 1;
        let Some(found) = mate_in(outcome.score) else {
            return false;
        };
        self.mates_found += 1;
        self.mates_shown += usize::from(line_mates(&problem.position, outcome));
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
            text += &format!(
                "mates   {} found, {share:.1} %; {} shown to their end; {} wrong\n",
                self.mates_found,
                self.mates_shown,
                self.mates_wrong.len()
            );
            for wrong in &self.mates_wrong {
                text += &format!("wrong   {wrong}\n");
            }
        }
        text + &format!("nodes   {} in {:.1} s\n", self.nodes, self.seconds)
    }
}

/// The moves to an announced mate, negative where the side to move is mated.
fn mate_in(score: Score) -> Option<i32> {
    let plies = score.plies_to_mate()? as i32;
    Some(match score > Score::DRAW {
        true => (plies + 1) / 2,
        false => -plies / 2,
    })
}

/// Whether the best line is legal and ends in mate after as many plies as the
/// score says.
fn line_mates(position: &Position, outcome: &Outcome) -> bool {
    let line = outcome.lines.first().map_or(&[][..], |line| &line.pv);
    let mut position = position.clone();
    line.iter().all(|&mv| position.play(mv).is_ok())
        && outcome.score.plies_to_mate() == Some(line.len())
        && position.board().status() == cozy_chess::GameStatus::Won
}

/// Solves the suite and prints the counts.
///
/// # Errors
/// Where the file cannot be read, or a line of it is no problem.
pub fn run(args: &SuiteArgs) -> Result<ExitCode> {
    let tally = solve(args)?;
    print(&match args.json {
        true => serde_json::to_string(&tally)? + "\n",
        false => tally.table(),
    })?;
    Ok(match tally.mates_wrong.is_empty() {
        true => ExitCode::Done,
        false => ExitCode::Other,
    })
}

fn solve(args: &SuiteArgs) -> Result<SuiteScore> {
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
    let mut solver = Solver::new(args)?;
    let mut tally = SuiteScore::default();
    let mut progress = Progress::new(Some(problems.len() as u64), 0);
    let start = Instant::now();
    for problem in &problems {
        let outcome = solver.search(problem);
        if !tally.count(problem, &outcome) && !args.json {
            progress.suspend(|| print(&(played(problem, &outcome) + "\n")))?;
        }
        progress.show(tally.problems as u64, |_| {
            format!("{} of {} solved", tally.solved, tally.problems)
        });
    }
    tally.seconds = start.elapsed().as_secs_f64();
    Ok(tally)
}

/// What was played where something else was asked.
fn played(problem: &Problem, outcome: &Outcome) -> String {
    let board = problem.position.board();
    let best = outcome
        .best
        .map(|mv| display_san_move(board, mv).to_string());
    format!(
        "{}  {} ({}, depth {})",
        problem.id,
        best.as_deref().unwrap_or("no move"),
        outcome.score,
        outcome.depth
    )
}
