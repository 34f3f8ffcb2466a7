//! Staged move picker: generates and scores moves as late as possible.

use std::cell::OnceCell;

use cozy_chess::{
    BitBoard, Board, Move, Piece, PieceMoves, Rank, Square, get_bishop_rays, get_king_moves,
    get_knight_moves, get_rook_rays,
};

use crate::board::checks::Checks;
use crate::board::rules::{BACK_RANKS, is_tactical, passed_square, pawn_attacks};
use crate::search::exchange::{value, victim, wins_at_least};
use crate::search::history::History;
use crate::search::params::{CHECK_ORDER, CHECK_ORDER_LOSS};
use crate::search::tree::Tree;

/// A move and its ordering score, higher first.
#[derive(Clone, Copy)]
pub(crate) struct ScoredMove {
    mv: Move,
    order: i32,
}

/// Move lists of all nodes on the current line, one after the other; each picker owns the part from
/// its start on.
#[derive(Default)]
pub(crate) struct MoveStack {
    scored: Vec<ScoredMove>,
    /// Quiet moves generated but not yet scored.
    quiets: Vec<PieceMoves>,
    /// Moves searched without a cutoff, of all nodes on the line.
    pub(crate) tried: Vec<Move>,
}

/// Inputs of move ordering.
pub(crate) struct Order<'a> {
    /// The position and its [`Tree::danger`].
    pub(crate) tree: &'a Tree,
    pub(crate) history: &'a History,
    /// Check squares, computed on first use; `None` if quiet checks get no bonus.
    pub(crate) checks: Option<&'a OnceCell<Checks>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Table,
    Generate,
    GoodTactical,
    ScoreQuiets,
    Quiet,
    BadTactical,
}

/// Yields the table move, then captures and promotions that do not lose material (SEE), then quiet
/// moves, then losing captures.
pub(crate) struct MovePicker {
    table: Option<Move>,
    stage: Stage,
    /// Whether to stop after the good captures.
    tactical_only: bool,
    /// Whether to add quiet checks that do not lose material to `tactical_only`.
    quiet_checks: bool,
    skip_quiets: bool,
    start: usize,
    quiets_start: usize,
    /// Index of the next move of the current stage.
    next: usize,
    /// End of the losing captures, which are moved to the front: `start..bad_end`.
    bad_end: usize,
    any_legal: bool,
    /// Squares of capturable pieces.
    victims: BitBoard,
}

/// Bonus per centipawn for moving a piece off a square attacked by a lesser piece; the same penalty
/// for moving onto one.
const DANGER: i32 = 15;

/// Ordering offset of quiet checks, which puts them after all captures.
const QUIET_CHECKS: i32 = -1_000_000;

/// Units of capture history that weigh as much as a centipawn of the victim.
const TACTICAL_GRAIN: i32 = 16;

impl MovePicker {
    /// Picks from all legal moves, `table` first if it is legal.
    pub(crate) fn all(board: &Board, table: Option<Move>, stack: &MoveStack) -> MovePicker {
        let table = table.filter(|&mv| board.is_legal(mv));
        MovePicker {
            stage: if table.is_some() {
                Stage::Table
            } else {
                Stage::Generate
            },
            table,
            tactical_only: false,
            quiet_checks: false,
            skip_quiets: false,
            start: stack.scored.len(),
            quiets_start: stack.quiets.len(),
            next: stack.scored.len(),
            bad_end: stack.scored.len(),
            any_legal: false,
            victims: board.colors(!board.side_to_move()),
        }
    }

    /// Picks captures of `victims` and promotions that do not lose material; `table` first if it is
    /// any capture or promotion.
    pub(crate) fn tactical(
        board: &Board,
        table: Option<Move>,
        victims: BitBoard,
        stack: &MoveStack,
    ) -> MovePicker {
        let table = table.filter(|&mv| is_tactical(board, mv));
        MovePicker {
            tactical_only: true,
            victims,
            ..MovePicker::all(board, table, stack)
        }
    }

