//! A search by playouts: its threads, limits and reports.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use cozy_chess::{Board, Move};

use super::node::Node;
use super::noise::Priors;
use super::playout::{Playouts, SharedTree, priors};
use super::selection::{line, ranked, seen_by_parent};
use super::{Kept, PuctTree};
use crate::board::{Position, legal_moves};
use crate::evaluation::Score;
use crate::evaluation::chances::WinModel;
use crate::search::limits::Limits;
use crate::search::report::{Line, Outcome, Report};
use crate::search::searcher::Searcher;
use crate::search::shared::Shared;
use crate::search::thread_data::ThreadData;
use crate::search::threads::{moves_to_search, no_moves, run_threads};
use crate::search::transposition_table::ScoreBound;

/// Playouts between two looks at the clock.
const PLAYOUTS_PER_LOOK: u64 = 32;
/// Longest time without a report.
const REPORT_AFTER: Duration = Duration::from_secs(1);
/// Playouts with one legal move if there is a clock.
const FORCED_PLAYOUTS: u64 = 32;

/// Searches on all threads; the first reports. A playout is a node. `max_bytes` bounds the tree:
/// once it is full, its leaves have no children.
pub(crate) fn search(
    kept: &mut PuctTree,
    Priors { person, noise }: Priors,
    shared: &mut Shared,
    threads: &mut [ThreadData],
    (position, limits): (&Position, &Limits),
    max_bytes: usize,
    report: &mut dyn FnMut(&Report),
) -> Outcome {
    let board = position.board();
    let moves: Vec<Move> = moves_to_search(shared, board)
        .iter()
        .map(|root| root.pv[0])
        .collect();
    if moves.is_empty() {
        return no_moves(board);
    }
    for thread in &mut *threads {
        thread.start();
        thread.tree.start(position, shared.evaluator);
    }
    let shared = &*shared;
    let score = Searcher::new(shared, &mut threads[0], 0).quiescence_score();
    let score = score.unwrap_or_else(|_| shared.evaluator.evaluate_board(board));
    let is_whole = moves.len() == legal_moves(board).len();
    let (mut root, values) = match is_whole {
        true => kept.root(position, score),
        false => PuctTree::default().root(position, score),
    };
    let mut new = root
        .priors()
        .is_none()
        .then(|| priors(&person, board, |mv| moves.contains(&mv)));
    if let Some(noise) = noise {
        match &mut new {
            Some(new) => noise.mix(new, 0),
            None => root.add_noise(noise),
        }
    }
    let tree = SharedTree {
        root: &root,
        values,
        person,
        playouts: AtomicU64::new(0),
        plies: AtomicU64::new(0),
        deepest: AtomicUsize::new(0),
        bytes: AtomicUsize::new(root.bytes()),
        max_bytes,
    };
    if let Some(new) = new {
        let searcher = Searcher::new(shared, &mut threads[0], 0);
        Playouts::new(searcher, &tree).expand(&root, new);
    }
    let run = Run {
        shared,
        tree: &tree,
        limits,
        board,
        score,
        moves: moves.len(),
    };
    let lead = |thread: &mut ThreadData| run.lead(thread, report);
    let ((), helpers) = run_threads(shared, threads, lead, |thread, index| {
        run.help(thread, index)
    });
    let outcome = run.outcome(1 + helpers.len());
    if is_whole {
        let position = position.clone();
        kept.kept = Some(Kept {
            position,
            root,
            values,
        });
    }
    outcome
}

/// A search under way.
struct Run<'a> {
    shared: &'a Shared<'a>,
    tree: &'a SharedTree<'a>,
    limits: &'a Limits,
    board: &'a Board,
    /// Score of the root by quiescence search.
    score: Score,
    /// Number of moves at the root.
    moves: usize,
}

impl<'a> Run<'a> {
    /// Makes playouts until the first thread stops.
    fn help(&self, thread: &mut ThreadData, index: usize) {
        let mut playouts = Playouts::new(Searcher::new(self.shared, thread, index), self.tree);
        while !self.shared.halt.load(Relaxed) {
            if !self.play(&mut playouts) {
                break;
            }
        }
        playouts.searcher.share_counters();
    }

    /// Makes playouts until a limit, and reports.
    fn lead(&self, thread: &mut ThreadData, report: &mut dyn FnMut(&Report)) {
        let mut playouts = Playouts::new(Searcher::new(self.shared, thread, 0), self.tree);
        let (mut next, mut told) = (1, Duration::ZERO);
        while !self.is_enough() && self.play(&mut playouts) {
            let done = self.playouts();
            let elapsed = playouts.searcher.elapsed();
            let looks = done.is_multiple_of(PLAYOUTS_PER_LOOK);
            if done >= next || looks && elapsed >= told + REPORT_AFTER {
                (next, told) = (next.max(2 * done), elapsed);
                self.tell(report);
            }
        }
        playouts.searcher.share_counters();
        self.tell(report);
    }

    /// Makes a playout; returns whether it was within the limit and was not aborted.
    fn play(&self, playouts: &mut Playouts) -> bool {
        let limit = self.limits.nodes.unwrap_or(u64::MAX);
        let is_within = self.tree.playouts.fetch_add(1, Relaxed) < limit;
        let is_made = is_within && playouts.play().is_ok();
        if !is_made {
            self.tree.playouts.fetch_sub(1, Relaxed);
        }
        is_made
    }

    fn playouts(&self) -> u64 {
        self.tree.playouts.load(Relaxed)
    }

    /// Returns the mean ply of the leaves.
    fn depth(&self) -> u32 {
        let mean = self.tree.plies.load(Relaxed) as f64 / self.playouts().max(1) as f64;
        mean.round().max(1.0) as u32
    }

