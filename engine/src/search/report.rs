//! Signals to a running search, and its reports and outcome.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cozy_chess::Move;

use crate::evaluation::Score;
use crate::search::transposition_table::ScoreBound;

/// Stop condition of a search: a flag set by another thread, or any other check.
pub trait Interrupt: Sync {
    /// Returns whether to stop. Called every few hundred nodes of the first thread, which has
    /// searched `nodes` so far.
    fn is_due(&self, nodes: u64) -> bool;
}

impl Interrupt for AtomicBool {
    fn is_due(&self, _: u64) -> bool {
        self.load(Ordering::Relaxed)
    }
}

/// Callbacks and flags of a search's environment.
pub struct Signals<'a> {
    /// Stops the search.
    pub stop: &'a dyn Interrupt,
    /// Pondering: no time limit applies while true.
    pub pondering: Option<&'a AtomicBool>,
    /// Returns the time since the search was requested.
    pub elapsed: &'a (dyn Fn() -> Duration + Sync),
}

impl Signals<'_> {
    pub(super) fn is_pondering(&self) -> bool {
        self.pondering
            .is_some_and(|pondering| pondering.load(Ordering::Relaxed))
    }
}

/// Progress report on one line, after or within an iteration.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// Iteration, in plies.
    pub depth: u32,
    /// Selective depth: plies of the longest line searched.
    pub seldepth: usize,
    /// Rank of the line (MultiPV), from 1.
    pub rank: usize,
    /// Score of the line, from the side to move's point of view.
    pub score: Score,
    /// Whether `score` is exact or a bound.
    pub bound: ScoreBound,
    /// Nodes so far, all threads.
    pub nodes: u64,
    /// Time so far.
    pub time: Duration,
    /// Share of the transposition table used by this search, in permille.
    pub hashfull: usize,
    /// Tablebase hits so far.
    pub tablebase_hits: u64,
    /// Moves of the line.
    pub pv: &'a [Move],
}

/// A line and its score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Score from the side to move's point of view.
    pub score: Score,
    /// Moves, at least one.
    pub pv: Vec<Move>,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Move to play; `None` without legal moves.
    pub best: Option<Move>,
    /// Score of `best`, from the side to move's point of view.
    pub score: Score,
    /// Last finished iteration.
    pub depth: u32,
    /// Nodes of all threads.
    pub nodes: u64,
    /// Number of threads that searched: fewer than configured if the system had no more, 0 without
    /// legal moves.
    pub threads: usize,
    /// Requested lines, best first.
    pub lines: Vec<Line>,
}