    /// Adds the quiet moves that give check and do not lose material.
    pub(crate) fn and_quiet_checks(self) -> MovePicker {
        MovePicker {
            quiet_checks: true,
            ..self
        }
    }

    /// Skips the remaining quiet moves.
    pub(crate) fn skip_quiets(&mut self) {
        self.skip_quiets = true;
    }

    /// Returns whether the moves were generated and there was one.
    pub(crate) fn saw_legal_move(&self) -> bool {
        self.any_legal || self.table.is_some()
    }

    /// Returns whether only captures that lose material remain.
    pub(crate) fn is_past_quiets(&self) -> bool {
        self.stage == Stage::BadTactical
    }

    /// Truncates the stack to its state before this picker.
    pub(crate) fn finish(&self, stack: &mut MoveStack) {
        stack.scored.truncate(self.start);
        stack.quiets.truncate(self.quiets_start);
    }

    /// Returns the next move.
    pub(crate) fn next(&mut self, stack: &mut MoveStack, order: &Order) -> Option<Move> {
        if self.stage == Stage::Table {
            self.stage = Stage::Generate;
            return self.table;
        }
        if self.stage == Stage::Generate {
            self.generate(stack, order);
            self.stage = Stage::GoodTactical;
        }
        if self.stage == Stage::GoodTactical {
            while let Some(mv) = self.best(stack) {
                if wins_at_least(order.tree.board(), mv, 0) {
                    return Some(mv);
                }
                stack.scored.swap(self.bad_end, self.next - 1);
                self.bad_end += 1;
            }
            if self.tactical_only {
                return None;
            }
            self.stage = Stage::ScoreQuiets;
        }
        if self.stage == Stage::ScoreQuiets {
            stack.scored.truncate(self.bad_end);
            if !self.skip_quiets {
                self.score_quiets(stack, order);
            }
            self.stage = Stage::Quiet;
        }
        if self.stage == Stage::Quiet {
            if !self.skip_quiets
                && let Some(mv) = self.best(stack)
            {
                return Some(mv);
            }
            stack.scored.truncate(self.bad_end);
            self.next = self.start;
            self.stage = Stage::BadTactical;
        }
        // Losing captures keep their order.
        let scored = stack.scored.get(self.next)?;
        self.next += 1;
        Some(scored.mv)
    }

    /// Generates all moves; scores captures and promotions.
    fn generate(&mut self, stack: &mut MoveStack, order: &Order) {
        let Order { tree, history, .. } = order;
        let board = tree.board();
        let known = history.tactical(board.side_to_move());
        let (table, tactical_only) = (self.table, self.tactical_only);
        let by_pieces = self.victims;
        let passed = passed_square(board).map_or(BitBoard::EMPTY, Square::bitboard);
        let by_pawns = self.victims | passed | BACK_RANKS;
        let checks = self
            .quiet_checks
            .then(|| (Checks::of(board), history.quiets(tree)));
        let pieces = match tactical_only && checks.is_none() {
            true => may_reach(board, by_pieces, by_pawns),
            false => BitBoard::FULL,
        };
        let MoveStack { scored, quiets, .. } = stack;
        let mut any_legal = false;
        board.generate_moves_for(pieces, |moves| {
            any_legal = true;
            let tactical = match moves.piece {
                Piece::Pawn => by_pawns,
                _ => by_pieces,
            };
            let to = moves.to & tactical;
            for mv in (PieceMoves { to, ..moves }) {
                if Some(mv) != table {
                    let victim = victim(board, mv);
                    let known = known.score(moves.piece, mv.to, victim);
                    let order = TACTICAL_GRAIN * tactical_order(moves.piece, mv, victim) + known;
                    scored.push(ScoredMove { mv, order });
                }
            }
            let to = moves.to & !tactical;
            if let Some((checks, known)) = &checks {
                let PieceMoves { piece, from, .. } = moves;
                for to in to & checks.targets(piece, from) {
                    let mv = Move {
                        from,
                        to,
                        promotion: None,
                    };
                    let order = QUIET_CHECKS + known.score(piece, from, to);
                    scored.push(ScoredMove { mv, order });
                }
            } else if !tactical_only && !to.is_empty() {
                quiets.push(PieceMoves { to, ..moves });
            }
            false
        });
        self.any_legal = any_legal;
        self.next = self.start;
    }

