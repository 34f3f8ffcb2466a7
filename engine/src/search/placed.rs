//! The index of continuation history.

use cozy_chess::{Board, Color, Move, Piece, Square};

/// The mover, piece and target square of a move: the index of continuation history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed(u16);

impl Placed {
    /// Number of indices except [`Placed::NONE`].
    pub(crate) const NUM: usize = Color::NUM * Piece::NUM * Square::NUM;
    /// Index used after a null move and before the root.
    pub(crate) const NONE: Placed = Placed(Placed::NUM as u16);

    /// Returns the index of `mv`; `board` is the position before it.
    pub(crate) fn by(board: &Board, mv: Move) -> Placed {
        let piece = board.side_to_move() as usize * Piece::NUM + moving(board, mv) as usize;
        Placed((piece * Square::NUM + mv.to as usize) as u16)
    }

    /// Returns the row of the continuation tables, `0..=NUM`.
    pub(crate) fn index(self) -> usize {
        self.0.into()
    }
}

/// Returns the piece that a legal move moves.
pub(crate) fn moving(board: &Board, mv: Move) -> Piece {
    board.piece_on(mv.from).unwrap_or(Piece::Pawn)
}
