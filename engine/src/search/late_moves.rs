//! Late-move pruning and reductions: which moves after the first are skipped, and by how much the
//! others are reduced.

use std::cell::OnceCell;

use cozy_chess::{Move, Piece};

use crate::board::checks::Checks;
use crate::board::rules::is_tactical;
use crate::evaluation::Score;
use crate::search::exchange::wins_at_least;
use crate::search::move_picker::MovePicker;
use crate::search::node::{Node, has_pieces};
use crate::search::params::*;
use crate::search::searcher::Searcher;
use crate::search::thread_data::ThreadData;

/// State of a node's move loop.
pub(super) struct Found {
    pub(super) alpha: Score,
    pub(super) best: Score,
    pub(super) best_move: Option<Move>,
    pub(super) number: usize,
}

/// A move about to be searched, with the data that pruning and reductions use.
pub(super) struct Candidate {
    mv: Move,
    /// Place in the move order, from 2.
    number: usize,
    tactical: bool,
    gives_check: bool,
    /// History score of a quiet move; 0 for others.
    history_score: i32,
    /// Base reduction in plies, by depth and place alone.
    reduction: i32,
}

/// Pruning decision for a move.
pub(super) enum Pruning {
    Search,
    Skip,
    /// Skip this and all later quiet moves.
    SkipQuiets,
}

impl Searcher<'_> {
    /// Collects the data on a move before it is searched.
    pub(super) fn candidate(
        &self,
        node: &Node,
        mv: Move,
        number: usize,
        checks: &OnceCell<Checks>,
    ) -> Candidate {
        let ThreadData { tree, history, .. } = &*self.thread;
        let board = tree.board();
        let checks = checks.get_or_init(|| Checks::of(board));
        let tactical = is_tactical(board, mv);
        let piece = board.piece_on(mv.from).unwrap_or(Piece::Pawn);
        Candidate {
            mv,
            number,
            tactical,
            gives_check: checks.gives_check(piece, mv),
            history_score: match tactical {
                true => 0,
                false => history.quiets(tree).score(piece, mv.from, mv.to),
            },
            reduction: self.shared.reductions.plies(tactical, node.depth, number),
        }
    }

    /// Shallow pruning: late-move, futility and SEE pruning of moves that are unlikely to raise
    /// alpha, once a move that does not lose is known.
    pub(super) fn pruning<const PV: bool>(
        &self,
        node: &Node,
        candidate: &Candidate,
        found: &Found,
        picker: &MovePicker,
    ) -> Pruning {
        let board = self.thread.tree.board();
        if found.best.is_loss() || !has_pieces(board) {
            return Pruning::Search;
        }
        let depth = node.depth;
        let by_exchange = |plies: i32, margin: i32| {
            let loses = || !wins_at_least(board, candidate.mv, -margin * plies);
            match plies <= EXCHANGE_DEPTH && loses() {
                true => Pruning::Skip,
                false => Pruning::Search,
            }
        };
        if candidate.tactical {
            return match picker.is_past_quiets() {
                true => by_exchange(depth, EXCHANGE_TACTICAL_MARGIN.get()),
                false => Pruning::Search,
            };
        }
        if candidate.gives_check {
            return by_exchange(depth, EXCHANGE_CHECK_MARGIN.get());
        }
        let enough = (LATE_MOVE_BASE.get() + LATE_MOVE_FACTOR.get() * depth * depth)
            / (100 * (2 - i32::from(node.improving)));
        // Not in PV nodes: their score counts, and the best of a few moves may be too low.
        if !PV && depth <= LATE_MOVE_DEPTH && candidate.number as i32 > enough {
            return Pruning::SkipQuiets;
        }
        // Depth to which the move would be searched.
        let reduced = (depth - candidate.reduction).max(0);
        let futile = node.static_eval.is_some_and(|evaluation| {
            let reach = FUTILITY_BASE.get() + FUTILITY_MARGIN.get() * reduced;
            reduced <= FUTILITY_DEPTH && evaluation.corrected + reach <= found.alpha
        });
        if futile {
            // Later quiet moves are reduced at least as much.
            return Pruning::SkipQuiets;
        }
        by_exchange(reduced, EXCHANGE_QUIET_MARGIN.get())
    }

    /// Returns the late-move reduction in plies.
    pub(super) fn reduction<const PV: bool>(
        &self,
        node: &Node,
        candidate: &Candidate,
        table_is_tactical: bool,
    ) -> i32 {
        if node.depth < REDUCTION_DEPTH || PV && candidate.number == 2 {
            return 0;
        }
        candidate.reduction
            + i32::from(node.cut)
            + i32::from(node.cut && node.table_move().is_none())
            + i32::from(!node.improving)
            + i32::from(!candidate.tactical && table_is_tactical)
            - i32::from(PV)
            - i32::from(node.was_pv)
            - i32::from(candidate.gives_check)
            - candidate.history_score / REDUCTION_HISTORY.get()
    }
}
