//! Search of one node up to its move loop: table lookup, static evaluation, and whole-node pruning.

use cozy_chess::{Board, Move, Piece};

use crate::board::rules::is_tactical;
use crate::endgame::Wdl;
use crate::evaluation::Score;
use crate::search::params::*;
use crate::search::searcher::{Halted, Searcher};
use crate::search::thread_data::ThreadData;
use crate::search::transposition_table::{ScoreBound, TableEntry, TranspositionTable};

/// Halfmove clock from which table scores are ignored: they do not account for the coming
/// fifty-move draw.
const CLOCK_DISTRUSTED: u8 = 90;
/// Depth bonus in plies of tablebase results in the transposition table.
const TABLEBASE_DEPTH: i32 = 6;

/// The static evaluation of a node.
#[derive(Clone, Copy)]
pub(super) struct StaticEval {
    /// Static evaluation plus correction history.
    pub(super) corrected: Score,
    /// The table's score if its bound is tighter, else `corrected`.
    pub(super) estimate: Score,
}

/// A node before its move loop.
pub(super) struct Node {
    pub(super) ply: usize,
    pub(super) depth: i32,
    pub(super) alpha: Score,
    pub(super) beta: Score,
    /// Whether this is an expected cut node.
    pub(super) cut: bool,
    /// Whether the position is, or was in an earlier search, a PV node.
    pub(super) was_pv: bool,
    pub(super) entry: Option<TableEntry>,
    /// Uncorrected network evaluation; `None` in check.
    pub(super) raw: Option<Score>,
    /// Corrected evaluation; `None` in check.
    pub(super) static_eval: Option<StaticEval>,
    /// Whether the evaluation has risen since the mover's last move.
    pub(super) improving: bool,
    /// Whether the opponent's last move worsened its evaluation.
    pub(super) opponent_worse: bool,
    pub(super) excluded: Option<Move>,
}

impl Node {
    /// Returns the best move of an earlier search.
    pub(super) fn table_move(&self) -> Option<Move> {
        self.entry.and_then(|entry| entry.mv)
    }
}

