//! Text diagrams of a board.

use cozy_chess::{Board, Color, File, Piece, Rank, Square};

/// Returns the piece on a square as its FEN letter; a blank if empty.
pub fn symbol(board: &Board, square: Square) -> char {
    match (board.piece_on(square), board.color_on(square)) {
        (Some(piece), Some(Color::White)) => char::from(piece).to_ascii_uppercase(),
        (Some(piece), Some(Color::Black)) => piece.into(),
        _ => ' ',
    }
}

/// Returns the piece on a square as a figurine; a dot if empty.
fn figurine(board: &Board, square: Square) -> char {
    let (Some(piece), Some(color)) = (board.piece_on(square), board.color_on(square)) else {
        return '·';
    };
    let white = match piece {
        Piece::King => '♔',
        Piece::Queen => '♕',
        Piece::Rook => '♖',
        Piece::Bishop => '♗',
        Piece::Knight => '♘',
        Piece::Pawn => '♙',
    };
    // Unicode has Black's pieces six code points after White's.
    match color {
        Color::White => white,
        Color::Black => char::from_u32(u32::from(white) + 6).unwrap_or(white),
    }
}

/// Drawing options.
#[derive(Clone, Copy, Debug)]
pub struct DiagramStyle {
    /// Whether to draw letters instead of figurines.
    pub ascii: bool,
    /// Whether Black is below.
    pub flipped: bool,
}

/// Returns the board with its coordinates, in nine lines.
pub fn diagram(board: &Board, style: DiagramStyle) -> String {
    let (mut ranks, mut files) = (Rank::ALL, File::ALL);
    if style.flipped {
        files.reverse();
    } else {
        ranks.reverse();
    }
    let mut text = String::new();
    for rank in ranks {
        text.push_str(&rank.to_string());
        text.push(' ');
        for file in files {
            let square = Square::new(file, rank);
            text.push(' ');
            text.push(match (style.ascii, symbol(board, square)) {
                (true, ' ') => '.',
                (true, letter) => letter,
                (false, _) => figurine(board, square),
            });
        }
        text.push('\n');
    }
    let files: String = files.map(|file| format!(" {file}")).concat();
    format!("{text}  {files}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_styles_from_both_sides() {
        let board = engine::parse_fen("k7/8/8/8/8/8/6P1/KQ6 w - - 0 1").unwrap();
        let lines = |ascii, flipped| {
            let text = diagram(&board, DiagramStyle { ascii, flipped });
            text.lines().map(str::to_string).collect::<Vec<_>>()
        };
        let white = lines(true, false);
        assert_eq!(white.len(), 9);
        assert_eq!(white[0], "8  k . . . . . . .");
        assert_eq!(white[6], "2  . . . . . . P .");
        assert_eq!(white[8], "   a b c d e f g h");
        let black = lines(false, true);
        assert_eq!(black[0], "1  · · · · · · ♕ ♔");
        assert_eq!(black[7], "8  · · · · · · · ♚");
        assert_eq!(black[8], "   h g f e d c b a");
    }
}
