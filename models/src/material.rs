//! Material count: the baseline that nets are compared with.

use crate::Piece;

/// Returns the value of a piece in centipawns, from Michniewski's "Simplified Evaluation Function"
/// (chessprogramming wiki, 2008). A king counts nothing, since neither side can lose it.
pub const fn centipawns(piece: Piece) -> i32 {
    match piece {
        Piece::Pawn => 100,
        Piece::Knight => 320,
        Piece::Bishop => 330,
        Piece::Rook => 500,
        Piece::Queen => 900,
        Piece::King => 0,
    }
}
