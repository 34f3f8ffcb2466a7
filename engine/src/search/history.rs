//! What earlier cutoffs teach about moves.

use cozy_chess::{Board, Color, Move, Piece, Square};

use crate::search::exchange::{takes_en_passant, victim};
use crate::search::tree::Tree;

/// What a table knows of a move stays within plus and minus this.
const HISTORY_LIMIT: i32 = 1 << 14;
/// How many moves back continuation history looks.
const CONTINUATIONS: [usize; 2] = [1, 2];

/// Stands for what a promotion takes that is no capture: no king is taken.
const NO_VICTIM: Piece = Piece::King;

type ByTarget = [i16; Square::NUM];
type ByPiece = [ByTarget; Piece::NUM];

/// A piece and the square that a move brought it to, by which continuation history tells
/// moves apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed(u16);

impl Placed {
    const NUM: usize = Color::NUM * Piece::NUM * Square::NUM;
    /// No move: a null move, or one before the root.
    pub(crate) const NONE: Placed = Placed(Placed::NUM as u16);

    /// What a move places on its square.
    pub(crate) fn by(board: &Board, mv: Move) -> Placed {
        let piece = board.side_to_move() as usize * Piece::NUM + moving(board, mv) as usize;
        Placed((piece * Square::NUM + mv.to as usize) as u16)
    }

    /// Tells apart what was placed.
    pub(crate) fn index(self) -> usize {
        self.0.into()
    }
}

/// Cutoffs, weighed; one thread's.
pub(crate) struct History {
    /// Of quiet moves, by mover, origin and target ("butterfly boards").
    butterfly: Vec<[ByTarget; Square::NUM]>,
    /// Of quiet moves, by an earlier move, mover, piece and target. Behind no move stand zeros.
    continuations: Vec<[ByPiece; Color::NUM]>,
    /// Of captures and promotions, by mover, victim, piece and target.
    tactical: Vec<[ByPiece; Piece::NUM]>,
}

/// What is known of the quiet moves of a position.
pub(crate) struct QuietHistory<'a> {
    butterfly: &'a [ByTarget; Square::NUM],
    continuations: [&'a ByPiece; CONTINUATIONS.len()],
}

impl QuietHistory<'_> {
    /// What is known of one.
    #[inline(always)]
    pub(crate) fn score(&self, piece: Piece, from: Square, to: Square) -> i32 {
        let [last, second] = self
            .continuations
            .map(|table| i32::from(table[piece as usize][to as usize]));
        i32::from(self.butterfly[from as usize][to as usize]) + last + second
    }
}

/// What is known of the captures and promotions of a side.
pub(crate) struct TacticalHistory<'a>(&'a [ByPiece; Piece::NUM]);

impl TacticalHistory<'_> {
    /// What is known of one.
    #[inline(always)]
    pub(crate) fn score(&self, piece: Piece, to: Square, victim: Option<Piece>) -> i32 {
        let by_piece = &self.0[victim.unwrap_or(NO_VICTIM) as usize];
        by_piece[piece as usize][to as usize].into()
    }
}

impl History {
    pub(crate) fn new() -> History {
        let by_piece = [[0; Square::NUM]; Piece::NUM];
        History {
            butterfly: vec![[[0; Square::NUM]; Square::NUM]; Color::NUM],
            continuations: vec![[by_piece; Color::NUM]; Placed::NUM + 1],
            tactical: vec![[by_piece; Piece::NUM]; Color::NUM],
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = History::new();
    }

    /// What is known of the quiet moves of the present position.
    #[inline(always)]
    pub(crate) fn quiets(&self, tree: &Tree) -> QuietHistory<'_> {
        let mover = tree.board().side_to_move() as usize;
        QuietHistory {
            butterfly: &self.butterfly[mover],
            continuations: CONTINUATIONS
                .map(|back| &self.continuations[tree.placed(back).index()][mover]),
        }
    }

    /// Learns that a quiet move of the position `back` plies ago proved good, or bad where
    /// `bonus` is negative.
    pub(crate) fn adjust_quiet(&mut self, tree: &Tree, back: usize, mv: Move, bonus: i32) {
        let board = tree.earlier(back);
        let mover = board.side_to_move() as usize;
        let piece = moving(board, mv) as usize;
        self.adjust_butterfly(board, mv, bonus);
        for plies in CONTINUATIONS {
            let placed = tree.placed(back + plies);
            if placed != Placed::NONE {
                let table = &mut self.continuations[placed.index()][mover];
                adjust(&mut table[piece][mv.to as usize], bonus);
            }
        }
    }

