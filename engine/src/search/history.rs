//! What earlier cutoffs teach about quiet moves.

use cozy_chess::{Board, Color, Move, Square};

use crate::search::exchange::takes_en_passant;

/// What is known of a move stays within plus and minus this.
pub(crate) const HISTORY_LIMIT: i32 = 1 << 14;

/// Cutoffs by quiet moves, weighed, by mover, origin and target ("butterfly
/// boards"); one thread's.
pub(crate) struct History(Vec<[[i16; Square::NUM]; Square::NUM]>);

impl History {
    pub(crate) fn new() -> History {
        History(vec![[[0; Square::NUM]; Square::NUM]; Color::NUM])
    }

    pub(crate) fn clear(&mut self) {
        *self = History::new();
    }

    /// What is known of a quiet move.
    pub(crate) fn quiet(&self, mover: Color, mv: Move) -> i32 {
        self.quiets_from(mover, mv.from)[mv.to as usize].into()
    }

    /// What is known of the quiet moves from a square, by target.
    pub(crate) fn quiets_from(&self, mover: Color, from: Square) -> &[i16; Square::NUM] {
        &self.0[mover as usize][from as usize]
    }

    /// Learns that a quiet move proved good, or bad where `bonus` is negative.
    /// What is known resists change the more, the further it is from zero.
    pub(crate) fn adjust(&mut self, mover: Color, mv: Move, bonus: i32) {
        let known = &mut self.0[mover as usize][mv.from as usize][mv.to as usize];
        let now = i32::from(*known);
        *known = (now + bonus - now * bonus.abs() / HISTORY_LIMIT) as i16;
    }
}

/// Captures, en passant included, and promotions.
pub(crate) fn is_tactical(board: &Board, mv: Move) -> bool {
    board.colors(!board.side_to_move()).has(mv.to)
        || mv.promotion.is_some()
        || takes_en_passant(board, mv)
}