impl Searcher<'_> {
    /// Searches the current position to `depth`. Fail-soft: the score is exact inside `(alpha,
    /// beta)`, a lower bound at or above beta, an upper bound at or below alpha. `PV` is whether
    /// the window is open, `cut` whether a cutoff is expected.
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
        let ply = self.thread.tree.ply();
        self.thread.pv.clear(ply);
        if let Some(draw) = self.rule_draw() {
            return Ok(draw);
        }
        if self.thread.tree.is_full() {
            return Ok(self.evaluate());
        }
        // Mate-distance pruning.
        let alpha = self.at_least_a_draw(alpha).max(Score::mated_in(ply));
        let beta = beta.min(Score::mate_in(ply + 1));
        if alpha >= beta {
            return Ok(alpha);
        }
        let early = TranspositionTable::FETCHES_AHEAD.then(|| self.evaluate_quiet(None));
        let excluded = self.thread.frames[ply].excluded;
        let key = self.thread.tree.key();
        let mut entry = None;
        if excluded.is_none() {
            entry = self.shared.table.probe(key, ply);
            let decided = entry.and_then(|entry| self.cutoff(&entry, depth, alpha, beta));
            if !PV && let Some(score) = decided {
                return Ok(score);
            }
            if let Some(score) = self.tablebase_score(depth, alpha, beta) {
                return Ok(score);
            }
        }
        let raw = early.unwrap_or_else(|| self.evaluate_quiet(entry.as_ref()));
        let mut node = Node {
            ply,
            depth,
            alpha,
            beta,
            cut,
            was_pv: PV || entry.is_some_and(|entry| entry.pv),
            entry,
            raw,
            static_eval: None,
            improving: false,
            opponent_worse: false,
            excluded,
        };
        if let Some(raw) = raw {
            self.evaluate_node(&mut node, raw);
            if !PV
                && excluded.is_none()
                && let Some(score) = self.prune(&node)?
            {
                return Ok(score);
            }
        } else {
            self.thread.frames[ply].evaluation = None;
        }
        if node.table_move().is_none()
            && excluded.is_none()
            && node.depth >= INTERNAL_REDUCTION_DEPTH
        {
            node.depth -= 1;
        }
        self.search_moves::<PV>(&node)
    }

    /// Returns the table's score if it is deep enough and its bound decides the node.
    pub(super) fn cutoff(
        &self,
        entry: &TableEntry,
        depth: i32,
        alpha: Score,
        beta: Score,
    ) -> Option<Score> {
        if self.is_near_fifty_moves() || entry.depth < depth {
            return None;
        }
        let decides = match entry.bound {
            ScoreBound::Exact => true,
            ScoreBound::Lower => entry.score >= beta,
            ScoreBound::Upper => entry.score <= alpha,
        };
        decides.then_some(entry.score)
    }

    /// Returns whether the fifty-move draw is too near for scores from the table.
    fn is_near_fifty_moves(&self) -> bool {
        self.thread.tree.board().halfmove_clock() >= CLOCK_DISTRUSTED
    }

    /// Returns the tablebase score if it decides the node.
    fn tablebase_score(&mut self, depth: i32, alpha: Score, beta: Score) -> Option<Score> {
        let wdl = self.probe_tablebase(depth)?;
        let ply = self.thread.tree.ply();
        let win = Score::tablebase_win(ply);
        let (score, bound) = match wdl {
            Wdl::Win => (win, ScoreBound::Lower),
            Wdl::Loss => (-win, ScoreBound::Upper),
            Wdl::BlessedLoss | Wdl::Draw | Wdl::CursedWin => (Score::DRAW, ScoreBound::Exact),
        };
        let found = TableEntry {
            score,
            mv: None,
            depth: depth + TABLEBASE_DEPTH,
            bound,
            pv: false,
            evaluation: None,
        };
        let decided = self.cutoff(&found, depth, alpha, beta)?;
        let key = self.thread.tree.key();
        self.shared.table.store(key, ply, &found);
        Some(decided)
    }

    /// Corrects the network's evaluation by correction history and the table's bound.
    pub(super) fn static_eval(&self, raw: Score, entry: Option<&TableEntry>) -> StaticEval {
        let corrected = self.thread.corrections.apply(self.thread.tree.board(), raw);
        let nearer = entry.filter(|entry| {
            entry.bound.refutes(entry.score, corrected) && !self.is_near_fifty_moves()
        });
        StaticEval {
            corrected,
            estimate: nearer.map_or(corrected, |entry| entry.score),
        }
    }

    fn evaluate_node(&mut self, node: &mut Node, raw: Score) {
        let static_eval = self.static_eval(raw, node.entry.as_ref());
        let frames = &mut self.thread.frames;
        frames[node.ply].evaluation = Some(static_eval.corrected);
        let earlier = [2, 4]
            .iter()
            .filter_map(|back| frames[node.ply.checked_sub(*back)?].evaluation)
            .next();
        node.improving = earlier.is_some_and(|earlier| static_eval.corrected > earlier);
        let last = node.ply.checked_sub(1);
        let last = last.and_then(|last| frames[last].evaluation);
        let improved = last.map(|last| -static_eval.corrected.centipawns() - last.centipawns());
        node.opponent_worse = improved.is_some_and(|improved| improved < 0);
        node.static_eval = Some(static_eval);
        if let Some(improved) = improved
            && node.excluded.is_none()
        {
            self.reward_by_evaluation(improved);
        }
    }

    /// Rewards or penalises the last quiet move by how much it changed its side's evaluation.
    fn reward_by_evaluation(&mut self, improved: i32) {
        let ThreadData { tree, history, .. } = &mut *self.thread;
        if let Some(mv) = tree.played()
            && !is_tactical(tree.earlier(1), mv)
        {
            let limit = HISTORY_EVALUATION_LIMIT.get();
            let bonus = improved.clamp(-limit, limit) * HISTORY_EVALUATION.get();
            history.adjust_butterfly(tree.earlier(1), mv, bonus);
        }
    }

    /// Whole-node pruning: reverse futility, razoring, null move. Returns the score if the node
    /// needs no move loop.
    fn prune(&mut self, node: &Node) -> Result<Option<Score>, Halted> {
        let Some(StaticEval { estimate, .. }) = node.static_eval else {
            return Ok(None);
        };
        let (alpha, beta, depth) = (node.alpha, node.beta, node.depth);
        let plies = depth - i32::from(node.improving);
        let worse = i32::from(node.opponent_worse) * OPPONENT_WORSE.get();
        if !node.was_pv
            && depth <= REVERSE_FUTILITY_DEPTH
            && estimate - REVERSE_FUTILITY_MARGIN.get() * plies + worse >= beta
            && !beta.is_loss()
            && !estimate.is_decided()
        {
            return Ok(Some(Score::between(beta, estimate)));
        }
        if depth <= RAZOR_DEPTH && estimate + RAZOR_MARGIN.get() * depth <= alpha {
            let score = self.quiescence::<false>(0, alpha, alpha.next())?;
            if score <= alpha {
                return Ok(Some(score));
            }
        }
        self.null_move(node, estimate)
    }

    /// Null-move pruning. Skipped without pieces (zugzwang); at high depth a cutoff is verified by
    /// a normal search.
    fn null_move(&mut self, node: &Node, estimate: Score) -> Result<Option<Score>, Halted> {
        let (ply, depth, beta) = (node.ply, node.depth, node.beta);
        let passed_before = self.thread.tree.played().is_none();
        if depth < NULL_DEPTH
            || passed_before
            || ply < self.null_from
            || self.shared.seeks_mate()
            || estimate < beta
            || beta.is_loss()
            || !has_pieces(self.thread.tree.board())
        {
            return Ok(None);
        }
        let surplus = estimate.centipawns() - beta.centipawns();
        let reduced = depth - NULL_REDUCTION - depth / 3 - (surplus / NULL_SURPLUS.get()).min(3);
        self.thread.frames[ply + 1].doubles = self.thread.frames[ply].doubles;
        self.thread.tree.push_null();
        self.shared.table.prefetch(self.thread.tree.key());
        let before = beta - 1;
        let score = -self.node::<false>(reduced, -beta, -before, !node.cut)?;
        self.thread.tree.pop();
        if score < beta {
            return Ok(None);
        }
        // A mate behind a null move is unproved: return only the bound.
        let score = if score.is_win() { beta } else { score };
        if depth < NULL_VERIFY_DEPTH || self.null_from > 0 {
            return Ok(Some(score));
        }
        // Verify by the move loop: `node` might fail high by its static evaluation alone, which
        // would prove nothing.
        let verification = Node {
            depth: reduced.max(1),
            cut: false,
            ..*node
        };
        self.null_from = ply + verification.depth as usize * 3 / 4 + 1;
        let verified = self.search_moves::<false>(&verification);
        self.null_from = 0;
        Ok((verified? >= beta).then_some(score))
    }
}

/// Returns whether the side to move has more than king and pawns.
pub(super) fn has_pieces(board: &Board) -> bool {
    let simple = board.pieces(Piece::Pawn) | board.pieces(Piece::King);
    !board.colors(board.side_to_move()).is_subset(simple)
}
