//! Tablebase interface of the search. The library reads no files: the caller supplies the tables.

use cozy_chess::{Board, Move};

/// Game-theoretic result, from the side to move's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wdl {
    /// Loss.
    Loss,
    /// Loss that the fifty-move rule turns into a draw.
    BlessedLoss,
    /// Draw.
    Draw,
    /// Win that the fifty-move rule turns into a draw.
    CursedWin,
    /// Win.
    Win,
}

/// Endgame tablebases that the search probes.
pub trait Tablebase: Send + Sync {
    /// Returns the largest number of pieces of any table, kings included.
    fn max_pieces(&self) -> u32;

    /// Returns the minimum search depth in plies for probing boards of [`Tablebase::max_pieces`];
    /// smaller boards are probed at any depth.
    fn probe_depth(&self) -> i32 {
        1
    }

    /// Returns the result of a board as if its halfmove clock were 0; `None` if no table covers it.
    fn wdl(&self, board: &Board) -> Option<Wdl>;

    /// Returns the result under the fifty-move rule at the current halfmove clock, and the moves
    /// that keep it, sorted by distance to zeroing (shortest first in wins). `None` if no table
    /// covers the board.
    fn root_moves(&self, board: &Board) -> Option<(Wdl, Vec<Move>)>;
}
