//! What earlier cutoffs teach about moves: killers and histories.

use cozy_chess::{Board, Color, Move, Piece, Square};

use crate::exchange::victim;

/// Every history stays within plus and minus this.
pub(crate) const HISTORY_LIMIT: i32 = 1 << 14;

/// A number of cutoffs, weighed, that the more resists change the further it
/// is from zero.
#[derive(Clone, Copy, Default)]
struct Weight(i16);

impl Weight {
    fn adjust(&mut self, bonus: i32) {
        let now = i32::from(self.0);
        self.0 = (now + bonus - now * bonus.abs() / HISTORY_LIMIT) as i16;
    }
}

/// A piece on the square it moves to: a row or a column of the continuation
/// history. The last one stands for no move.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Landing(u16);

const LANDINGS: usize = Color::NUM * Piece::NUM * Square::NUM;

impl Landing {
    /// Of a null move, and of what was played before the root.
    pub(crate) const NONE: Landing = Landing(LANDINGS as u16);

    /// Where it landed.
    pub(crate) fn square(self) -> Option<Square> {
        (self != Landing::NONE).then(|| Square::index(usize::from(self.0) % Square::NUM))
    }

    pub(crate) fn of(board: &Board, mv: Move) -> Landing {
        let piece = board.piece_on(mv.from).map_or(0, |piece| piece as usize);
        let mover = board.side_to_move() as usize * Piece::NUM + piece;
        Landing((mover * Square::NUM + mv.to as usize) as u16)
    }
}

/// The landings of the moves one, two and four plies ago.
pub(crate) type Before = [Landing; 3];

/// What the search has learned of moves; one thread's.
pub(crate) struct History {
    /// Quiet moves by mover, origin and target ("butterfly boards").
    butterfly: Vec<[[Weight; Square::NUM]; Square::NUM]>,
    /// Captures and promotions by landing and victim, the last for none.
    tactical: Vec<[Weight; Piece::NUM + 1]>,
    /// Quiet moves by the landing of an earlier move and their own.
    continuation: Vec<[Weight; LANDINGS]>,
}

impl History {
    pub(crate) fn new() -> History {
        History {
            butterfly: vec![[[Weight(0); Square::NUM]; Square::NUM]; Color::NUM],
            tactical: vec![[Weight(0); Piece::NUM + 1]; LANDINGS],
            continuation: vec![[Weight(0); LANDINGS]; LANDINGS + 1],
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = History::new();
    }

    /// What is known of a quiet move.
    pub(crate) fn quiet(&self, board: &Board, mv: Move, before: &Before) -> i32 {
        let landing = usize::from(Landing::of(board, mv).0);
        let butterfly =
            self.butterfly[board.side_to_move() as usize][mv.from as usize][mv.to as usize];
        let continued = before
            .iter()
            .map(|earlier| i32::from(self.continuation[usize::from(earlier.0)][landing].0));
        i32::from(butterfly.0) + continued.sum::<i32>()
    }

    /// What is known of a capture or promotion.
    pub(crate) fn tactical(&self, board: &Board, mv: Move) -> i32 {
        let landing = usize::from(Landing::of(board, mv).0);
        i32::from(self.tactical[landing][victim_index(board, mv)].0)
    }

    pub(crate) fn adjust_quiet(&mut self, board: &Board, mv: Move, before: &Before, bonus: i32) {
        let landing = usize::from(Landing::of(board, mv).0);
        self.butterfly[board.side_to_move() as usize][mv.from as usize][mv.to as usize]
            .adjust(bonus);
        for earlier in before {
            self.continuation[usize::from(earlier.0)][landing].adjust(bonus);
        }
    }

    pub(crate) fn adjust_tactical(&mut self, board: &Board, mv: Move, bonus: i32) {
        let landing = usize::from(Landing::of(board, mv).0);
        self.tactical[landing][victim_index(board, mv)].adjust(bonus);
    }
}

fn victim_index(board: &Board, mv: Move) -> usize {
    victim(board, mv).map_or(Piece::NUM, |piece| piece as usize)
}

/// Captures, en passant included, and promotions.
pub(crate) fn is_tactical(board: &Board, mv: Move) -> bool {
    mv.promotion.is_some() || victim(board, mv).is_some()
}