    /// Learns the same of the quiet move alone, whatever was played before it.
    pub(crate) fn adjust_butterfly(&mut self, board: &Board, mv: Move, bonus: i32) {
        let butterfly = &mut self.butterfly[board.side_to_move() as usize];
        adjust(&mut butterfly[mv.from as usize][mv.to as usize], bonus);
    }

    /// What is known of the captures and promotions of a side.
    pub(crate) fn tactical(&self, mover: Color) -> TacticalHistory<'_> {
        TacticalHistory(&self.tactical[mover as usize])
    }

    /// Learns that a capture or promotion proved good, or bad where `bonus` is negative.
    pub(crate) fn adjust_tactical(&mut self, board: &Board, mv: Move, bonus: i32) {
        let table = &mut self.tactical[board.side_to_move() as usize];
        let victim = victim(board, mv).unwrap_or(NO_VICTIM);
        let by_target = &mut table[victim as usize][moving(board, mv) as usize];
        adjust(&mut by_target[mv.to as usize], bonus);
    }
}

/// What is known resists change the more, the further it is from zero.
fn adjust(known: &mut i16, bonus: i32) {
    let now = i32::from(*known);
    *known = (now + bonus - now * bonus.abs() / HISTORY_LIMIT) as i16;
}

/// The piece that a legal move moves.
fn moving(board: &Board, mv: Move) -> Piece {
    board.piece_on(mv.from).unwrap_or(Piece::Pawn)
}

/// Captures, en passant included, and promotions.
pub(crate) fn is_tactical(board: &Board, mv: Move) -> bool {
    board.colors(!board.side_to_move()).has(mv.to)
        || mv.promotion.is_some()
        || takes_en_passant(board, mv)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{EvaluationKind, Evaluator};

    fn after(moves: &[&str]) -> Tree {
        let mut evaluator = Evaluator::embedded().unwrap();
        evaluator.set_kind(EvaluationKind::Material);
        let mut tree = Tree::new(&evaluator);
        for mv in moves {
            tree.push(mv.parse().unwrap());
        }
        tree
    }

    #[test]
    fn a_quiet_move_is_known_best_after_the_moves_it_answered() {
        let mut history = History::new();
        let mv: Move = "g8f6".parse().unwrap();
        history.adjust_quiet(&after(&["e2e4", "e7e5", "g1f3"]), 0, mv, 1000);
        let known = |moves| {
            let quiets = history.quiets(&after(moves));
            quiets.score(Piece::Knight, mv.from, mv.to)
        };
        assert_eq!(known(&["e2e4", "e7e5", "g1f3"]), 3000);
        assert_eq!(known(&["g1f3"]), 2000);
        assert_eq!(known(&["d2d4", "e7e5", "d4d5"]), 2000);
        assert_eq!(known(&["d2d4"]), 1000);
        assert_eq!(known(&[]), 0, "the other side");
    }

    #[test]
    fn the_last_move_can_be_learned_of_too() {
        let [mut now, mut later] = [History::new(), History::new()];
        let mv: Move = "g1f3".parse().unwrap();
        let before = after(&["e2e4", "e7e5"]);
        now.adjust_quiet(&before, 0, mv, 500);
        later.adjust_quiet(&after(&["e2e4", "e7e5", "g1f3"]), 1, mv, 500);
        let known = |history: &History| {
            let quiets = history.quiets(&before);
            quiets.score(Piece::Knight, mv.from, mv.to)
        };
        assert_eq!(known(&now), 1500);
        assert_eq!(known(&later), 1500);
    }

    #[test]
    fn captures_are_known_by_their_victims_and_stay_within_the_limit() {
        let mut history = History::new();
        let tree = after(&["e2e4", "d7d5"]);
        let mv: Move = "e4d5".parse().unwrap();
        for _ in 0..100 {
            history.adjust_tactical(tree.board(), mv, 3000);
        }
        let known = |victim| {
            let tactical = history.tactical(Color::White);
            tactical.score(Piece::Pawn, mv.to, victim)
        };
        assert!((15_000..=HISTORY_LIMIT).contains(&known(Some(Piece::Pawn))));
        assert_eq!(known(Some(Piece::Knight)), 0);
        assert_eq!(known(None), 0);
    }
}
