//! The baseline every net is compared with: the sum of the pieces' values.

use crate::Piece;

/// What a piece is worth, in centipawns. The values are those of Michniewski's
/// "Simplified Evaluation Function" (chessprogramming wiki, 2008); a king
/// counts nothing, since neither side can lose it.
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
