//! A node of the tree: what is known of it, when it needs no search, and the
//! search of its moves.

use cozy_chess::{Board, Move, Piece};

use crate::Score;
use crate::checks::Checks;
use crate::exchange::wins_at_least;
use crate::history::{HISTORY_LIMIT, Landing, is_tactical};
use crate::search::params::*;
use crate::search::picker::{Order, Picker};
use crate::search::{Halted, Searcher, no_move_score};
use crate::table::{Known, ScoreBound};
use crate::worker::Worker;

/// From this halfmove clock on, scores from the table are not trusted: they
/// do not know how near the fifty-move draw is.
const CLOCK_DISTRUSTED: u8 = 90;
/// Plies that a tablebase's word counts more than a search's.
const TABLEBASE_DEPTH: i32 = 6;

/// The static evaluation of a node.
#[derive(Clone, Copy)]
pub(super) struct Evaluation {
    /// As the network gives it.
    pub(super) raw: Score,
    /// As searches of similar positions have corrected it.
    pub(super) corrected: Score,
    /// The table's score where that says more, else the corrected.
    pub(super) estimate: Score,
}

/// A node before its moves are looked at.
struct Node {
    ply: usize,
    depth: i32,
    alpha: Score,
    beta: Score,
    /// Expected to fail high.
    cut: bool,
    known: Option<Known>,
    /// `None` in check.
    evaluation: Option<Evaluation>,
    /// Whether the evaluation has risen since the mover's last move.
    improving: bool,
    excluded: Option<Move>,
}

