//! The engine that solves a suite: a net in this process, or a UCI program.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result};
use cozy_chess::{GameStatus, Move};
use engine::{Limits, Outcome, Position, TimeBudget, is_chess960, parse_move, write_fen};
use uci_client::{EngineProcess, Library, UciScore};

use super::epd::{Problem, Task};
use crate::players::pace::HANG_TIMEOUT;
use crate::players::player::Player;
use crate::players::spec::EngineSpec;

/// Timeout of a program's search without a time limit.
const MAX_SEARCH_TIME: Duration = Duration::from_secs(24 * 3600);

/// Limits of each search.
#[derive(Clone, Copy)]
pub struct SolverLimits {
    pub nodes: Option<u64>,
    pub movetime: Option<Duration>,
    /// Depth in plies.
    pub depth: Option<u64>,
    /// Whether to search for the published mate, as `go mate N` does.
    pub go_mate: bool,
}

/// An engine and the limits of its searches.
pub struct Solver<'a> {
    player: Player,
    limits: SolverLimits,
    stop: &'a AtomicBool,
}

/// An engine's answer to a problem.
pub struct Solution {
    /// Best move; `None` if the engine gave no legal one.
    pub best: Option<Move>,
    /// Last exact score, for the side to move.
    pub score: Option<UciScore>,
    /// Depth searched, in plies.
    pub depth: u32,
    /// Nodes searched; for a program, as last reported.
    pub nodes: u64,
    /// Whether the best line is read, legal, and ends in the mate that the score announces.
    pub line_mates: bool,
}

impl<'a> Solver<'a> {
    /// Starts the engine.
    ///
    /// # Errors
    /// If a program cannot be started, or a net cannot be loaded.
    pub fn new(
        engine: &EngineSpec,
        limits: SolverLimits,
        stop: &'a AtomicBool,
    ) -> Result<Solver<'a>> {
        let player = Player::start(engine, stop)?;
        Ok(Solver {
            player,
            limits,
            stop,
        })
    }

    /// Returns whether the engine's best lines are read; those of a program are not.
    pub fn reads_lines(&self) -> bool {
        matches!(self.player, Player::Library(_))
    }

    /// Searches a problem from an empty table.
    ///
    /// # Errors
    /// If a program crashes or hangs.
    pub fn solve(&mut self, problem: &Problem) -> Result<Solution> {
        let mate = match problem.task {
            Task::Mate(moves) if self.limits.go_mate => Some(moves.unsigned_abs()),
            _ => None,
        };
        match &mut self.player {
            Player::Library(library) => {
                let limits = self.limits.with(mate);
                Ok(search(library, &problem.position, &limits, self.stop))
            }
            Player::Beginner(beginner) => Ok(Solution {
                best: beginner.best_move(problem.position.board()),
                score: None,
                depth: 0,
                nodes: 0,
                line_mates: false,
            }),
            Player::Process(engine) => ask(engine, problem, self.limits, mate, self.stop)
                .with_context(|| format!("{}, asked for {:?}", engine.name(), problem.id)),
        }
    }
}

impl SolverLimits {
    /// Returns the limits of a search in this process.
    fn with(self, mate: Option<u32>) -> Limits {
        let fixed = |time| TimeBudget::fixed(time, Duration::ZERO);
        Limits {
            nodes: self.nodes,
            time: self.movetime.map(fixed),
            depth: self.depth,
            mate,
            ..Limits::default()
        }
    }
}

fn search(
    library: &mut Library,
    position: &Position,
    limits: &Limits,
    stop: &AtomicBool,
) -> Solution {
    library.new_game();
    let outcome = library.search(position, limits, stop, &mut |_| {});
    Solution {
        best: outcome.best,
        score: Some(outcome.score.into()),
        depth: outcome.depth,
        nodes: outcome.nodes,
        line_mates: line_mates(position, &outcome),
    }
}

/// Returns whether the best line is legal and ends in mate after as many plies as the score
/// announces.
fn line_mates(position: &Position, outcome: &Outcome) -> bool {
    let line = outcome.lines.first().map_or(&[][..], |line| &line.pv);
    let mut position = position.clone();
    line.iter().all(|&mv| position.play(mv).is_ok())
        && outcome.score.plies_to_mate() == Some(line.len())
        && position.board().status() == GameStatus::Won
}

fn ask(
    engine: &mut EngineProcess,
    problem: &Problem,
    limits: SolverLimits,
    mate: Option<u32>,
    stop: &AtomicBool,
) -> Result<Solution> {
    let board = problem.position.board();
    let mut go = "go".to_string();
    let movetime = limits.movetime.map(|time| time.as_millis() as u64);
    let of = [
        ("mate", mate.map(u64::from)),
        ("nodes", limits.nodes),
        ("movetime", movetime),
        ("depth", limits.depth),
    ];
    for (name, value) in of {
        go += &value.map_or(String::new(), |value| format!(" {name} {value}"));
    }
    let timeout = (limits.movetime).map_or(MAX_SEARCH_TIME, |time| time + HANG_TIMEOUT);
    engine.new_game(is_chess960(board));
    engine.ready(stop)?;
    engine.position(&format!("position fen {}", write_fen(board)), stop)?;
    let answer = engine.go(&go, timeout, stop)?;
    Ok(Solution {
        best: parse_move(board, &answer.best).ok(),
        score: answer.info.exact(),
        depth: answer.info.depth.unwrap_or_default(),
        nodes: answer.info.nodes.unwrap_or_default(),
        line_mates: false,
    })
}
