//! Alpha-beta search: iterative deepening, principal variation search,
//! quiescence.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cozy_chess::{BitBoard, Move, Piece};

use crate::exchange::loses_material;
use crate::heuristics::{ScoredMove, is_tactical, tactical_order};
use crate::score::MAX_PLY;
use crate::table::{Bound, Known};
use crate::{Engine, Limits, Score, has_legal_move, insufficient_material};

/// The deepest iteration, so that quiescence still has room below it.
const MAX_DEPTH: u32 = MAX_PLY as u32 - 28;
/// From this ply of quiescence on, only recaptures are looked at: an
/// evaluation that calls every quiet position bad for the mover would
/// otherwise have all captures searched in all orders.
const RECAPTURES_FROM: u32 = 4;
/// How many nodes pass between two looks at the clock and the stop flag.
const NODES_PER_LOOK: u64 = 512;
/// From this halfmove clock on, scores from the table are not trusted: they
/// do not know how near the fifty-move draw is.
const CLOCK_DISTRUSTED: u8 = 90;

/// What a search needs from the world around it.
pub struct Signals<'a> {
    /// Set by another thread to end the search.
    pub stop: &'a AtomicBool,
    /// Time since the search was asked for.
    pub elapsed: &'a dyn Fn() -> Duration,
}

/// What is known after an iteration.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// Plies of the iteration.
    pub depth: u32,
    /// Plies of the longest line looked at.
    pub seldepth: usize,
    /// The value of the root, from the view of the side to move.
    pub score: Score,
    /// Nodes so far.
    pub nodes: u64,
    /// Time so far.
    pub time: Duration,
    /// How full the transposition table is, in thousandths.
    pub hashfull: usize,
    /// The principal variation.
    pub pv: &'a [Move],
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The move to play; `None` only where there is no legal move.
    pub best: Option<Move>,
    /// Its score, from the view of the side to move.
    pub score: Score,
    /// The last finished iteration.
    pub depth: u32,
    /// All nodes.
    pub nodes: u64,
}

/// A limit was reached: the scores on the way are worth nothing.
struct Aborted;

pub(crate) struct Search<'a> {
    engine: &'a mut Engine,
    limits: &'a Limits,
    signals: &'a Signals<'a>,
    nodes: u64,
    seldepth: usize,
    best: Option<Move>,
    /// The score of `best`.
    score: Score,
}

