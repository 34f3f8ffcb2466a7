//! What a search is told, and what it tells.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cozy_chess::Move;

use crate::evaluation::Score;
use crate::search::transposition_table::ScoreBound;

/// Who can end a search: a flag that another thread sets, or anything else.
pub trait Interrupt: Sync {
    /// Whether to end: asked every few hundred nodes of the first thread, which has searched
    /// so many by now.
    fn is_due(&self, nodes: u64) -> bool;
}

impl Interrupt for AtomicBool {
    fn is_due(&self, _: u64) -> bool {
        self.load(Ordering::Relaxed)
    }
}

/// What a search needs from the world around it.
pub struct Signals<'a> {
    /// Ends the search.
    pub stop: &'a dyn Interrupt,
    /// While this is true, no time limit counts.
    pub pondering: Option<&'a AtomicBool>,
    /// Time since the search was asked for.
    pub elapsed: &'a (dyn Fn() -> Duration + Sync),
}

impl Signals<'_> {
    pub(super) fn is_pondering(&self) -> bool {
        self.pondering
            .is_some_and(|pondering| pondering.load(Ordering::Relaxed))
    }
}

/// What is known of one line, after an iteration or within one.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// Plies of the iteration.
    pub depth: u32,
    /// Plies of the longest line looked at.
    pub seldepth: usize,
    /// The line's place among those asked for, from 1.
    pub rank: usize,
    /// The value of the line, from the view of the side to move.
    pub score: Score,
    /// What `score` says of the true one.
    pub bound: ScoreBound,
    /// Nodes so far, of all threads.
    pub nodes: u64,
    /// Time so far.
    pub time: Duration,
    /// How full the transposition table is, in thousandths.
    pub hashfull: usize,
    /// Positions that tablebases knew.
    pub tablebase_hits: u64,
    /// The line.
    pub pv: &'a [Move],
}

/// A line and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// From the view of the side to move.
    pub score: Score,
    /// At least one move.
    pub pv: Vec<Move>,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The move to play; `None` only where there is no legal move.
    pub best: Option<Move>,
    /// Its score, from the view of the side to move.
    pub score: Score,
    /// The last finished iteration.
    pub depth: u32,
    /// All nodes of all threads.
    pub nodes: u64,
    /// How many threads searched: fewer than asked for where the system had no
    /// more; none where there is no legal move.
    pub threads: usize,
    /// The lines asked for, best first.
    pub lines: Vec<Line>,
}
