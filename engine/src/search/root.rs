//! Root search with multiple lines (MultiPV).

use std::cmp::Reverse;

use crate::board::rules::is_tactical;
use crate::evaluation::Score;
use crate::search::params::REDUCTION_DEPTH;
use crate::search::searcher::{Halted, Searcher};
use crate::search::transposition_table::{ScoreBound, TableEntry};

impl Searcher<'_> {
    /// Searches the root moves, the best `lines` of them for exact scores, and sorts them best
    /// first, even if halted. Returns the best score, fail-soft.
    pub(super) fn root(
        &mut self,
        depth: i32,
        alpha: Score,
        beta: Score,
        lines: usize,
    ) -> Result<Score, Halted> {
        let last = self.thread.root[0].score;
        let mut exact = Vec::with_capacity(lines + 1);
        let result = self.search_root_moves(depth, alpha, beta, lines, &mut exact);
        if exact.is_empty() {
            // All moves failed low, or the search was halted before one did not: keep the previous
            // score.
            self.thread.root[0].score = last;
        }
        self.thread.root.sort_by_key(|root| Reverse(root.score));
        let best = &mut self.thread.root[0];
        if result.is_err() && best.score.is_loss() {
            // An unsearched move may save the game.
            best.score = best.score.max(last);
        }
        let score = result?;
        if self.shared.limits.moves.is_empty() {
            let entry = TableEntry {
                score,
                mv: Some(self.thread.root[0].pv[0]),
                depth,
                bound: ScoreBound::of(score, alpha, beta),
                pv: true,
                evaluation: None,
            };
            let key = self.thread.tree.key();
            self.shared.table.store(key, 0, &entry);
        }
        Ok(score)
    }

    fn search_root_moves(
        &mut self,
        depth: i32,
        alpha: Score,
        beta: Score,
        lines: usize,
        // Best exact scores, in descending order.
        exact: &mut Vec<Score>,
    ) -> Result<Score, Halted> {
        self.enter_node()?;
        for root in &mut self.thread.root[lines..] {
            root.score = -Score::INFINITE;
        }
        let mut best = -Score::INFINITE;
        for index in 0..self.thread.root.len() {
            // Score that a move must exceed to be among the lines.
            let floor = exact.get(lines - 1).copied().unwrap_or(alpha);
            let nodes = self.nodes;
            let score = self.root_move(depth, index, floor, beta, index < lines)?;
            let nodes = self.nodes - nodes;
            best = best.max(score);
            let found = self.thread.pv.line_from(1);
            let root = &mut self.thread.root[index];
            root.nodes += nodes;
            if score > floor {
                root.score = score;
                root.bound = ScoreBound::of(score, floor, beta);
                root.pv.truncate(1);
                root.pv.extend_from_slice(found);
                let place = exact.partition_point(|&other| other >= score);
                exact.insert(place, score);
                exact.truncate(lines);
            } else {
                root.score = -Score::INFINITE;
            }
            if score >= beta {
                break;
            }
        }
        Ok(best)
    }

    fn root_move(
        &mut self,
        depth: i32,
        index: usize,
        floor: Score,
        beta: Score,
        is_line: bool,
    ) -> Result<Score, Halted> {
        let mv = self.thread.root[index].pv[0];
        let board = self.thread.tree.board();
        let tactical = is_tactical(board, mv);
        self.play(mv);
        let mut score = Score::INFINITE;
        if !is_line {
            let reduction = match depth >= REDUCTION_DEPTH && index > 1 {
                true => self.shared.reductions.plies(tactical, depth, index + 1) - 1,
                false => 0,
            };
            score = self.null_window(depth - 1, reduction, floor, true)?;
        }
        if score > floor {
            score = -self.node::<true>(depth - 1, -beta, -floor, false)?;
        }
        self.thread.tree.pop();
        Ok(score)
    }
}
