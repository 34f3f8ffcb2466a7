//! Move loop of a node: principal variation search with late-move pruning and reductions, singular
//! extensions, and history updates.

use std::cell::OnceCell;

use cozy_chess::Move;

use crate::board::checks::Checks;
use crate::board::rules::is_tactical;
use crate::evaluation::Score;
use crate::search::late_moves::{Found, Pruning};
use crate::search::move_picker::{MovePicker, Order};
use crate::search::node::{Node, StaticEval};
use crate::search::params::*;
use crate::search::searcher::{Halted, Searcher, no_move_score};
use crate::search::thread_data::ThreadData;
use crate::search::transposition_table::{ScoreBound, TableEntry};

/// Result of a singular-extension search.
enum Singular {
    /// Plies to extend the table move by; negative reduces it.
    Extend(i32),
    /// Multi-cut: the node fails high with this score.
    Cutoff(Score),
}

impl Searcher<'_> {
    /// Searches a node's moves in order until a cutoff, skipping pruned moves.
    pub(super) fn search_moves<const PV: bool>(&mut self, node: &Node) -> Result<Score, Halted> {
        let ply = node.ply;
        let table_move = node.table_move();
        let board = self.thread.tree.board();
        let in_check = !board.checkers().is_empty();
        let checks = OnceCell::new();
        let table_is_tactical = table_move.is_some_and(|mv| is_tactical(board, mv));
        let mut picker = MovePicker::all(board, table_move, &self.thread.moves);
        let tried = self.thread.moves.tried.len();
        let mut found = Found {
            alpha: node.alpha,
            best: -Score::INFINITE,
            best_move: None,
            number: 0,
        };
        while let Some(mv) = self.pick(&mut picker, &checks) {
            if node.excluded == Some(mv) {
                continue;
            }
            found.number += 1;
            let mut reduction = 0;
            // The first move is never pruned or reduced; most nodes need no other.
            if found.number > 1 {
                let candidate = self.candidate(node, mv, found.number, &checks);
                match self.pruning::<PV>(node, &candidate, &found, &picker) {
                    Pruning::Search => {}
                    Pruning::Skip => continue,
                    Pruning::SkipQuiets => {
                        picker.skip_quiets();
                        continue;
                    }
                }
                reduction = self.reduction::<PV>(node, &candidate, table_is_tactical);
            }
            let mut extension = i32::from(in_check);
            if table_move == Some(mv) && node.excluded.is_none() {
                match self.singular(node, mv)? {
                    Singular::Extend(plies) if plies < 0 => extension = plies,
                    Singular::Extend(plies) => extension = extension.max(plies),
                    Singular::Cutoff(score) => {
                        picker.finish(&mut self.thread.moves);
                        self.thread.moves.tried.truncate(tried);
                        return Ok(score);
                    }
                }
            }
            let deeper = node.depth - 1 + extension;
            let doubles = self.thread.frames[ply].doubles + u8::from(extension > 1);
            self.thread.frames[ply + 1].doubles = doubles;
            self.play(mv);
            let score = self.search_child::<PV>(node, &found, deeper, reduction)?;
            self.thread.tree.pop();
            self.count::<PV>(ply, mv, score, &mut found);
            if found.best >= node.beta {
                break;
            }
        }
        picker.finish(&mut self.thread.moves);
        if found.best >= node.beta
            && let Some(mv) = found.best_move
        {
            self.reward(node, mv, tried);
        }
        self.thread.moves.tried.truncate(tried);
        if found.number == 0 {
            return Ok(match node.excluded {
                // No other legal move: the excluded one is singular.
                Some(_) => node.alpha,
                None => no_move_score(self.thread.tree.board(), ply),
            });
        }
        if node.excluded.is_some() {
            return Ok(found.best);
        }
        if found.best <= node.alpha {
            self.reward_last(node);
        }
        self.remember(node, &found);
        Ok(found.best)
    }

    fn pick(&mut self, picker: &mut MovePicker, checks: &OnceCell<Checks>) -> Option<Move> {
        let ThreadData {
            tree,
            history,
            moves,
            ..
        } = &mut *self.thread;
        let order = Order {
            tree,
            history,
            checks: Some(checks),
        };
        picker.next(moves, &order)
    }

    /// Principal variation search: the first child of a PV node gets the full window; others get a
    /// null window at reduced depth, and a re-search if they fail high.
    fn search_child<const PV: bool>(
        &mut self,
        node: &Node,
        found: &Found,
        deeper: i32,
        reduction: i32,
    ) -> Result<Score, Halted> {
        let alpha = found.alpha;
        if !PV || found.number > 1 {
            let score = self.null_window(deeper, reduction, alpha, !node.cut)?;
            if !PV || score <= alpha {
                return Ok(score);
            }
        }
        Ok(-self.node::<true>(deeper, -node.beta, -alpha, false)?)
    }

    /// Searches the move just played with a null window above `alpha`, at `deeper - reduction`
    /// plies; re-searches at `deeper` if that fails high. `cut` is whether the child is an expected
    /// cut node at full depth.
    pub(super) fn null_window(
        &mut self,
        deeper: i32,
        reduction: i32,
        alpha: Score,
        cut: bool,
    ) -> Result<Score, Halted> {
        let reduced = (deeper - reduction).clamp(deeper.min(1), deeper);
        let first_cut = reduced < deeper || cut;
        let score = -self.node::<false>(reduced, -alpha.next(), -alpha, first_cut)?;
        if score > alpha && reduced < deeper {
            return Ok(-self.node::<false>(deeper, -alpha.next(), -alpha, cut)?);
        }
        Ok(score)
    }

    /// Updates best score, alpha and principal variation with a move's score.
    fn count<const PV: bool>(&mut self, ply: usize, mv: Move, score: Score, found: &mut Found) {
        found.best = found.best.max(score);
        if score <= found.alpha {
            self.thread.moves.tried.push(mv);
            return;
        }
        if let Some(surpassed) = found.best_move.replace(mv) {
            self.thread.moves.tried.push(surpassed);
        }
        found.alpha = score;
        if PV {
            self.thread.pv.set(ply, mv);
        }
    }

    /// Singular extension: searches the other moves at half depth below the table score. If all
    /// fail low, the table move is extended (twice if they fail clearly); if they fail high as
    /// well, the node may be cut (multi-cut).
    #[inline(always)]
    fn singular(&mut self, node: &Node, mv: Move) -> Result<Singular, Halted> {
        let keep = Ok(Singular::Extend(0));
        let Some(entry) = node.entry else { return keep };
        if node.depth < SINGULAR_DEPTH
            || entry.depth < node.depth - 3
            || entry.bound == ScoreBound::Upper
            || entry.score.is_decided()
        {
            return keep;
        }
        let bound = entry.score - SINGULAR_MARGIN * node.depth;
        let depth = (node.depth - 1) / 2;
        self.thread.frames[node.ply].excluded = Some(mv);
        let score = self.node::<false>(depth, bound - 1, bound, node.cut);
        self.thread.frames[node.ply].excluded = None;
        let score = score?;
        let null_window = node.alpha.next() == node.beta;
        Ok(if score < bound {
            let double = null_window
                && score < bound - DOUBLE_MARGIN.get()
                && self.thread.frames[node.ply].doubles < MOST_DOUBLES;
            Singular::Extend(1 + i32::from(double))
        } else if bound >= node.beta && null_window {
            // Multi-cut: another move reaches beta as well.
            Singular::Cutoff(bound)
        } else if entry.score >= node.beta {
            Singular::Extend(-2)
        } else {
            Singular::Extend(-i32::from(node.cut))
        })
    }

    /// Rewards the cutoff move in history and penalises the moves tried before it.
    fn reward(&mut self, node: &Node, cutoff: Move, tried: usize) {
        let ThreadData {
            tree,
            history,
            moves,
            ..
        } = &mut *self.thread;
        let board = tree.board();
        let bonus = history_bonus(node.depth);
        let quiet = !is_tactical(board, cutoff);
        if quiet {
            history.adjust_quiet(tree, 0, cutoff, bonus);
        } else {
            history.adjust_tactical(board, cutoff, bonus);
        }
        let malus = bonus * HISTORY_MALUS.get() / 100;
        for &mv in &moves.tried[tried..] {
            if is_tactical(board, mv) {
                history.adjust_tactical(board, mv, -malus);
            } else if quiet {
                history.adjust_quiet(tree, 0, mv, -malus);
            }
        }
    }

    /// Rewards the quiet move that led to a node that failed low.
    fn reward_last(&mut self, node: &Node) {
        let ThreadData { tree, history, .. } = &mut *self.thread;
        if let Some(mv) = tree.played()
            && !is_tactical(tree.earlier(1), mv)
        {
            history.adjust_quiet(tree, 1, mv, history_bonus(node.depth));
        }
    }

    /// Stores the node in the transposition table and updates correction history.
    fn remember(&mut self, node: &Node, found: &Found) {
        let Found {
            best, best_move, ..
        } = *found;
        let bound = ScoreBound::of(best, node.alpha, node.beta);
        let ThreadData {
            tree, corrections, ..
        } = &mut *self.thread;
        let board = tree.board();
        let quiet = best_move.is_none_or(|mv| !is_tactical(board, mv));
        if let Some(StaticEval { corrected, .. }) = node.static_eval
            && quiet
            && !best.is_decided()
            && bound.refutes(best, corrected)
        {
            let error = best.centipawns() - corrected.centipawns();
            corrections.learn(board, node.depth, error);
        }
        let found = TableEntry {
            score: best,
            mv: best_move,
            depth: node.depth,
            bound,
            pv: node.was_pv,
            evaluation: node.raw,
        };
        let key = tree.key();
        self.shared.table.store(key, node.ply, &found);
    }
}

/// Returns the history bonus of a cutoff at this depth.
pub(super) fn history_bonus(depth: i32) -> i32 {
    (HISTORY_BONUS.get() * depth - HISTORY_BONUS_BASE.get()).min(HISTORY_BONUS_LIMIT.get())
}
