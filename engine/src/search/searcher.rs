//! One thread's search: its counters, its limits, and what every node does.

use std::sync::atomic::Ordering;
use std::time::Duration;

use cozy_chess::{Board, Move};

use crate::board::rules::FIFTY_MOVES;
use crate::board::{has_legal_move, insufficient_material};
use crate::evaluation::Score;
use crate::evaluation::mop_up::mop_up;
use crate::search::shared::Shared;
use crate::search::transposition_table::TableEntry;
use crate::search::worker::Worker;

/// How many nodes pass between two looks at the clock and the stop flag.
const NODES_PER_LOOK: u64 = 512;

/// A limit was reached: the scores on the way are worth nothing.
pub(super) struct Halted;

/// One thread's search.
pub(super) struct Searcher<'a> {
    pub(super) shared: &'a Shared<'a>,
    pub(super) worker: &'a mut Worker,
    /// Its number; 0 reports, and looks at the clock.
    pub(super) index: usize,
    /// The last finished iteration.
    pub(super) depth: i32,
    pub(super) nodes: u64,
    /// Of these, those that the shared counter has.
    pub(super) counted: u64,
    pub(super) tablebase_hits: u64,
    pub(super) seldepth: usize,
    /// Null moves are not tried before this ply while one is verified.
    pub(super) null_from: usize,
}

impl<'a> Searcher<'a> {
    pub(super) fn new(shared: &'a Shared, worker: &'a mut Worker, index: usize) -> Searcher<'a> {
        Searcher {
            shared,
            worker,
            index,
            depth: 0,
            nodes: 0,
            counted: 0,
            tablebase_hits: 0,
            seldepth: 0,
            null_from: 0,
        }
    }

    /// Counts a node, unless a limit forbids it.
    #[inline(always)]
    pub(super) fn enter_node(&mut self) -> Result<(), Halted> {
        if self.nodes.is_multiple_of(NODES_PER_LOOK) && self.must_stop() {
            return Err(Halted);
        }
        let others = || self.shared.nodes.load(Ordering::Relaxed) - self.counted;
        let limit = self.shared.limits.nodes;
        if limit.is_some_and(|limit| self.nodes + others() >= limit) && self.limits_count() {
            return Err(Halted);
        }
        self.nodes += 1;
        self.seldepth = self.seldepth.max(self.worker.tree.ply());
        Ok(())
    }

    /// Shares the counters, and looks whether time is up.
    fn must_stop(&mut self) -> bool {
        self.share_counters();
        if self.shared.halt.load(Ordering::Relaxed) {
            return true;
        }
        if self.index > 0 {
            return false;
        }
        let signals = self.shared.signals;
        let out_of_time = || {
            let time = self.shared.limits.time;
            time.is_some_and(|budget| (signals.elapsed)() >= budget.hard)
        };
        let is_over = || !signals.is_pondering() && out_of_time();
        self.limits_count() && (signals.stop.is_due(self.nodes) || is_over())
    }

    /// Whether nodes, time and who waits may end the search yet: what an iteration
    /// has not finished is no answer. What the first thread owes
    /// ([`Limits::least_depth`]), the others need not wait for.
    fn limits_count(&self) -> bool {
        self.index > 0 || self.depth >= self.shared.limits.least_depth
    }

    pub(super) fn share_counters(&mut self) {
        let new = self.nodes - self.counted;
        self.shared.nodes.fetch_add(new, Ordering::Relaxed);
        self.counted = self.nodes;
        let hits = std::mem::take(&mut self.tablebase_hits);
        self.shared
            .tablebase_hits
            .fetch_add(hits, Ordering::Relaxed);
    }

    pub(super) fn elapsed(&self) -> Duration {
        (self.shared.signals.elapsed)()
    }

    /// The network's value of the present position, from the table where that
    /// has it; none in check.
    pub(super) fn evaluate_quiet(&mut self, entry: Option<&TableEntry>) -> Option<Score> {
        let checkers = self.worker.tree.board().checkers();
        let evaluate = || self.evaluate();
        checkers.is_empty().then(|| {
            entry
                .and_then(|entry| entry.evaluation)
                .unwrap_or_else(evaluate)
        })
    }

    /// Plays a move, and has its position's entry fetched.
    #[inline(always)]
    pub(super) fn play(&mut self, mv: Move) {
        let Worker { tree, .. } = &mut *self.worker;
        tree.push(mv);
        self.shared.table.prefetch(tree.key());
    }

    pub(super) fn evaluate(&mut self) -> Score {
        let Worker { tree, .. } = &mut *self.worker;
        let evaluator = self.shared.evaluator;
        let driving = evaluator.network().and_then(|_| mop_up(tree.board()));
        driving.unwrap_or_else(|| tree.evaluate(evaluator))
    }

    /// A draw by repetition, by the fifty-move rule or by material. Mate on
    /// the hundredth ply comes before the fifty-move rule.
    pub(super) fn rule_draw(&self) -> Option<Score> {
        let tree = &self.worker.tree;
        let board = tree.board();
        if insufficient_material(board) || tree.is_repetition() {
            return Some(Score::DRAW);
        }
        let fifty_moves = board.halfmove_clock() >= FIFTY_MOVES;
        (fifty_moves && (board.checkers().is_empty() || has_legal_move(board)))
            .then_some(Score::DRAW)
    }

    /// The lower end of the window: a draw where the mover can repeat a position.
    #[inline(always)]
    pub(super) fn at_least_a_draw(&self, alpha: Score) -> Score {
        match alpha < Score::DRAW && self.worker.tree.can_repeat() {
            true => Score::DRAW,
            false => alpha,
        }
    }
}

/// The score of a position without legal moves.
pub(super) fn no_move_score(board: &Board, ply: usize) -> Score {
    if board.checkers().is_empty() {
        Score::DRAW
    } else {
        Score::mated_in(ply)
    }
}