impl Searcher<'_> {
    /// The value of the present position, searched `depth` plies deep: exact
    /// within the window, else a bound on the window's side it lies. `PV`
    /// where the window is open, `cut` where a cutoff is expected.
    pub(super) fn node<const PV: bool>(
        &mut self,
        depth: i32,
        alpha: Score,
        beta: Score,
        cut: bool,
    ) -> Result<Score, Halted> {
        if depth <= 0 {
            return self.quiescence::<PV>(0, alpha, beta);
        }
        self.enter_node()?;
        let ply = self.worker.tree.ply();
        self.worker.pv.clear(ply);
        if let Some(draw) = self.rule_draw() {
            return Ok(draw);
        }
        if self.worker.tree.is_full() {
            return Ok(self.evaluate());
        }
        // Even the quickest mate from here is no better than one found already.
        let alpha = alpha.max(Score::mated_in(ply));
        let beta = beta.min(Score::mate_in(ply + 1));
        if alpha >= beta {
            return Ok(alpha);
        }
        let excluded = self.worker.frames[ply].excluded;
        let key = self.worker.tree.key();
        let mut known = None;
        if excluded.is_none() {
            known = self.shared.table.probe(key, ply);
            let decided = known.and_then(|known| self.cutoff(&known, depth, alpha, beta));
            if !PV && let Some(score) = decided {
                return Ok(score);
            }
            if let Some(score) = self.tablebase_score(depth, alpha, beta) {
                return Ok(score);
            }
        }
        let mut node = Node {
            ply,
            depth,
            alpha,
            beta,
            cut,
            known,
            evaluation: None,
            improving: false,
            excluded,
        };
        if self.worker.tree.board().checkers().is_empty() {
            self.evaluate_node(&mut node);
            if !PV
                && excluded.is_none()
                && let Some(score) = self.prune(&node)?
            {
                return Ok(score);
            }
        } else {
            self.worker.frames[ply].evaluation = None;
        }
        let unknown = known.is_none_or(|known| known.mv.is_none());
        if unknown && excluded.is_none() && node.depth >= INTERNAL_REDUCTION_DEPTH {
            node.depth -= 1;
        }
        self.search_moves::<PV>(&node)
    }

    /// The known score, where it is deep enough to stand for the search.
    pub(super) fn cutoff(
        &self,
        known: &Known,
        depth: i32,
        alpha: Score,
        beta: Score,
    ) -> Option<Score> {
        let clock_matters = self.worker.tree.board().halfmove_clock() >= CLOCK_DISTRUSTED;
        if clock_matters || known.depth < depth {
            return None;
        }
        let decides = match known.bound {
            ScoreBound::Exact => true,
            ScoreBound::Lower => known.score >= beta,
            ScoreBound::Upper => known.score <= alpha,
        };
        decides.then_some(known.score)
    }

    /// What a tablebase says, where it decides the node. Asked only where the
    /// fifty-move clock stands at zero, as the tables suppose.
    fn tablebase_score(&mut self, depth: i32, alpha: Score, beta: Score) -> Option<Score> {
        use crate::Wdl;
        let tablebase = self.shared.tablebase?;
        let board = self.worker.tree.board();
        let applies = self.shared.known.is_none()
            && board.halfmove_clock() == 0
            && board.occupied().len() <= tablebase.max_pieces();
        let wdl = applies.then(|| tablebase.wdl(board))??;
        self.tablebase_hits += 1;
        let ply = self.worker.tree.ply();
        let win = Score::tablebase_win(ply);
        let (score, bound) = match wdl {
            Wdl::Win => (win, ScoreBound::Lower),
            Wdl::Loss => (-win, ScoreBound::Upper),
            Wdl::BlessedLoss | Wdl::Draw | Wdl::CursedWin => (Score::DRAW, ScoreBound::Exact),
        };
        let found = Known {
            score,
            evaluation: None,
            mv: None,
            depth: depth + TABLEBASE_DEPTH,
            bound,
        };
        let decided = self.cutoff(&found, depth, alpha, beta)?;
        let key = self.worker.tree.key();
        self.shared.table.store(key, ply, &found);
        Some(decided)
    }

    /// Evaluates the present position, which is not in check.
    pub(super) fn static_evaluation(&mut self, known: Option<&Known>) -> Evaluation {
        let raw = known
            .and_then(|known| known.evaluation)
            .unwrap_or_else(|| self.evaluate());
        let corrected = match CORRECTION {
            true => self.worker.corrections.apply(self.worker.tree.board(), raw),
            false => raw,
        };
        let nearer = known.map(|known| known.score).filter(|&score| {
            let bound = known.map(|known| known.bound);
            match bound {
                Some(ScoreBound::Lower) => score > corrected,
                Some(ScoreBound::Upper) => score < corrected,
                _ => true,
            }
        });
        Evaluation {
            raw,
            corrected,
            estimate: nearer.unwrap_or(corrected),
        }
    }

    fn evaluate_node(&mut self, node: &mut Node) {
        let evaluation = self.static_evaluation(node.known.as_ref());
        let frames = &mut self.worker.frames;
        frames[node.ply].evaluation = Some(evaluation.corrected);
        let earlier = [2, 4]
            .iter()
            .filter_map(|back| frames[node.ply.checked_sub(*back)?].evaluation)
            .next();
        node.improving = earlier.is_some_and(|earlier| evaluation.corrected > earlier);
        node.evaluation = Some(evaluation);
    }

    /// The node's score, where its evaluation is so far from the window that
    /// no search of its moves is needed.
    fn prune(&mut self, node: &Node) -> Result<Option<Score>, Halted> {
        let Some(Evaluation { estimate, .. }) = node.evaluation else {
            return Ok(None);
        };
        let (alpha, beta, depth) = (node.alpha, node.beta, node.depth);
        let plies = depth - i32::from(node.improving);
        if depth <= REVERSE_FUTILITY_DEPTH
            && estimate - REVERSE_FUTILITY_MARGIN * plies >= beta
            && !beta.is_loss()
            && !estimate.is_decided()
        {
            return Ok(Some(Score::between(beta, estimate)));
        }
        if depth <= RAZOR_DEPTH && estimate + RAZOR_MARGIN * depth <= alpha {
            let score = self.quiescence::<false>(0, alpha, alpha.next())?;
            if score <= alpha {
                return Ok(Some(score));
            }
        }
        self.null_move(node, estimate)
    }

    /// Lets the mover pass: if even that leaves the score above the window, a
    /// move will too. Not where zugzwang is likely, and verified deep down.
    fn null_move(&mut self, node: &Node, estimate: Score) -> Result<Option<Score>, Halted> {
        let (ply, depth, beta) = (node.ply, node.depth, node.beta);
        let passed_before = self.worker.frames[ply - 1].landing == Landing::NONE;
        if depth < NULL_DEPTH
            || passed_before
            || ply < self.null_from
            || estimate < beta
            || beta.is_loss()
            || !has_pieces(self.worker.tree.board())
        {
            return Ok(None);
        }
        let surplus = estimate.centipawns() - beta.centipawns();
        let reduced = depth - NULL_REDUCTION - depth / 3 - (surplus / 200).min(3);
        self.worker.frames[ply].landing = Landing::NONE;
        self.worker.tree.push_null();
        self.shared.table.prefetch(self.worker.tree.key());
        let before = beta - 1;
        let score = -self.node::<false>(reduced, -beta, -before, !node.cut)?;
        self.worker.tree.pop();
        if score < beta {
            return Ok(None);
        }
        // A mate that the opponent need not allow proves only the bound.
        let score = if score.is_win() { beta } else { score };
        if depth < NULL_VERIFY_DEPTH || self.null_from > 0 {
            return Ok(Some(score));
        }
        self.null_from = ply + (reduced.max(0) as usize) * 3 / 4 + 1;
        let verified = self.node::<false>(reduced, before, beta, false);
        self.null_from = 0;
        Ok((verified? >= beta).then_some(score))
    }

    fn search_moves<const PV: bool>(&mut self, node: &Node) -> Result<Score, Halted> {
        let Node {
            ply,
            depth,
            beta,
            cut,
            ..
        } = *node;
        let mut alpha = node.alpha;
        let table_move = node.known.and_then(|known| known.mv);
        let before = self.worker.before(ply);
        let in_check = node.evaluation.is_none();
        self.worker.frames[ply + 2].killers = [None; 2];
        self.worker.frames[ply + 1].doubles = self.worker.frames[ply].doubles;
        let board = self.worker.tree.board();
        let table_is_tactical = table_move.is_some_and(|mv| is_tactical(board, mv));
        let checks = Checks::of(board);
        let mut picker = Picker::all(board, table_move, &self.worker.moves);
        let tried = self.worker.moves.tried.len();
        let mut best = -Score::INFINITE;
        let mut best_move = None;
        let mut number = 0;
        loop {
            let Worker {
                tree,
                history,
                moves,
                frames,
                ..
            } = &mut *self.worker;
            let board = tree.board();
            let killers = frames[ply].killers;
            let order = Order {
                board,
                history,
                before: &before,
                checks: &checks,
                killers,
            };
            let Some(mv) = picker.next(moves, &order) else {
                break;
            };
            if node.excluded == Some(mv) {
                continue;
            }
            number += 1;
            let tactical = is_tactical(board, mv);
            let repute = match tactical {
                true => history.tactical(board, mv),
                false => history.quiet(board, mv, &before),
            };
            let gives_check = checks.gives_check(board, mv);
            let base_reduction = self.shared.reductions.plies(tactical, depth, number);
            if !best.is_loss() && has_pieces(board) {
                let reduced = (depth - base_reduction).max(0);
                if tactical {
                    let margin = -EXCHANGE_TACTICAL_MARGIN * depth;
                    if picker.is_past_quiets()
                        && depth <= EXCHANGE_DEPTH
                        && !wins_at_least(board, mv, margin)
                    {
                        continue;
                    }
                } else if !gives_check {
                    let enough = (3 + depth * depth) / (2 - i32::from(node.improving));
                    let futile = node.evaluation.is_some_and(|evaluation| {
                        let reach = FUTILITY_BASE + FUTILITY_MARGIN * reduced;
                        reduced <= FUTILITY_DEPTH && evaluation.corrected + reach <= alpha
                    });
                    let late = depth <= LATE_MOVE_DEPTH && number as i32 > enough;
                    if late {
                        picker.skip_quiets();
                        continue;
                    }
                    if futile {
                        continue;
                    }
                    if depth <= HISTORY_DEPTH && repute < -HISTORY_MARGIN * depth {
                        continue;
                    }
                    let margin = -EXCHANGE_QUIET_MARGIN * reduced;
                    if reduced <= EXCHANGE_DEPTH && !wins_at_least(board, mv, margin) {
                        continue;
                    }
                }
            }
            let landing = Landing::of(board, mv);
            let mut extension = 0;
            if table_move == Some(mv) && node.excluded.is_none() {
                match self.singular(node, mv)? {
                    Singular::Extend(plies) => extension = plies,
                    Singular::Cutoff(score) => {
                        picker.finish(&mut self.worker.moves);
                        self.worker.moves.tried.truncate(tried);
                        return Ok(score);
                    }
                }
            }
            let Worker { tree, frames, .. } = &mut *self.worker;
            frames[ply].landing = landing;
            frames[ply + 1].doubles = frames[ply].doubles + u8::from(extension > 1);
            tree.push(mv, self.shared.evaluator);
            self.shared.table.prefetch(tree.key());
            if gives_check && extension == 0 {
                extension = CHECK_EXTENSION;
            }
            let deeper = depth - 1 + extension;
            let mut score = best;
            let mut open = PV && number == 1;
            if !open {
                let mut reduction = 0;
                if depth >= REDUCTION_DEPTH && number > 1 + usize::from(PV) {
                    reduction = base_reduction + i32::from(cut) + i32::from(!node.improving)
                        - i32::from(PV)
                        - i32::from(gives_check)
                        - repute / REDUCTION_HISTORY
                        - i32::from(killers.contains(&Some(mv)));
                    if !tactical && table_is_tactical {
                        reduction += 1;
                    }
                }
                let reduced = (deeper - reduction).clamp(deeper.min(1), deeper);
                score = -self.node::<false>(
                    reduced,
                    -alpha.next(),
                    -alpha,
                    reduced < deeper || !cut,
                )?;
                if score > alpha && reduced < deeper {
                    score = -self.node::<false>(deeper, -alpha.next(), -alpha, !cut)?;
                }
                open = PV && score > alpha;
            }
            if open {
                score = -self.node::<true>(deeper, -beta, -alpha, false)?;
            }
            self.worker.tree.pop();
            if score > best {
                best = score;
                if score > alpha {
                    alpha = score;
                    best_move = Some(mv);
                    if PV {
                        self.worker.pv.set(ply, mv);
                    }
                    if score >= beta {
                        break;
                    }
                }
            }
            if best_move != Some(mv) {
                self.worker.moves.tried.push(mv);
            }
        }
        picker.finish(&mut self.worker.moves);
        if number == 0 {
            self.worker.moves.tried.truncate(tried);
            return Ok(match node.excluded {
                Some(_) => alpha,
                None => no_move_score(self.worker.tree.board(), ply),
            });
        }
        if best >= beta
            && let Some(mv) = best_move
        {
            self.reward(node, mv, &before, tried);
        }
        self.worker.moves.tried.truncate(tried);
        if node.excluded.is_none() {
            self.remember(node, best, best_move, in_check);
        }
        Ok(best)
    }

    /// Whether the table's move alone holds the score: then its line is
    /// searched deeper.
    fn singular(&mut self, node: &Node, mv: Move) -> Result<Singular, Halted> {
        let keep = Ok(Singular::Extend(0));
        let Some(known) = node.known else { return keep };
        if node.depth < SINGULAR_DEPTH
            || known.depth < node.depth - 3
            || known.bound == ScoreBound::Upper
            || known.score.is_decided()
        {
            return keep;
        }
        let bound = known.score - SINGULAR_MARGIN * node.depth;
        let depth = (node.depth - 1) / 2;
        self.worker.frames[node.ply].excluded = Some(mv);
        let score = self.node::<false>(depth, bound - 1, bound, node.cut);
        self.worker.frames[node.ply].excluded = None;
        let score = score?;
        let null_window = node.alpha.next() == node.beta;
        Ok(if score < bound {
            let double = null_window
                && score < bound - DOUBLE_MARGIN
                && self.worker.frames[node.ply].doubles < MOST_DOUBLES;
            Singular::Extend(1 + i32::from(double))
        } else if bound >= node.beta && null_window {
            // Another move holds the score as well.
            Singular::Cutoff(bound)
        } else if known.score >= node.beta {
            Singular::Extend(-1)
        } else {
            Singular::Extend(0)
        })
    }

    /// Learns from a cutoff, and from the moves before it that caused none.
    fn reward(&mut self, node: &Node, cutoff: Move, before: &crate::history::Before, tried: usize) {
        let Worker {
            tree,
            history,
            moves,
            frames,
            ..
        } = &mut *self.worker;
        let board = tree.board();
        let bonus = (160 * node.depth - 60).min(HISTORY_LIMIT / 8);
        let quiet = !is_tactical(board, cutoff);
        if quiet {
            let killers = &mut frames[node.ply].killers;
            if killers[0] != Some(cutoff) {
                *killers = [Some(cutoff), killers[0]];
            }
            history.adjust_quiet(board, cutoff, before, bonus);
        } else {
            history.adjust_tactical(board, cutoff, bonus);
        }
        for &mv in &moves.tried[tried..] {
            if is_tactical(board, mv) {
                history.adjust_tactical(board, mv, -bonus);
            } else if quiet {
                history.adjust_quiet(board, mv, before, -bonus);
            }
        }
    }

    /// Keeps a node's score, and corrects what the evaluation was off by.
    fn remember(&mut self, node: &Node, best: Score, best_move: Option<Move>, in_check: bool) {
        let bound = match best {
            _ if best >= node.beta => ScoreBound::Lower,
            _ if best_move.is_some() => ScoreBound::Exact,
            _ => ScoreBound::Upper,
        };
        let Worker {
            tree, corrections, ..
        } = &mut *self.worker;
        let board = tree.board();
        let quiet = best_move.is_none_or(|mv| !is_tactical(board, mv));
        if let Some(Evaluation { corrected, .. }) = node.evaluation
            && CORRECTION
            && quiet
            && !in_check
            && !best.is_decided()
        {
            let says_more = match bound {
                ScoreBound::Exact => true,
                ScoreBound::Lower => best > corrected,
                ScoreBound::Upper => best < corrected,
            };
            if says_more {
                let error = best.centipawns() - corrected.centipawns();
                corrections.learn(board, node.depth, error);
            }
        }
        let found = Known {
            score: best,
            evaluation: node.evaluation.map(|evaluation| evaluation.raw),
            mv: best_move,
            depth: node.depth,
            bound,
        };
        let key = tree.key();
        self.shared.table.store(key, node.ply, &found);
    }
}

/// What a singular search says of a node.
enum Singular {
    /// Search the table's move by so many plies deeper.
    Extend(i32),
    /// The node fails high.
    Cutoff(Score),
}

/// Whether the side to move has more than its king and pawns.
fn has_pieces(board: &Board) -> bool {
    let simple = board.pieces(Piece::Pawn) | board.pieces(Piece::King);
    !board.colors(board.side_to_move()).is_subset(simple)
}
