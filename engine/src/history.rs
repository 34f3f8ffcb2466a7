//! What earlier cutoffs teach about moves: killers and histories.

use cozy_chess::{Board, Color, Move, Piece, Square};

use crate::exchange::{takes_en_passant, victim};

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

/// What the search has learned of moves; one thread's.
pub(crate) struct History {
    /// Quiet moves by mover, origin and target ("butterfly boards").
    quiet: Vec<[[Weight; Square::NUM]; Square::NUM]>,
    /// Captures and promotions by mover, piece, target and victim, the last
    /// for none.
    tactical: Vec<[[[Weight; Piece::NUM + 1]; Square::NUM]; Piece::NUM]>,
}

impl History {
    pub(crate) fn new() -> History {
        History {
            quiet: vec![[[Weight(0); Square::NUM]; Square::NUM]; Color::NUM],
            tactical: vec![[[[Weight(0); Piece::NUM + 1]; Square::NUM]; Piece::NUM]; Color::NUM],
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = History::new();
    }

    /// What is known of a quiet move.
    pub(crate) fn quiet(&self, mover: Color, mv: Move) -> i32 {
        self.quiet[mover as usize][mv.from as usize][mv.to as usize]
            .0
            .into()
    }

    /// What is known of a piece's capture or promotion.
    pub(crate) fn tactical(
        &self,
        mover: Color,
        piece: Piece,
        mv: Move,
        victim: Option<Piece>,
    ) -> i32 {
        self.tactical[mover as usize][piece as usize][mv.to as usize][victim_index(victim)]
            .0
            .into()
    }

    pub(crate) fn adjust_quiet(&mut self, mover: Color, mv: Move, bonus: i32) {
        self.quiet[mover as usize][mv.from as usize][mv.to as usize].adjust(bonus);
    }

    pub(crate) fn adjust_tactical(&mut self, board: &Board, mv: Move, bonus: i32) {
        let piece = board.piece_on(mv.from).unwrap_or(Piece::Pawn) as usize;
        let victim = victim_index(victim(board, mv));
        self.tactical[board.side_to_move() as usize][piece][mv.to as usize][victim].adjust(bonus);
    }
}

fn victim_index(victim: Option<Piece>) -> usize {
    victim.map_or(Piece::NUM, |piece| piece as usize)
}

/// Captures, en passant included, and promotions.
pub(crate) fn is_tactical(board: &Board, mv: Move) -> bool {
    board.colors(!board.side_to_move()).has(mv.to)
        || mv.promotion.is_some()
        || takes_en_passant(board, mv)
}
