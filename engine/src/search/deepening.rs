//! Iterative deepening with aspiration windows, and the decision to stop.

use crate::endgame::Wdl;
use crate::evaluation::Score;
use crate::evaluation::score::MAX_PLY;
use crate::search::mates::Proof;
use crate::search::params::{ASPIRATION_DEPTH, ASPIRATION_WINDOW};
use crate::search::report::{Line, Outcome, Report};
use crate::search::searcher::{Halted, Searcher};
use crate::search::shared::Shared;
use crate::search::thread_data::RootMove;
use crate::search::transposition_table::ScoreBound;

use std::sync::atomic::Ordering;
use std::time::Duration;

/// Deepest iteration; leaves room for quiescence below it.
const MAX_DEPTH: u64 = MAX_PLY as u64 - 28;
/// Fail-high and fail-low scores are reported only after this time: earlier ones scroll by too fast
/// to read.
const BOUNDS_REPORTED_FROM: Duration = Duration::from_secs(3);
/// Sufficient depth for a score if there is a clock and only one legal move.
const FORCED_DEPTH: i32 = 5;

/// Result of one search thread.
pub(super) struct ThreadResult {
    depth: i32,
    seldepth: usize,
    root: Vec<RootMove>,
    /// Whether [`Searcher::prove_mate`] proved a mate.
    is_proved: bool,
}

impl ThreadResult {
    /// Returns whether this result is to be preferred to another thread's.
    pub(super) fn is_better_than(&self, other: &ThreadResult) -> bool {
        if other.is_proved {
            return false;
        }
        let (score, others) = (self.root[0].score, other.root[0].score);
        // Finding a mate again at a greater depth gains nothing, and its line may be cut short.
        let no_worse = score > others || score == others && !others.is_decided();
        let deeper = self.depth > other.depth && no_worse;
        let mates = score.is_win() && score > others;
        deeper || mates
    }

    /// Reports the lines.
    pub(super) fn tell(&self, shared: &Shared, report: &mut dyn FnMut(&Report)) {
        for (line, rank) in self.root.iter().zip(1..=shared.limits.lines) {
            report(&Report {
                // A mate may be found within the first iteration.
                depth: self.depth.max(1) as u32,
                seldepth: self.seldepth,
                rank,
                score: shared.shown(line.score),
                bound: line.bound,
                nodes: shared.nodes.load(Ordering::Relaxed),
                time: (shared.signals.elapsed)(),
                hashfull: shared.table.permille_full(),
                tablebase_hits: shared.tablebase_hits.load(Ordering::Relaxed),
                pv: &line.pv,
            });
        }
    }

    /// Converts to the outcome of a search by `threads` threads.
    pub(super) fn outcome(self, shared: &Shared, threads: usize) -> Outcome {
        let lines: Vec<Line> = self
            .root
            .into_iter()
            .take(shared.limits.lines.max(1))
            .map(|root| Line {
                score: shared.shown(root.score),
                pv: root.pv,
            })
            .collect();
        Outcome {
            best: Some(lines[0].pv[0]),
            score: lines[0].score,
            depth: self.depth as u32,
            nodes: shared.nodes.load(Ordering::Relaxed),
            threads,
            lines,
        }
    }
}

impl Shared<'_> {
    /// Returns the score to report: the tablebase's result of the root takes precedence, except
    /// over a mate.
    pub(super) fn shown(&self, score: Score) -> Score {
        match self.root_wdl {
            Some(Wdl::Win) if !score.is_win() => Score::tablebase_win(0),
            Some(Wdl::Loss) if !score.is_loss() => -Score::tablebase_win(0),
            Some(Wdl::BlessedLoss | Wdl::Draw | Wdl::CursedWin) => Score::DRAW,
            _ => score,
        }
    }
}

/// Stability of the last iterations, for time management.
#[derive(Default)]
struct Certainty {
    best: Option<cozy_chess::Move>,
    /// Consecutive iterations with the same best move.
    stable: usize,
    /// Score of the previous iteration.
    score: Option<Score>,
}

impl Certainty {
    /// Records an iteration and returns the factor by which it scales the soft time limit.
    fn factor(&mut self, best: &RootMove, all_nodes: u64) -> f64 {
        const BY_STABILITY: [f64; 6] = [1.7, 1.3, 1.1, 1.0, 0.9, 0.8];
        let mv = best.pv.first().copied();
        self.stable = if self.best == mv { self.stable + 1 } else { 0 };
        self.best = mv;
        let before = self.score.replace(best.score).unwrap_or(best.score);
        let drop = f64::from(before.centipawns() - best.score.centipawns());
        // A move that took most of the nodes left little doubt.
        let share = best.nodes as f64 / all_nodes.max(1) as f64;
        BY_STABILITY[self.stable.min(BY_STABILITY.len() - 1)]
            * (1.0 + (drop / 100.0).clamp(-0.2, 0.6))
            * (2.1 - 1.6 * share)
    }
}

