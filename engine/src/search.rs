//! The search: principal variation search in deepening iterations, on one
//! thread or several over a shared table.

mod deepening;
mod moves;
mod node;
pub(crate) mod params;
pub(crate) mod picker;
mod quiescence;
mod reductions;
mod report;
mod root;

use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use cozy_chess::{Board, Move};

use crate::mop_up::mop_up;
use crate::table::{Known, ScoreBound, Table};
use crate::worker::{RootMove, Worker};
use crate::{
    Evaluator, Limits, Position, Score, Tablebase, Wdl, has_legal_move, insufficient_material,
};
pub(crate) use reductions::Reductions;
pub use report::{Line, Outcome, Report, Signals};

/// How many nodes pass between two looks at the clock and the stop flag.
const NODES_PER_LOOK: u64 = 512;

/// What all threads of a search have in common.
pub(crate) struct Shared<'a> {
    evaluator: &'a Evaluator,
    table: &'a Table,
    tablebase: Option<&'a dyn Tablebase>,
    limits: &'a Limits,
    signals: &'a Signals<'a>,
    reductions: &'a Reductions,
    /// What the tablebase says of the root.
    known: Option<Wdl>,
    /// Set by the first thread to end the others, and by any that panics.
    halt: AtomicBool,
    /// Nodes and tablebase hits of all threads, as of their last looks.
    nodes: AtomicU64,
    tablebase_hits: AtomicU64,
}

impl<'a> Shared<'a> {
    pub(crate) fn new(
        evaluator: &'a Evaluator,
        table: &'a Table,
        tablebase: Option<&'a dyn Tablebase>,
        limits: &'a Limits,
        signals: &'a Signals<'a>,
        reductions: &'a Reductions,
    ) -> Shared<'a> {
        Shared {
            evaluator,
            table,
            tablebase,
            limits,
            signals,
            reductions,
            known: None,
            halt: AtomicBool::new(false),
            nodes: AtomicU64::new(0),
            tablebase_hits: AtomicU64::new(0),
        }
    }

    /// Whether a mate is all that is asked for: then nobody passes, since
    /// zugzwang is what many problems are about.
    fn seeks_mate(&self) -> bool {
        self.limits.mate.is_some()
    }
}

/// Searches with all workers; the first reports.
pub(crate) fn run(
    shared: &mut Shared,
    workers: &mut [Worker],
    position: &Position,
    report: &mut dyn FnMut(&Report),
) -> Outcome {
    let root = root_moves(shared, position.board());
    if root.is_empty() {
        return no_moves(position.board());
    }
    for worker in &mut *workers {
        worker.start();
        worker.tree.start(position, shared.evaluator);
        worker.root.clone_from(&root);
    }
    let shared = &*shared;
    let (first, helpers) = workers.split_first_mut().expect("an engine has a worker");
    if helpers.is_empty() {
        // WebAssembly has no threads.
        return Searcher::new(shared, first, 0)
            .deepen(report)
            .outcome(shared, 1);
    }
    thread::scope(|scope| {
        let halt = HaltOnDrop(&shared.halt);
        let mut threads = Vec::new();
        for (index, worker) in helpers.iter_mut().enumerate() {
            let help = move || {
                let halt = HaltOnDrop(&shared.halt);
                let best = Searcher::new(shared, worker, index + 1).deepen(&mut |_| {});
                // Whoever has no more to do does not end the search of others.
                mem::forget(halt);
                best
            };
            match thread::Builder::new().spawn_scoped(scope, help) {
                Ok(thread) => threads.push(thread),
                // The system has no more: the search does without.
                Err(_) => break,
            }
        }
        let mut best = Searcher::new(shared, first, 0).deepen(report);
        drop(halt);
        let searched = 1 + threads.len();
        let mut by_helper = false;
        for thread in threads {
            match thread.join() {
                Ok(other) if other.is_better_than(&best) => (best, by_helper) = (other, true),
                Ok(_) => {}
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        if by_helper {
            best.tell(shared, report);
        }
        best.outcome(shared, searched)
    })
}

/// Ends the search of all threads when it is dropped, which a panic does too.
struct HaltOnDrop<'a>(&'a AtomicBool);

impl Drop for HaltOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The moves to look at from the root: those asked for, and of these the ones
/// that a tablebase calls best.
fn root_moves(shared: &mut Shared, board: &Board) -> Vec<RootMove> {
    let wanted = &shared.limits.moves;
    let mut moves: Vec<Move> = Vec::new();
    board.generate_moves(|piece_moves| {
        moves.extend(piece_moves);
        false
    });
    if moves.iter().any(|mv| wanted.contains(mv)) {
        moves.retain(|mv| wanted.contains(mv));
    }
    if let Some(tablebase) = shared.tablebase
        && board.occupied().len() <= tablebase.max_pieces()
        && let Some((wdl, keeping)) = tablebase.root_moves(board)
        && keeping.iter().any(|mv| moves.contains(mv))
    {
        shared.tablebase_hits.fetch_add(1, Ordering::Relaxed);
        moves = keeping
            .into_iter()
            .filter(|mv| moves.contains(mv))
            .collect();
        shared.known = Some(wdl);
    }
    // What is answered if there is no time for more.
    let score = shared.evaluator.evaluate_board(board);
    moves
        .into_iter()
        .map(|mv| RootMove {
            pv: vec![mv],
            score,
            bound: ScoreBound::Exact,
            nodes: 0,
        })
        .collect()
}

/// The outcome where the game is over.
fn no_moves(board: &Board) -> Outcome {
    Outcome {
        best: None,
        score: no_move_score(board, 0),
        depth: 0,
        nodes: 0,
        threads: 0,
        lines: Vec::new(),
    }
}

/// The score of a position without legal moves.
fn no_move_score(board: &Board, ply: usize) -> Score {
    if board.checkers().is_empty() {
        Score::DRAW
    } else {
        Score::mated_in(ply)
    }
}

/// A limit was reached: the scores on the way are worth nothing.
struct Halted;

/// One thread's search.
struct Searcher<'a> {
    shared: &'a Shared<'a>,
    worker: &'a mut Worker,
    /// Its number; 0 reports, and looks at the clock.
    index: usize,
    /// The last finished iteration.
    depth: i32,
    nodes: u64,
    /// Of these, those that the shared counter has.
    counted: u64,
    tablebase_hits: u64,
    seldepth: usize,
    /// Null moves are not tried before this ply while one is verified.
    null_from: usize,
}

