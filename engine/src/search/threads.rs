//! Multi-threaded search: sets up the root, runs all threads and picks the best result.

use std::sync::atomic::{AtomicBool, Ordering};
use std::{mem, thread};

use cozy_chess::Board;

use crate::board::{Position, legal_moves};
use crate::search::report::{Outcome, Report};
use crate::search::searcher::{Searcher, no_move_score};
use crate::search::shared::Shared;
use crate::search::thread_data::{RootMove, ThreadData};
use crate::search::transposition_table::ScoreBound;

/// Searches on all threads; the first reports.
pub(super) fn run(
    shared: &mut Shared,
    threads: &mut [ThreadData],
    position: &Position,
    report: &mut dyn FnMut(&Report),
) -> Outcome {
    let root = moves_to_search(shared, position.board());
    if root.is_empty() {
        return no_moves(position.board());
    }
    for thread in &mut *threads {
        thread.start();
        thread.tree.start(position, shared.evaluator);
        thread.root.clone_from(&root);
    }
    let shared = &*shared;
    let lead = |thread: &mut ThreadData| Searcher::new(shared, thread, 0).deepen(report);
    let help =
        |thread: &mut ThreadData, index| Searcher::new(shared, thread, index).deepen(&mut |_| {});
    let (mut best, helpers) = run_threads(shared, threads, lead, help);
    let searched = 1 + helpers.len();
    let mut by_helper = false;
    for other in helpers {
        if other.is_better_than(&best) {
            (best, by_helper) = (other, true);
        }
    }
    if by_helper {
        best.tell(shared, report);
    }
    best.outcome(shared, searched)
}

/// Runs `lead` on this thread and `help`, with the thread's number, on all others, until `lead` has
/// ended; returns their results. There are fewer helpers than wanted if the system has no more
/// threads.
pub(super) fn run_threads<T: Send>(
    shared: &Shared,
    threads: &mut [ThreadData],
    lead: impl FnOnce(&mut ThreadData) -> T,
    help: impl Fn(&mut ThreadData, usize) -> T + Sync,
) -> (T, Vec<T>) {
    let (first, helpers) = threads.split_first_mut().expect("an engine has a thread");
    if helpers.is_empty() {
        // WebAssembly has no threads.
        return (lead(first), Vec::new());
    }
    let help = &help;
    thread::scope(|scope| {
        let halt = HaltOnDrop(&shared.halt);
        let mut handles = Vec::new();
        for (index, thread) in helpers.iter_mut().enumerate() {
            let help = move || {
                let halt = HaltOnDrop(&shared.halt);
                let result = help(thread, index + 1);
                // A finished helper must not stop the others.
                mem::forget(halt);
                result
            };
            match thread::Builder::new().spawn_scoped(scope, help) {
                Ok(handle) => handles.push(handle),
                // The system has no more threads: continue with those started.
                Err(_) => break,
            }
        }
        let led = lead(first);
        drop(halt);
        let helped = handles.into_iter().map(|handle| match handle.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        (led, helped.collect())
    })
}

/// Stops all threads when dropped, also by a panic.
struct HaltOnDrop<'a>(&'a AtomicBool);

impl Drop for HaltOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Returns the root moves to search: the requested ones, of those the ones that keep the tablebase
/// result, if known.
pub(super) fn moves_to_search(shared: &mut Shared, board: &Board) -> Vec<RootMove> {
    let wanted = &shared.limits.moves;
    let mut moves = legal_moves(board);
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
        shared.root_wdl = Some(wdl);
    }
    // Fallback score without time to search.
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

/// Returns the outcome of a finished game.
pub(super) fn no_moves(board: &Board) -> Outcome {
    Outcome {
        best: None,
        score: no_move_score(board, 0),
        depth: 0,
        nodes: 0,
        threads: 0,
        lines: Vec::new(),
    }
}