impl<'a> Search<'a> {
    pub(crate) fn new(
        engine: &'a mut Engine,
        limits: &'a Limits,
        signals: &'a Signals<'a>,
    ) -> Search<'a> {
        let score = Score::DRAW;
        Search {
            engine,
            limits,
            signals,
            nodes: 0,
            seldepth: 0,
            best: None,
            score,
        }
    }

    /// Deepens until a limit is reached.
    pub(crate) fn run(mut self, report: &mut dyn FnMut(&Report)) -> Outcome {
        let board = self.engine.tree.board();
        board.generate_moves(|moves| {
            self.best = moves.into_iter().next();
            true
        });
        if self.best.is_none() {
            self.score = self.no_move_score();
        }
        let deepest = match self.limits.depth {
            Some(limit) => limit.clamp(1, MAX_DEPTH.into()) as u32,
            None => MAX_DEPTH,
        };
        let mut depth = 0;
        while self.best.is_some() && depth < deepest {
            let best_so_far = self.best;
            if self
                .negamax(depth + 1, -Score::INFINITE, Score::INFINITE)
                .is_err()
            {
                // What the broken iteration found counts: it began with the
                // move known as best.
                if self.best != best_so_far {
                    report(&self.report(depth + 1));
                }
                break;
            }
            depth += 1;
            report(&self.report(depth));
            if self.is_settled(depth) || self.is_past_soft_limit() {
                break;
            }
        }
        Outcome {
            best: self.best,
            score: self.score,
            depth,
            nodes: self.nodes,
        }
    }

    /// A mate found no deeper than full-width search has looked is the shortest.
    fn is_settled(&self, depth: u32) -> bool {
        self.score
            .plies_to_mate()
            .is_some_and(|plies| plies <= depth as usize)
    }

    fn is_past_soft_limit(&self) -> bool {
        self.limits
            .time
            .is_some_and(|budget| (self.signals.elapsed)() >= budget.soft)
    }

    fn report(&self, depth: u32) -> Report<'_> {
        Report {
            depth,
            seldepth: self.seldepth,
            score: self.score,
            nodes: self.nodes,
            time: (self.signals.elapsed)(),
            hashfull: self.engine.table.permille_full(),
            pv: self.engine.pv.line(),
        }
    }

    /// Counts a node, unless a limit forbids it.
    fn enter_node(&mut self) -> Result<(), Aborted> {
        if self.limits.nodes.is_some_and(|limit| self.nodes >= limit) {
            return Err(Aborted);
        }
        if self.nodes.is_multiple_of(NODES_PER_LOOK) && self.must_stop() {
            return Err(Aborted);
        }
        self.nodes += 1;
        self.seldepth = self.seldepth.max(self.engine.tree.ply());
        Ok(())
    }

    fn must_stop(&self) -> bool {
        self.signals.stop.load(Ordering::Relaxed)
            || self
                .limits
                .time
                .is_some_and(|budget| (self.signals.elapsed)() >= budget.hard)
    }

    /// The value of the present position, searched `depth` plies deep: exact
    /// within the window, else a bound on the window's side it lies.
    fn negamax(&mut self, depth: u32, alpha: Score, beta: Score) -> Result<Score, Aborted> {
        if depth == 0 {
            return self.quiescence(0, BitBoard::FULL, alpha, beta);
        }
        self.enter_node()?;
        let ply = self.engine.tree.ply();
        self.engine.pv.clear(ply);
        if ply > 0
            && let Some(score) = self.rule_draw()
        {
            return Ok(score);
        }
        let key = self.engine.tree.key();
        let known = self.engine.table.probe(key, ply);
        if let Some(score) = known.and_then(|known| self.cutoff(known, depth, alpha, beta)) {
            return Ok(score);
        }
        let first = if ply == 0 {
            self.best
        } else {
            known.and_then(|known| known.mv)
        };
        let start = self.generate(first);
        if start == self.engine.moves.len() {
            return Ok(self.no_move_score());
        }
        let (score, best) = self.search_moves(start, depth, alpha, beta)?;
        self.engine.moves.truncate(start);
        let bound = match score {
            _ if score >= beta => Bound::Lower,
            _ if score > alpha => Bound::Exact,
            _ => Bound::Upper,
        };
        self.engine.table.store(
            key,
            ply,
            Known {
                score,
                mv: best,
                depth,
                bound,
            },
        );
        Ok(score)
    }

    /// Searches the moves from `start` on, best first. Returns the best score
    /// and, if it lies above `alpha`, its move.
    fn search_moves(
        &mut self,
        start: usize,
        depth: u32,
        mut alpha: Score,
        beta: Score,
    ) -> Result<(Score, Option<Move>), Aborted> {
        let ply = self.engine.tree.ply();
        let mut best = (-Score::INFINITE, None);
        for index in start..self.engine.moves.len() {
            let mv = self.pick(index);
            self.engine.tree.push(mv, &self.engine.evaluator);
            let score = self.search_child(depth - 1, alpha, beta, index == start)?;
            self.engine.tree.pop();
            if score <= best.0 {
                continue;
            }
            best.0 = score;
            if score > alpha {
                alpha = score;
                best.1 = Some(mv);
                self.engine.pv.set(ply, mv);
                if ply == 0 {
                    self.best = Some(mv);
                    self.score = score;
                }
            }
            if score >= beta {
                self.reward(start, index, depth);
                break;
            }
        }
        Ok(best)
    }

    /// The first child gets the whole window; the others only have to prove
    /// that they are no better, and are searched again where they are.
    fn search_child(
        &mut self,
        depth: u32,
        alpha: Score,
        beta: Score,
        is_first: bool,
    ) -> Result<Score, Aborted> {
        if !is_first {
            let score = -self.negamax(depth, -alpha.next(), -alpha)?;
            if score <= alpha || score >= beta {
                return Ok(score);
            }
        }
        Ok(-self.negamax(depth, -beta, -alpha)?)
    }

    /// Captures and promotions that lose nothing until the position is quiet,
    /// so that the evaluation never looks at half an exchange; in check, every
    /// move. `plies` counts from its beginning, `targets` are the squares on
    /// which may be captured.
    fn quiescence(
        &mut self,
        plies: u32,
        targets: BitBoard,
        mut alpha: Score,
        beta: Score,
    ) -> Result<Score, Aborted> {
        self.enter_node()?;
        self.engine.pv.clear(self.engine.tree.ply());
        if let Some(score) = self.rule_draw() {
            return Ok(score);
        }
        if !has_legal_move(self.engine.tree.board()) {
            return Ok(self.no_move_score());
        }
        if self.engine.tree.is_full() {
            return Ok(self.engine.tree.evaluate(&self.engine.evaluator));
        }
        let in_check = !self.engine.tree.board().checkers().is_empty();
        let mut best = -Score::INFINITE;
        if !in_check {
            best = self.engine.tree.evaluate(&self.engine.evaluator);
            if best >= beta {
                return Ok(best);
            }
            alpha = alpha.max(best);
        }
        let start = if in_check {
            self.generate(None)
        } else {
            self.generate_tactical(targets)
        };
        for index in start..self.engine.moves.len() {
            let mv = self.pick(index);
            self.engine.tree.push(mv, &self.engine.evaluator);
            let recaptures = plies + 1 >= RECAPTURES_FROM;
            let targets = if recaptures {
                mv.to.bitboard()
            } else {
                BitBoard::FULL
            };
            let score = -self.quiescence(plies + 1, targets, -beta, -alpha)?;
            self.engine.tree.pop();
            best = best.max(score);
            if score > alpha {
                alpha = score;
                self.engine.pv.set(self.engine.tree.ply(), mv);
            }
            if score >= beta {
                break;
            }
        }
        self.engine.moves.truncate(start);
        Ok(best)
    }

    /// A draw by repetition, by the fifty-move rule or by material. Mate on
    /// the hundredth ply comes before the fifty-move rule.
    fn rule_draw(&self) -> Option<Score> {
        let tree = &self.engine.tree;
        let board = tree.board();
        if insufficient_material(board) || tree.is_repetition() {
            return Some(Score::DRAW);
        }
        let fifty_moves = board.halfmove_clock() >= 100;
        (fifty_moves && (board.checkers().is_empty() || has_legal_move(board)))
            .then_some(Score::DRAW)
    }

    /// The score of a position without legal moves.
    fn no_move_score(&self) -> Score {
        if self.engine.tree.board().checkers().is_empty() {
            Score::DRAW
        } else {
            Score::mated_in(self.engine.tree.ply())
        }
    }

    /// The known score, where it is deep enough to stand for the search. Not
    /// on the principal variation, which would end there.
    fn cutoff(&self, known: Known, depth: u32, alpha: Score, beta: Score) -> Option<Score> {
        let null_window = alpha.next() == beta;
        let clock_matters = self.engine.tree.board().halfmove_clock() >= CLOCK_DISTRUSTED;
        if !null_window || clock_matters || known.depth < depth {
            return None;
        }
        let decides = match known.bound {
            Bound::Exact => true,
            Bound::Lower => known.score >= beta,
            Bound::Upper => known.score <= alpha,
        };
        decides.then_some(known.score)
    }

    /// Appends all legal moves to the list; returns where they start.
    fn generate(&mut self, first: Option<Move>) -> usize {
        let Engine {
            tree,
            heuristics,
            moves: list,
            ..
        } = &mut *self.engine;
        let start = list.len();
        let (board, ply) = (tree.board(), tree.ply());
        board.generate_moves(|moves| {
            list.extend(moves.into_iter().map(|mv| ScoredMove {
                mv,
                order: heuristics.order(board, mv, ply, first),
            }));
            false
        });
        start
    }

    /// Appends captures and promotions on `targets` that lose nothing to the
    /// list; returns where they start.
    fn generate_tactical(&mut self, targets: BitBoard) -> usize {
        let Engine {
            tree, moves: list, ..
        } = &mut *self.engine;
        let start = list.len();
        let board = tree.board();
        let theirs = board.colors(!board.side_to_move());
        board.generate_moves(|mut moves| {
            // A pawn also promotes and takes en passant on empty squares; what
            // is neither is left out below.
            moves.to &= targets;
            if moves.piece != Piece::Pawn {
                moves.to &= theirs;
            }
            list.extend(
                moves
                    .into_iter()
                    .filter(|&mv| moves.piece != Piece::Pawn || is_tactical(board, mv))
                    .filter(|&mv| !loses_material(board, mv))
                    .map(|mv| ScoredMove {
                        mv,
                        order: tactical_order(board, mv),
                    }),
            );
            false
        });
        start
    }

    /// Brings the best of the moves from `index` on to `index`. Sorting as we
    /// go: most nodes need only their first moves.
    fn pick(&mut self, index: usize) -> Move {
        let moves = &mut self.engine.moves;
        let best = (index..moves.len())
            .rev()
            .max_by_key(|&i| moves[i].order)
            .unwrap_or(index);
        moves.swap(index, best);
        moves[index].mv
    }

    /// Remembers a quiet move that caused a cutoff.
    fn reward(&mut self, start: usize, index: usize, depth: u32) {
        let Engine {
            tree,
            heuristics,
            moves,
            ..
        } = &mut *self.engine;
        let (board, cutoff) = (tree.board(), moves[index].mv);
        if !is_tactical(board, cutoff) {
            heuristics.reward(board, cutoff, &moves[start..index], tree.ply(), depth);
        }
    }
}
