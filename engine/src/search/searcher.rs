//! Search thread: counters, limits, and the steps common to all nodes.

use std::sync::atomic::Ordering;
use std::time::Duration;

use cozy_chess::{Board, Move};

use crate::board::rules::FIFTY_MOVES;
use crate::board::{has_legal_move, insufficient_material};
use crate::endgame::Wdl;
use crate::evaluation::Score;
use crate::evaluation::mop_up::mop_up;
use crate::search::shared::Shared;
use crate::search::thread_data::ThreadData;
use crate::search::transposition_table::TableEntry;

/// Nodes between two checks of the clock and the stop flag.
const NODES_PER_LOOK: u64 = 512;

/// The search was aborted; pending scores are invalid.
pub(super) struct Halted;

/// A search thread during one search.
pub(super) struct Searcher<'a> {
    pub(super) shared: &'a Shared<'a>,
    pub(super) thread: &'a mut ThreadData,
    /// Thread number; thread 0 reports and checks the clock.
    pub(super) index: usize,
    /// Last finished iteration.
    pub(super) depth: i32,
    pub(super) nodes: u64,
    /// Part of `nodes` already added to the shared counter.
    pub(super) counted: u64,
    pub(super) tablebase_hits: u64,
    pub(super) seldepth: usize,
    /// Ply before which null moves are disabled, during a verification search.
    pub(super) null_from: usize,
}

impl<'a> Searcher<'a> {
    pub(super) fn new(
        shared: &'a Shared,
        thread: &'a mut ThreadData,
        index: usize,
    ) -> Searcher<'a> {
        Searcher {
            shared,
            thread,
            index,
            depth: 0,
            nodes: 0,
            counted: 0,
            tablebase_hits: 0,
            seldepth: 0,
            null_from: 0,
        }
    }

    /// Counts a node; `Err` if a limit is reached.
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
        self.seldepth = self.seldepth.max(self.thread.tree.ply());
        Ok(())
    }

    /// Publishes the counters and returns whether to stop.
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

    /// Returns whether limits apply yet: the first thread finishes [`Limits::least_depth`] first,
    /// since an unfinished iteration gives no answer; helpers need not.
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

    /// Returns the uncorrected evaluation of the current position, from `entry` if stored there;
    /// `None` in check.
    pub(super) fn evaluate_quiet(&mut self, entry: Option<&TableEntry>) -> Option<Score> {
        let checkers = self.thread.tree.board().checkers();
        let evaluate = || self.evaluate();
        checkers.is_empty().then(|| {
            entry
                .and_then(|entry| entry.evaluation)
                .unwrap_or_else(evaluate)
        })
    }

    /// Plays a move and prefetches its table entry.
    #[inline(always)]
    pub(super) fn play(&mut self, mv: Move) {
        let ThreadData { tree, .. } = &mut *self.thread;
        tree.push(mv);
        self.shared.table.prefetch(tree.key());
    }

    pub(super) fn evaluate(&mut self) -> Score {
        let ThreadData { tree, .. } = &mut *self.thread;
        let evaluator = self.shared.evaluator;
        let driving = evaluator.network().and_then(|_| mop_up(tree.board()));
        driving.unwrap_or_else(|| tree.evaluate(evaluator))
    }

    /// Returns a draw by repetition, the fifty-move rule or insufficient material. Mate on the
    /// hundredth ply takes precedence over the fifty-move rule.
    pub(super) fn rule_draw(&self) -> Option<Score> {
        let tree = &self.thread.tree;
        let board = tree.board();
        if insufficient_material(board) || tree.is_repetition() {
            return Some(Score::DRAW);
        }
        let fifty_moves = board.halfmove_clock() >= FIFTY_MOVES;
        (fifty_moves && (board.checkers().is_empty() || has_legal_move(board)))
            .then_some(Score::DRAW)
    }

    /// Returns the tablebase's result of the current position, to be searched to `depth`. Probes only
    /// at halfmove clock 0, as the tables assume, and below a root that they do not cover.
    pub(super) fn probe_tablebase(&mut self, depth: i32) -> Option<Wdl> {
        let tablebase = self.shared.tablebase?;
        let board = self.thread.tree.board();
        let (pieces, most) = (board.occupied().len(), tablebase.max_pieces());
        let applies = self.shared.root_wdl.is_none()
            && board.halfmove_clock() == 0
            && (pieces < most || pieces == most && depth >= tablebase.probe_depth());
        let wdl = applies.then(|| tablebase.wdl(board))??;
        self.tablebase_hits += 1;
        Some(wdl)
    }

    /// Raises alpha to a draw if the mover can repeat a position.
    #[inline(always)]
    pub(super) fn at_least_a_draw(&self, alpha: Score) -> Score {
        match alpha < Score::DRAW && self.thread.tree.can_repeat() {
            true => Score::DRAW,
            false => alpha,
        }
    }
}

/// Returns the score of a position without legal moves: mate or stalemate.
pub(super) fn no_move_score(board: &Board, ply: usize) -> Score {
    if board.checkers().is_empty() {
        Score::DRAW
    } else {
        Score::mated_in(ply)
    }
}