impl<'a> Searcher<'a> {
    fn new(shared: &'a Shared, worker: &'a mut Worker, index: usize) -> Searcher<'a> {
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
    fn enter_node(&mut self) -> Result<(), Halted> {
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
        self.limits_count() && (signals.stop.load(Ordering::Relaxed) || is_over())
    }

    /// Whether nodes, time and who waits may end the search yet: what an iteration
    /// has not finished is no answer. What the first thread owes
    /// ([`Limits::least_depth`]), the others need not wait for.
    fn limits_count(&self) -> bool {
        self.index > 0 || self.depth >= self.shared.limits.least_depth
    }

    fn share_counters(&mut self) {
        let new = self.nodes - self.counted;
        self.shared.nodes.fetch_add(new, Ordering::Relaxed);
        self.counted = self.nodes;
        let hits = std::mem::take(&mut self.tablebase_hits);
        self.shared
            .tablebase_hits
            .fetch_add(hits, Ordering::Relaxed);
    }

    fn elapsed(&self) -> Duration {
        (self.shared.signals.elapsed)()
    }

    /// The network's value of the present position, from the table where that
    /// has it; none in check.
    fn evaluate_quiet(&mut self, known: Option<&Known>) -> Option<Score> {
        let checkers = self.worker.tree.board().checkers();
        let evaluate = || self.evaluate();
        checkers.is_empty().then(|| {
            known
                .and_then(|known| known.evaluation)
                .unwrap_or_else(evaluate)
        })
    }

    /// Plays a move, and has its position's entry fetched.
    #[inline(always)]
    fn play(&mut self, mv: Move) {
        let Worker { tree, .. } = &mut *self.worker;
        tree.push(mv);
        self.shared.table.prefetch(tree.key());
    }

    fn evaluate(&mut self) -> Score {
        let Worker { tree, .. } = &mut *self.worker;
        let evaluator = self.shared.evaluator;
        let driving = evaluator.network().and_then(|_| mop_up(tree.board()));
        driving.unwrap_or_else(|| tree.evaluate(evaluator))
    }

    /// A draw by repetition, by the fifty-move rule or by material. Mate on
    /// the hundredth ply comes before the fifty-move rule.
    fn rule_draw(&self) -> Option<Score> {
        let tree = &self.worker.tree;
        let board = tree.board();
        if insufficient_material(board) || tree.is_repetition() {
            return Some(Score::DRAW);
        }
        let fifty_moves = board.halfmove_clock() >= 100;
        (fifty_moves && (board.checkers().is_empty() || has_legal_move(board)))
            .then_some(Score::DRAW)
    }
}