    /// Scores the quiet moves and stores them after the losing captures.
    fn score_quiets(&mut self, stack: &mut MoveStack, order: &Order) {
        let table = self.table;
        let board = order.tree.board();
        let checks = order
            .checks
            .map(|checks| checks.get_or_init(|| Checks::of(board)));
        let danger = order.tree.danger();
        let (check_order, most) = (CHECK_ORDER.get(), CHECK_ORDER_LOSS.get());
        let known = order.history.quiets(order.tree);
        let MoveStack { scored, quiets, .. } = stack;
        for moves in quiets.drain(self.quiets_start..) {
            let PieceMoves {
                piece,
                from,
                to: targets,
            } = moves;
            let checking = checks.map_or(BitBoard::EMPTY, |checks| checks.targets(piece, from));
            let danger = danger.squares(piece);
            let staked = DANGER * value(piece);
            let saved = if danger.has(from) { staked } else { 0 };
            for to in targets {
                let mv = Move {
                    from,
                    to,
                    // Promotions are not quiet.
                    promotion: None,
                };
                if Some(mv) == table {
                    continue;
                }
                let check = match checking.has(to) && wins_at_least(board, mv, -most) {
                    true => check_order,
                    false => 0,
                };
                let lost = if danger.has(to) { staked } else { 0 };
                let order = known.score(piece, from, to) + check + saved - lost;
                scored.push(ScoredMove { mv, order });
            }
        }
        self.next = self.bad_end;
    }

    /// Swaps the best move from `next` on to `next`. Selection sort, since most nodes need only
    /// their first moves.
    fn best(&mut self, stack: &mut MoveStack) -> Option<Move> {
        let rest = &mut stack.scored[self.next..];
        let (mut best, mut most) = (0, rest.first()?.order);
        for (index, &ScoredMove { order, .. }) in rest.iter().enumerate().skip(1) {
            // Branchless: the comparison is unpredictable.
            let better = order > most;
            best = if better { index } else { best };
            most = if better { order } else { most };
        }
        rest.swap(0, best);
        self.next += 1;
        Some(rest[0].mv)
    }
}

/// Returns the mover's pieces that attack one of these squares on an empty board, and its pawns
/// that can capture or promote.
fn may_reach(board: &Board, by_pieces: BitBoard, by_pawns: BitBoard) -> BitBoard {
    let mover = board.side_to_move();
    // A pawn captures from the squares that an opposing pawn on its target attacks.
    let pawns = pawn_attacks(by_pawns, !mover) | Rank::Seventh.relative_to(mover).bitboard();
    let own = |piece| board.colored_pieces(mover, piece);
    let reaching = |piece, moves: fn(Square) -> BitBoard| {
        let pieces = own(piece).into_iter();
        pieces.filter(move |&square| !moves(square).is_disjoint(by_pieces))
    };
    let pieces = reaching(Piece::Knight, get_knight_moves)
        .chain(reaching(Piece::Bishop, get_bishop_rays))
        .chain(reaching(Piece::Rook, get_rook_rays))
        .chain(reaching(Piece::Queen, |square| {
            get_bishop_rays(square) | get_rook_rays(square)
        }))
        .chain(reaching(Piece::King, get_king_moves));
    own(Piece::Pawn) & pawns | pieces.collect::<BitBoard>()
}

