//! Quiescence search: captures and promotions until the position is quiet, also quiet checks at
//! first; all moves in check.

use cozy_chess::{BitBoard, Board, Piece, Square};

use crate::board::has_legal_move;
use crate::board::rules::is_tactical;
use crate::evaluation::Score;
use crate::search::exchange::{value, victim, wins_at_least};
use crate::search::move_picker::{MovePicker, Order};
use crate::search::params::{DELTA_MARGIN, QUIET_CHECKS_TO, RECAPTURES_FROM};
use crate::search::searcher::{Halted, Searcher, no_move_score};
use crate::search::thread_data::ThreadData;
use crate::search::transposition_table::{ScoreBound, TableEntry, TranspositionTable};

impl Searcher<'_> {
    /// Returns the exact score of the current position after quiescence.
    pub(super) fn quiescence_score(&mut self) -> Result<Score, Halted> {
        self.quiescence::<true>(0, -Score::INFINITE, Score::INFINITE)
    }

    /// Returns the score of the current position after quiescence. `plies` counts from the horizon.
    pub(super) fn quiescence<const PV: bool>(
        &mut self,
        plies: u32,
        mut alpha: Score,
        beta: Score,
    ) -> Result<Score, Halted> {
        self.enter_node()?;
        let ply = self.thread.tree.ply();
        self.thread.pv.clear(ply);
        if let Some(draw) = self.rule_draw() {
            return Ok(draw);
        }
        alpha = self.at_least_a_draw(alpha);
        if alpha >= beta {
            return Ok(alpha);
        }
        let early = TranspositionTable::FETCHES_AHEAD.then(|| self.evaluate_quiet(None));
        let key = self.thread.tree.key();
        let entry = self.shared.table.probe(key, ply);
        if !PV && let Some(score) = entry.and_then(|entry| self.cutoff(&entry, 0, alpha, beta)) {
            return Ok(score);
        }
        let evaluation = early.unwrap_or_else(|| self.evaluate_quiet(entry.as_ref()));
        let in_check = evaluation.is_none();
        let original = alpha;
        let mut best = -Score::INFINITE;
        let mut best_move = None;
        let mut futility = -Score::INFINITE;
        if let Some(raw) = evaluation {
            if is_nearly_stalemate(self.thread.tree.board()) {
                return Ok(Score::DRAW);
            }
            best = self.static_eval(raw, entry.as_ref()).estimate;
            if best >= beta && !best.is_decided() && !beta.is_decided() {
                // No search has confirmed the evaluation: return the mean of it and beta.
                return Ok(Score::between(beta, best));
            }
            if best >= beta || self.thread.tree.is_full() {
                return Ok(best);
            }
            alpha = alpha.max(best);
            futility = best + DELTA_MARGIN.get();
        } else if self.thread.tree.is_full() {
            return Ok(self.evaluate());
        }
        let tree = &self.thread.tree;
        let landed = tree.played().map(|mv| mv.to);
        let board = tree.board();
        let hint = entry.and_then(|entry| entry.mv);
        let mut picker = match in_check {
            true => MovePicker::all(board, hint, &self.thread.moves),
            false => {
                let mut victims = board.colors(!board.side_to_move());
                if plies >= RECAPTURES_FROM && !best.is_loss() {
                    victims &= landed.map_or(BitBoard::EMPTY, Square::bitboard);
                }
                let picker = MovePicker::tactical(board, hint, victims, &self.thread.moves);
                match plies < QUIET_CHECKS_TO && !best.is_loss() {
                    true => picker.and_quiet_checks(),
                    false => picker,
                }
            }
        };
        loop {
            let ThreadData {
                tree,
                history,
                moves,
                ..
            } = &mut *self.thread;
            let board = tree.board();
            let order = Order {
                tree,
                history,
                checks: None,
            };
            let Some(mv) = picker.next(moves, &order) else {
                break;
            };
            if !best.is_loss() {
                if !in_check && plies >= RECAPTURES_FROM && landed != Some(mv.to) {
                    continue;
                }
                if in_check && !is_tactical(board, mv) {
                    // Skip quiet evasions: a single one that does not lose is enough.
                    picker.skip_quiets();
                    continue;
                }
                if !in_check
                    && mv.promotion.is_none()
                    && let Some(victim) = victim(board, mv)
                {
                    let reach = futility + value(victim);
                    if reach <= alpha {
                        best = best.max(reach);
                        continue;
                    }
                    // An even exchange does not raise a hopeless evaluation.
                    if futility <= alpha && !wins_at_least(board, mv, 1) {
                        best = best.max(futility);
                        continue;
                    }
                }
            }
            self.play(mv);
            let score = -self.quiescence::<PV>(plies + 1, -beta, -alpha)?;
            self.thread.tree.pop();
            if score <= best {
                continue;
            }
            best = score;
            if score > alpha {
                alpha = score;
                best_move = Some(mv);
                if PV {
                    self.thread.pv.set(ply, mv);
                }
                if score >= beta {
                    break;
                }
            }
        }
        picker.finish(&mut self.thread.moves);
        if in_check && !picker.saw_legal_move() {
            return Ok(no_move_score(self.thread.tree.board(), ply));
        }
        let found = TableEntry {
            score: best,
            mv: best_move,
            depth: 0,
            bound: ScoreBound::of(best, original, beta),
            pv: PV || entry.is_some_and(|entry| entry.pv),
            evaluation,
        };
        self.shared.table.store(key, ply, &found);
        Ok(best)
    }
}

/// Returns whether the side to move has only king and pawns and no legal move: stalemate, but for
/// its rarest forms.
fn is_nearly_stalemate(board: &Board) -> bool {
    let own = board.colors(board.side_to_move());
    let simple = board.pieces(Piece::Pawn) | board.pieces(Piece::King);
    own.is_subset(simple) && !has_legal_move(board)
}
