//! Mop-up evaluation: how to drive a bare king to the edge. A network that
//! learns how good a position is sees no difference between won ones
//! (chessprogramming wiki, "Mop-up Evaluation").

use cozy_chess::{BitBoard, Board, Color, Piece, Square};

use crate::evaluation::Score;
use crate::evaluation::evaluator::material_balance;

/// What a win against a bare king counts, in centipawns, more than its
/// material: more than a network's value, so that the last pawn is taken.
const KNOWN_WIN: i32 = 5_000;
/// For each step that the bare king is driven.
const DRIVEN: i32 = 20;
/// The same by bishop and knight, towards their corners: the long way along the edge is
/// found where it outweighs all else.
const DRIVEN_TO_CORNER: i32 = 250;
/// For each step that the kings are nearer to each other.
const NEARER: i32 = 8;

/// The value, from the view of the side to move, where one side has a bare
/// king, and the other pieces that mate it without the help of a pawn.
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
        // Bishop and knight mate in the corners of the bishop's colour alone.
        DRIVEN_TO_CORNER * towards_corners(king, dark)
    };
    let near = 14 - distance(king, board.king(!bare));
    let value = KNOWN_WIN + driven + NEARER * near;
    let mover_wins = board.side_to_move() != bare;
    Some(material_balance(board) + if mover_wins { value } else { -value })
}

/// Steps of a rook between two squares.
fn distance(a: Square, b: Square) -> i32 {
    let steps = |a: i32, b: i32| (a - b).abs();
    steps(a.file() as i32, b.file() as i32) + steps(a.rank() as i32, b.rank() as i32)
}

/// Steps of a rook from the four squares in the centre, at most six.
fn from_centre(square: Square) -> i32 {
    let steps = |line: i32| (3 - line).max(line - 4);
    steps(square.file() as i32) + steps(square.rank() as i32)
}

/// How near the corners of a colour are: seven in one, none on the diagonal
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
    fn only_what_mates_a_bare_king_counts() {
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
    fn the_bare_king_is_driven_to_where_it_can_be_mated() {
        let centre = value("8/8/8/3k4/8/8/8/R3K3 w - - 0 1");
        let edge = value("3k4/8/8/8/8/8/8/R3K3 w - - 0 1");
        assert!(edge > centre);
        // The bishop on c1 goes on dark squares: a1 and h8.
        let right = value("7k/8/8/8/8/8/8/2BNK3 w - - 0 1");
        let wrong = value("k7/8/8/8/8/8/8/2BNK3 w - - 0 1");
        assert!(right > wrong);
        let right = value("k7/8/8/8/8/8/8/3NKB2 w - - 0 1");
        let wrong = value("7k/8/8/8/8/8/8/3NKB2 w - - 0 1");
        assert!(right > wrong);
    }
}