    /// Returns whether the first thread ends the search.
    fn is_enough(&self) -> bool {
        let signals = self.shared.signals;
        let done = self.playouts();
        let is_full = self.limits.soft_nodes.is_some_and(|soft| done >= soft);
        if is_full || self.tree.root.proof().is_some() {
            return true;
        }
        if !done.is_multiple_of(PLAYOUTS_PER_LOOK) {
            return false;
        }
        let is_deep = |depth| done > 0 && u64::from(self.depth()) >= depth;
        if signals.stop.is_due(done) || self.limits.depth.is_some_and(is_deep) {
            return true;
        }
        let Some(budget) = self.limits.time.filter(|_| !signals.is_pondering()) else {
            return false;
        };
        let elapsed = (signals.elapsed)();
        if elapsed >= budget.hard {
            return true;
        }
        let Some(soft) = budget.soft else {
            return false;
        };
        if self.moves == 1 && done >= FORCED_PLAYOUTS {
            return true;
        }
        self.is_settled(elapsed, soft, budget.hard)
    }

    /// Returns whether more time would not change the move: the rest of the time is too short for
    /// another to have more visits. A move with more visits than the best by value has twice the
    /// time to lose them.
    fn is_settled(&self, elapsed: Duration, soft: Duration, hard: Duration) -> bool {
        let ranked = ranked(self.tree.root);
        let visits = |index: usize| ranked.get(index).map_or(0, |(_, child)| child.visits());
        let mean = |child: &Node| child.mean().map_or(f64::NEG_INFINITY, |mean| -mean);
        let best = ranked.first().map_or(0.0, |(_, child)| mean(child));
        // Few visits tell little.
        let rivals = ranked
            .iter()
            .skip(1)
            .filter(|(_, child)| 4 * child.visits() >= visits(0));
        let doubtful = rivals
            .map(|(_, child)| mean(child))
            .any(|value| value > best);
        let budget = if doubtful {
            (2 * soft).min(hard)
        } else {
            soft.min(hard)
        };
        if elapsed >= budget {
            return true;
        }
        // Visits of this tree serve the next moves too.
        if elapsed < soft / 2 {
            return false;
        }
        let rate = self.playouts() as f64 / elapsed.as_secs_f64().max(1e-3);
        let left = (budget - elapsed).as_secs_f64() * rate;
        f64::from(visits(0) - visits(1)) > left
    }

    /// Returns the lines, best first.
    fn lines(&self) -> Vec<Line> {
        let model = WinModel::of(self.board);
        let line_of = |(mv, child): (Move, &Node)| {
            let mut pv = vec![mv];
            pv.extend(line(child));
            let proof = child.proof().map(seen_by_parent);
            let values = self.tree.values;
            let score = || values.score(-child.mean().unwrap_or_default(), model);
            Line {
                score: self.shared.shown(proof.unwrap_or_else(score)),
                pv,
            }
        };
        let ranked = ranked(self.tree.root).into_iter();
        let visited = ranked.filter(|(_, child)| child.visits() > 0 || child.proof().is_some());
        visited
            .take(self.limits.lines.max(1))
            .map(line_of)
            .collect()
    }

    fn tell(&self, report: &mut dyn FnMut(&Report)) {
        let bytes = self.tree.bytes.load(Relaxed);
        for (line, rank) in self.lines().iter().zip(1..) {
            report(&Report {
                depth: self.depth(),
                seldepth: self.tree.deepest.load(Relaxed),
                rank,
                score: line.score,
                bound: ScoreBound::Exact,
                nodes: self.playouts(),
                time: (self.shared.signals.elapsed)(),
                hashfull: (1000 * bytes / self.tree.max_bytes.max(1)).min(1000),
                tablebase_hits: self.shared.tablebase_hits.load(Relaxed),
                pv: &line.pv,
            });
        }
    }

    fn outcome(&self, threads: usize) -> Outcome {
        let mut lines = self.lines();
        if lines.is_empty() {
            // Stopped within the first playout: the likeliest move.
            let priors = self.tree.root.priors().unwrap_or_default();
            lines.push(Line {
                score: self.shared.shown(self.score),
                pv: vec![priors[0].0],
            });
        }
        Outcome {
            best: Some(lines[0].pv[0]),
            score: lines[0].score,
            depth: self.depth(),
            nodes: self.playouts(),
            threads,
            lines,
        }
    }
}

/// A move at the root after a search by playouts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VisitedMove {
    /// The move.
    pub mv: Move,
    /// Playouts through it, those of earlier searches included.
    pub visits: u32,
    /// The policy's probability.
    pub prior: f32,
    /// Mean result for the mover, from -1 (loss) to 1 (win).
    pub value: f64,
    /// Score if it is proven.
    pub proof: Option<Score>,
}

impl PuctTree {
    /// Returns the moves of the last search with visits or a proof, the most visited first.
    pub(crate) fn visited_moves(&self) -> Vec<VisitedMove> {
        let Some(Kept { root, .. }) = &self.kept else {
            return Vec::new();
        };
        let visited = root.children().filter_map(|(&(mv, prior), child)| {
            let proof = child.proof().map(seen_by_parent);
            let proven = proof.map(|score| f64::from(score.centipawns().signum()));
            Some(VisitedMove {
                mv,
                visits: child.visits(),
                prior,
                value: child.mean().map(|mean| -mean).or(proven)?,
                proof,
            })
        });
        let mut moves: Vec<VisitedMove> = visited.collect();
        moves.sort_by_key(|mv| std::cmp::Reverse(mv.visits));
        moves
    }
}
