//! Move-ordering history: scores moves by the beta cutoffs they caused.

use cozy_chess::{Board, Color, Move, Piece, Square};

use crate::search::exchange::victim;
use crate::search::placed::{Placed, moving};
use crate::search::tree::Tree;

/// Entries stay within `-HISTORY_LIMIT..=HISTORY_LIMIT`.
const HISTORY_LIMIT: i32 = 1 << 14;
/// Plies back whose moves index continuation history.
const CONTINUATIONS: [usize; 2] = [1, 2];

/// Victim index of a promotion without capture (the king's row is otherwise unused).
const NO_VICTIM: Piece = Piece::King;

type ByTarget = [i16; Square::NUM];
type ByPiece = [ByTarget; Piece::NUM];

/// The history tables of one search thread.
pub(crate) struct History {
    /// Butterfly history of quiet moves: mover, origin, target.
    butterfly: Vec<[ByTarget; Square::NUM]>,
    /// Continuation history of quiet moves: earlier move, mover, piece, target. The row of
    /// [`Placed::NONE`] stays zero.
    continuations: Vec<[ByPiece; Color::NUM]>,
    /// History of captures and promotions: mover, victim, piece, target.
    tactical: Vec<[ByPiece; Piece::NUM]>,
}

/// History rows for the quiet moves of one position.
pub(crate) struct QuietHistory<'a> {
    butterfly: &'a [ByTarget; Square::NUM],
    continuations: [&'a ByPiece; CONTINUATIONS.len()],
}

impl QuietHistory<'_> {
    /// Returns the ordering score of a quiet move; higher is searched earlier.
    #[inline(always)]
    pub(crate) fn score(&self, piece: Piece, from: Square, to: Square) -> i32 {
        let [last, second] = self
            .continuations
            .map(|table| i32::from(table[piece as usize][to as usize]));
        i32::from(self.butterfly[from as usize][to as usize]) + last + second
    }
}

/// History rows for one side's captures and promotions.
pub(crate) struct TacticalHistory<'a>(&'a [ByPiece; Piece::NUM]);

impl TacticalHistory<'_> {
    /// Returns the ordering score of a capture or promotion; higher is searched earlier.
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

    /// Returns the rows for the quiet moves of the current position.
    #[inline(always)]
    pub(crate) fn quiets(&self, tree: &Tree) -> QuietHistory<'_> {
        let mover = tree.board().side_to_move() as usize;
        QuietHistory {
            butterfly: &self.butterfly[mover],
            continuations: CONTINUATIONS
                .map(|back| &self.continuations[tree.placed(back).index()][mover]),
        }
    }

    /// Updates butterfly and continuation history of a quiet move played or tried `back` plies ago;
    /// a negative `bonus` is a malus.
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

    /// Updates only the butterfly history of a quiet move; `board` is the position before it.
    pub(crate) fn adjust_butterfly(&mut self, board: &Board, mv: Move, bonus: i32) {
        let butterfly = &mut self.butterfly[board.side_to_move() as usize];
        adjust(&mut butterfly[mv.from as usize][mv.to as usize], bonus);
    }

    /// Returns the rows for the captures and promotions of `mover`.
    pub(crate) fn tactical(&self, mover: Color) -> TacticalHistory<'_> {
        TacticalHistory(&self.tactical[mover as usize])
    }

    /// Updates the history of a capture or promotion; a negative `bonus` is a malus.
    pub(crate) fn adjust_tactical(&mut self, board: &Board, mv: Move, bonus: i32) {
        let table = &mut self.tactical[board.side_to_move() as usize];
        let victim = victim(board, mv).unwrap_or(NO_VICTIM);
        let by_target = &mut table[victim as usize][moving(board, mv) as usize];
        adjust(&mut by_target[mv.to as usize], bonus);
    }
}

/// Gravity update: steps shrink as an entry nears the limit.
fn adjust(entry: &mut i16, bonus: i32) {
    let now = i32::from(*entry);
    *entry = (now + bonus - now * bonus.abs() / HISTORY_LIMIT) as i16;
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
    fn continuation_history_adds_to_butterfly_history() {
        let mut history = History::new();
        let mv: Move = "g8f6".parse().unwrap();
        history.adjust_quiet(&after(&["e2e4", "e7e5", "g1f3"]), 0, mv, 1000);
        let score = |moves| {
            let quiets = history.quiets(&after(moves));
            quiets.score(Piece::Knight, mv.from, mv.to)
        };
        assert_eq!(score(&["e2e4", "e7e5", "g1f3"]), 3000);
        assert_eq!(score(&["g1f3"]), 2000);
        assert_eq!(score(&["d2d4", "e7e5", "d4d5"]), 2000);
        assert_eq!(score(&["d2d4"]), 1000);
        assert_eq!(score(&[]), 0, "the other side");
    }

    #[test]
    fn adjusts_the_move_that_led_here() {
        let [mut now, mut later] = [History::new(), History::new()];
        let mv: Move = "g1f3".parse().unwrap();
        let before = after(&["e2e4", "e7e5"]);
        now.adjust_quiet(&before, 0, mv, 500);
        later.adjust_quiet(&after(&["e2e4", "e7e5", "g1f3"]), 1, mv, 500);
        let score = |history: &History| {
            let quiets = history.quiets(&before);
            quiets.score(Piece::Knight, mv.from, mv.to)
        };
        assert_eq!(score(&now), 1500);
        assert_eq!(score(&later), 1500);
    }

    #[test]
    fn tactical_history_is_per_victim_and_bounded() {
        let mut history = History::new();
        let tree = after(&["e2e4", "d7d5"]);
        let mv: Move = "e4d5".parse().unwrap();
        for _ in 0..100 {
            history.adjust_tactical(tree.board(), mv, 3000);
        }
        let score = |victim| {
            let tactical = history.tactical(Color::White);
            tactical.score(Piece::Pawn, mv.to, victim)
        };
        assert!((15_000..=HISTORY_LIMIT).contains(&score(Some(Piece::Pawn))));
        assert_eq!(score(Some(Piece::Knight)), 0);
        assert_eq!(score(None), 0);
    }
}
