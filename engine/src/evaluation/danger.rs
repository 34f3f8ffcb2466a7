//! Squares attacked by lesser pieces, used to order quiet moves that save or lose a piece.

use cozy_chess::{BitBoard, Board, Piece};
use models::Side;

use crate::evaluation::features::side;

/// Squares where a piece of the side to move is, or after moving there would be, attacked by a
/// lesser piece. Attacks opened by the move itself are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Danger {
    minor: BitBoard,
    rook: BitBoard,
    queen: BitBoard,
}

impl Danger {
    /// Returns the danger squares of `board`, computing the opponent's attacks.
    pub(crate) fn of(board: &Board) -> Danger {
        Danger::by(&side(board, BitBoard::EMPTY, !board.side_to_move()))
    }

    /// Returns the danger squares, given the attacks of the side not to move.
    #[inline]
    pub(crate) fn by(theirs: &Side) -> Danger {
        // Pawns have no lesser attacker; knights and bishops rank equal.
        let [_, minor, _, rook, queen, _] = theirs.attacks_on_greater().map(BitBoard);
        Danger { minor, rook, queen }
    }

    /// Returns the squares where a piece of this kind is attacked by a lesser one.
    pub(crate) fn squares(&self, piece: Piece) -> BitBoard {
        match piece {
            Piece::Pawn | Piece::King => BitBoard::EMPTY,
            Piece::Knight | Piece::Bishop => self.minor,
            Piece::Rook => self.rook,
            Piece::Queen => self.queen,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::parse_fen;
    use cozy_chess::Square;

    #[test]
    fn covers_attacks_by_lesser_pieces() {
        // A pawn attacks b4 and d4, a bishop e5 among others, a rook the e-file.
        let board = parse_fen("4r2k/6b1/8/2p5/8/8/3Q4/K7 w - - 0 1").unwrap();
        let danger = Danger::of(&board);
        let by_kind = |square| Piece::ALL.map(|piece| danger.squares(piece).has(square));
        for (square, expected) in [
            (Square::D4, [false, true, true, true, true, false]),
            (Square::F6, [false, false, false, true, true, false]),
            (Square::E3, [false, false, false, false, true, false]),
            (Square::H7, [false; 6]),
            (Square::A3, [false; 6]),
        ] {
            assert_eq!(by_kind(square), expected, "{square}");
        }
    }
}