impl Searcher<'_> {
    /// Deepens until a limit is reached.
    pub(super) fn deepen(mut self, report: &mut dyn FnMut(&Report)) -> ThreadResult {
        let lines = self.shared.limits.lines.clamp(1, self.thread.root.len());
        let deepest = self.shared.limits.depth.unwrap_or(MAX_DEPTH);
        let deepest = deepest.clamp(1, MAX_DEPTH) as i32;
        let mut certainty = Certainty::default();
        let mut proof = None;
        // Half of the helper threads search one ply ahead, so that threads differ in their work.
        for depth in 1 + (self.index % 2) as i32..=deepest {
            let before = self.thread.root[0].pv[0];
            if self.iteration(depth, lines, report).is_err() {
                // The best move of an aborted iteration is usable: it searched the previous best
                // move first. GUIs expect a line even if there was no time for any iteration.
                let is_news = self.depth == 0 || self.thread.root[0].pv[0] != before;
                if self.index == 0 && is_news {
                    self.tell(depth, 1, None, report);
                }
                break;
            }
            self.depth = depth;
            if self.index == 0 {
                for rank in 1..=lines {
                    self.tell(depth, rank, None, report);
                }
                if proof.is_none()
                    && let Some(moves) = self.mate_left_to_proof(depth)
                {
                    match self.prove_mate(moves, report) {
                        Ok(found) => proof = Some(found),
                        // Keep the current best line.
                        Err(Halted) => break,
                    }
                    if proof != Some(Proof::NoneSoon) {
                        break;
                    }
                }
                if self.is_enough(depth, &mut certainty) {
                    break;
                }
            }
        }
        self.share_counters();
        ThreadResult {
            depth: self.depth,
            seldepth: self.seldepth,
            root: std::mem::take(&mut self.thread.root),
            is_proved: proof == Some(Proof::Mate),
        }
    }

    /// Searches one iteration: an aspiration window around the last score, widened until the score
    /// lies within.
    fn iteration(
        &mut self,
        depth: i32,
        lines: usize,
        report: &mut dyn FnMut(&Report),
    ) -> Result<(), Halted> {
        self.seldepth = 0;
        let last = self.thread.root[0].score;
        let (mut alpha, mut beta) = (-Score::INFINITE, Score::INFINITE);
        let mut width = ASPIRATION_WINDOW.get();
        if depth >= ASPIRATION_DEPTH && lines == 1 && !last.is_decided() {
            (alpha, beta) = (last - width, last + width);
        }
        loop {
            let score = self.root(depth, alpha, beta, lines)?;
            let bound = if score <= alpha && alpha > -Score::INFINITE {
                beta = Score::between(alpha, beta);
                alpha = score - width;
                ScoreBound::Upper
            } else if score >= beta && beta < Score::INFINITE {
                beta = score + width;
                ScoreBound::Lower
            } else {
                return Ok(());
            };
            if self.index == 0 && self.elapsed() >= BOUNDS_REPORTED_FROM {
                self.tell(depth, 1, Some((score, bound)), report);
            }
            width *= 2;
            if score.is_decided() || width > 1000 {
                (alpha, beta) = (-Score::INFINITE, Score::INFINITE);
            }
        }
    }

    /// Reports the line of rank `rank`; `bound` replaces its score by a fail-high or fail-low
    /// score.
    pub(super) fn tell(
        &self,
        depth: i32,
        rank: usize,
        bound: Option<(Score, ScoreBound)>,
        report: &mut dyn FnMut(&Report),
    ) {
        let line = &self.thread.root[rank - 1];
        let (score, bound) = bound.unwrap_or((line.score, line.bound));
        let nodes = self.shared.nodes.load(Ordering::Relaxed);
        let hits = self.shared.tablebase_hits.load(Ordering::Relaxed);
        report(&Report {
            depth: depth as u32,
            seldepth: self.seldepth,
            rank,
            score: self.shared.shown(score),
            bound,
            nodes: nodes + self.nodes - self.counted,
            time: self.elapsed(),
            hashfull: self.shared.table.permille_full(),
            tablebase_hits: hits + self.tablebase_hits,
            pv: &line.pv,
        });
    }

    /// Returns whether to stop deepening: a limit is met, or another iteration is not worth its
    /// time.
    fn is_enough(&self, depth: i32, certainty: &mut Certainty) -> bool {
        let best = &self.thread.root[0];
        let factor = certainty.factor(best, self.nodes);
        let mate = best.score.plies_to_mate();
        let limits = self.shared.limits;
        let wanted = limits.mate.map(|moves| (moves as usize).saturating_mul(2));
        if mate.is_some_and(|plies| wanted.is_some_and(|wanted| plies <= wanted)) {
            return true;
        }
        if limits.soft_nodes.is_some_and(|soft| self.nodes >= soft) {
            return true;
        }
        let Some((soft, hard)) = limits
            .time
            .and_then(|budget| Some((budget.soft?, budget.hard)))
        else {
            return false;
        };
        if self.shared.signals.is_pondering() {
            return false;
        }
        let settled = mate.is_some_and(|plies| plies as i32 <= depth);
        let forced = self.thread.root.len() == 1 && depth >= FORCED_DEPTH;
        settled || forced || self.elapsed() >= soft.mul_f64(factor).min(hard)
    }
}
