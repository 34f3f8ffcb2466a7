//! Mop-up evaluation: drives a bare king to the edge, since a network trained on results sees no
//! difference between won positions (Chess Programming Wiki, "Mop-up Evaluation").

use cozy_chess::{BitBoard, Board, Color, Piece, Square};

use crate::evaluation::Score;
use crate::evaluation::evaluator::material_balance;

/// Bonus in centipawns, beyond material, for a win against a bare king: more than any network
/// evaluation, so that the last pawn is taken.
const KNOWN_WIN: i32 = 5_000;
/// Bonus in centipawns per step of the bare king from the centre.
const DRIVEN: i32 = 20;
/// Bonus in centipawns per step towards the corners of the bishop's colour, for bishop and knight:
/// high enough to outweigh the rest on the long way along the edge.
const DRIVEN_TO_CORNER: i32 = 250;
/// Bonus in centipawns per step that the kings are closer together.
const NEARER: i32 = 8;

/// Returns the evaluation from the side to move's point of view if one side has a bare king and the
/// other enough pieces to mate it without a pawn; `None` otherwise.
pub(crate) fn mop_up(board: &Board) -> Option<Score> {
    let bare = Color::ALL
        .into_iter()
        .find(|&color| board.colors(color).len() == 1)?;
    let has = |piece| !board.pieces(piece).is_empty();
    let heavy = has(Piece::Queen) || has(Piece::Rook);
    let bishops = board.pieces(Piece::Bishop);
    let dark = !bishops.is_disjoint(BitBoard::DARK_SQUARES);
    let light = !bishops.is_disjoint(BitBoard::LIGHT_SQUARES);
    let only_one_colour = dark != light;
    if !heavy && (bishops.is_empty() || only_one_colour && !has(Piece::Knight)) {
        return None;
    }
    let king = board.king(bare);
    let driven = if heavy || !only_one_colour {
        DRIVEN * from_centre(king)
    } else {
        // Bishop and knight mate only in the corners of the bishop's colour.
        DRIVEN_TO_CORNER * towards_corners(king, dark)
    };
    let near = 14 - distance(king, board.king(!bare));
    let value = KNOWN_WIN + driven + NEARER * near;
    let mover_wins = board.side_to_move() != bare;
    Some(material_balance(board) + if mover_wins { value } else { -value })
}

/// Returns the Manhattan distance between two squares.
fn distance(a: Square, b: Square) -> i32 {
    let steps = |a: i32, b: i32| (a - b).abs();
    steps(a.file() as i32, b.file() as i32) + steps(a.rank() as i32, b.rank() as i32)
}

/// Returns the Manhattan distance to the four centre squares, `0..=6`.
fn from_centre(square: Square) -> i32 {
    let steps = |line: i32| (3 - line).max(line - 4);
    steps(square.file() as i32) + steps(square.rank() as i32)
}

/// Returns the proximity to the corners of one colour: 7 in such a corner, 0 on the diagonal
/// between the other two.
fn towards_corners(square: Square, dark: bool) -> i32 {
    let (file, rank) = (square.file() as i32, square.rank() as i32);
    let file = if dark { file } else { 7 - file };
    (7 - file - rank).abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::parse_fen;

    fn value(fen: &str) -> Option<i32> {
        mop_up(&parse_fen(fen).unwrap()).map(Score::centipawns)
    }

    #[test]
    fn requires_mating_material_against_a_bare_king() {
        for fen in [
            "4k3/4p3/8/8/8/8/8/R3K3 w - - 0 1",
            "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1",
            "4k3/8/8/8/8/8/4P3/2B1K3 w - - 0 1",
            "4k3/8/8/8/8/8/8/1NN1K3 w - - 0 1",
            "4k3/8/8/8/8/4B3/8/2B1K3 w - - 0 1",
            "4k3/8/8/8/8/8/8/4K3 w - - 0 1",
        ] {
            assert_eq!(value(fen), None, "{fen}");
        }
        let rook = value("4k3/8/8/8/8/8/8/R3K3 w - - 0 1").unwrap();
        assert!(rook > KNOWN_WIN);
        assert_eq!(value("4k3/8/8/8/8/8/8/R3K3 b - - 0 1"), Some(-rook));
        assert_eq!(value("r3k3/8/8/8/8/8/8/4K3 b - - 0 1"), Some(rook));
        assert!(value("4k3/8/8/8/8/8/8/2B1KB2 w - - 0 1") > Some(KNOWN_WIN));
    }

    #[test]
    fn drives_the_bare_king_to_mating_squares() {
        let centre = value("8/8/8/3k4/8/8/8/R3K3 w - - 0 1");
        let edge = value("3k4/8/8/8/8/8/8/R3K3 w - - 0 1");
        assert!(edge > centre);
        // The bishop on c1 controls dark squares: a1 and h8.
        let right = value("7k/8/8/8/8/8/8/2BNK3 w - - 0 1");
        let wrong = value("k7/8/8/8/8/8/8/2BNK3 w - - 0 1");
        assert!(right > wrong);
        let right = value("k7/8/8/8/8/8/8/3NKB2 w - - 0 1");
        let wrong = value("7k/8/8/8/8/8/8/3NKB2 w - - 0 1");
        assert!(right > wrong);
    }
}