/// MVV-LVA: most valuable victim, then least valuable attacker. Queen promotions count as winning a
/// queen; underpromotions come last.
fn tactical_order(piece: Piece, mv: Move, victim: Option<Piece>) -> i32 {
    let captured = victim.map_or(0, value);
    let promoted = match mv.promotion {
        Some(Piece::Queen) => value(Piece::Queen),
        Some(_) => -value(Piece::King),
        None => 0,
    };
    captured + promoted - piece as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Position, legal_moves};
    use crate::evaluation::{EvaluationKind, Evaluator};

    /// Returns all moves of a position in order, with empty history.
    fn ordered(fen: &str, checks: Option<&OnceCell<Checks>>) -> Vec<Move> {
        let mut evaluator = Evaluator::embedded().unwrap();
        evaluator.set_kind(EvaluationKind::Material);
        let mut tree = Tree::new(&evaluator);
        tree.start(&Position::from_fen(fen).unwrap(), &evaluator);
        let order = Order {
            tree: &tree,
            history: &History::new(),
            checks,
        };
        let mut stack = MoveStack::default();
        let mut picker = MovePicker::all(tree.board(), None, &stack);
        std::iter::from_fn(|| picker.next(&mut stack, &order)).collect()
    }

    #[test]
    fn quiet_moves_save_pieces_first_and_lose_them_last() {
        // A pawn attacks the knight, another guards a square that the rook can reach.
        let moves = ordered("4k3/8/6p1/3p4/4N3/8/8/4K2R w - - 0 1", None);
        let (knight, others) = moves.split_at(8);
        assert!(knight.iter().all(|mv| mv.from == Square::E4), "{moves:?}");
        assert!(others.iter().all(|mv| mv.from != Square::E4), "{moves:?}");
        let last = moves.last().map(|mv| mv.to_string());
        assert_eq!(last.as_deref(), Some("h1h5"), "{moves:?}");
    }

    #[test]
    fn checks_come_before_other_quiet_moves_unless_they_lose_the_piece() {
        let moves = ordered("4k3/8/8/8/8/8/8/3QK3 w - - 0 1", Some(&OnceCell::new()));
        let moves: Vec<String> = moves.iter().map(Move::to_string).collect();
        let mut first = moves[..3].to_vec();
        first.sort();
        assert_eq!(first, ["d1a4", "d1e2", "d1h5"], "{moves:?}");
        assert!(moves.iter().any(|mv| mv == "d1d8"), "{moves:?}");
    }

    #[test]
    fn tactical_picker_yields_good_captures_then_quiet_checks() {
        let mut evaluator = Evaluator::embedded().unwrap();
        evaluator.set_kind(EvaluationKind::Material);
        let mut tree = Tree::new(&evaluator);
        let history = History::new();
        let mut random = fastrand::Rng::with_seed(11);
        let mut quiet = 0;
        for _ in 0..100 {
            tree.start(&Position::startpos(), &evaluator);
            for _ in 0..80 {
                let board = tree.board();
                let moves = legal_moves(board);
                if moves.is_empty() {
                    break;
                }
                let mut stack = MoveStack::default();
                let victims = board.colors(!board.side_to_move());
                let picker = MovePicker::tactical(board, None, victims, &stack);
                let mut picker = picker.and_quiet_checks();
                let order = Order {
                    tree: &tree,
                    history: &history,
                    checks: None,
                };
                let picked: Vec<Move> =
                    std::iter::from_fn(|| picker.next(&mut stack, &order)).collect();
                let checks = Checks::of(board);
                let expected = moves.iter().filter(|&&mv| {
                    let check = checks.gives_check(board.piece_on(mv.from).unwrap(), mv);
                    (is_tactical(board, mv) || check) && wins_at_least(board, mv, 0)
                });
                let text = |mv: &Move| mv.to_string();
                let mut sorted: Vec<String> = picked.iter().map(text).collect();
                sorted.sort();
                let mut expected: Vec<String> = expected.map(text).collect();
                expected.sort();
                assert_eq!(sorted, expected, "{board}");
                assert!(
                    picked.is_sorted_by_key(|&mv| !is_tactical(board, mv)),
                    "{board}"
                );
                quiet += picked.iter().filter(|&&mv| !is_tactical(board, mv)).count();
                tree.push(moves[random.usize(..moves.len())]);
            }
        }
        assert!(quiet > 200, "{quiet}");
    }
}
