//! Endgame tablebases, as the search asks them. The library reads no files:
//! the caller brings the tables.

use cozy_chess::{Board, Move};

/// The result of a position with best play, from the view of the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wdl {
    /// Lost.
    Loss,
    /// Lost, but for the fifty-move rule.
    BlessedLoss,
    /// Drawn.
    Draw,
    /// Won, but for the fifty-move rule.
    CursedWin,
    /// Won.
    Win,
}

/// Endgame tablebases.
pub trait Tablebase: Send + Sync {
    /// The most pieces on the board, kings included, that any table has.
    fn max_pieces(&self) -> u32;

    /// The least depth in plies at which a search asks about boards of
    /// [`Tablebase::max_pieces`]; about smaller ones it asks at any.
    fn probe_depth(&self) -> i32 {
        1
    }

    /// The result of a board, as if its fifty-move clock stood at zero; `None`
    /// where no table has it.
    fn wdl(&self, board: &Board) -> Option<Wdl>;

    /// The result under the fifty-move rule as the clock stands, and the moves
    /// that keep it, the one that comes nearest to a capture or pawn move
    /// first. `None` where no table has the board.
    fn root_moves(&self, board: &Board) -> Option<(Wdl, Vec<Move>)>;
}
