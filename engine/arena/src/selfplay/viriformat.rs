//! Viriformat, as the crate `viriformat` reads it: a packed board, each move with White's score of
//! the position before it, four zero bytes.

use cozy_chess::{Board, Color, Move, Piece, Rank};
use engine::{is_castling, legal_en_passant};

use crate::selfplay::game::Game;

/// Piece code of a rook that may still castle.
const UNMOVED_ROOK: u8 = 6;
/// Square that means no en-passant capture.
const NO_SQUARE: u8 = 64;

const EN_PASSANT: u16 = 1 << 14;
const CASTLING: u16 = 2 << 14;
const PROMOTION: u16 = 3 << 14;

/// Returns the game from its opening on, without the random moves.
pub fn write(game: &Game) -> Vec<u8> {
    let mut board = game.opening();
    let mut bytes = packed_board(&board, game.winner).to_vec();
    for searched in &game.searched {
        // Mate scores are 32000 less the plies to mate.
        let score = searched.score.centipawns() as i16;
        let white = match board.side_to_move() {
            Color::White => score,
            Color::Black => -score,
        };
        bytes.extend(packed_move(&board, searched.mv).to_le_bytes());
        bytes.extend(white.to_le_bytes());
        board.play_unchecked(searched.mv);
    }
    bytes.extend([0; 4]);
    bytes
}

/// Packs a board into the 32 bytes of marlinformat: occupied squares, half a byte per piece in
/// their order, mover and en-passant square, halfmove clock, move number, an unused score, the
/// result, an empty byte.
fn packed_board(board: &Board, winner: Option<Color>) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&board.occupied().0.to_le_bytes());
    for (i, square) in board.occupied().iter().enumerate() {
        let (Some(piece), Some(color)) = (board.piece_on(square), board.color_on(square)) else {
            continue;
        };
        let rights = board.castle_rights(color);
        let castles = piece == Piece::Rook
            && square.rank() == Rank::First.relative_to(color)
            && [rights.short, rights.long].contains(&Some(square.file()));
        let code = match castles {
            true => UNMOVED_ROOK,
            false => piece as u8,
        };
        bytes[8 + i / 2] |= (code | (color as u8) << 3) << (4 * (i % 2));
    }
    let en_passant = legal_en_passant(board).map_or(NO_SQUARE, |square| square as u8);
    bytes[24] = (board.side_to_move() as u8) << 7 | en_passant;
    bytes[25] = board.halfmove_clock();
    bytes[26..28].copy_from_slice(&board.fullmove_number().to_le_bytes());
    bytes[30] = match winner {
        Some(Color::White) => 2,
        None => 1,
        Some(Color::Black) => 0,
    };
    bytes
}

/// Packs a move: from and to in six bits each, promotion piece in two, kind in two.
fn packed_move(board: &Board, mv: Move) -> u16 {
    let kind = match mv.promotion {
        Some(piece) => PROMOTION | (piece as u16 - Piece::Knight as u16) << 12,
        None if is_castling(board, mv) => CASTLING,
        None if is_en_passant(board, mv) => EN_PASSANT,
        None => 0,
    };
    mv.from as u16 | (mv.to as u16) << 6 | kind
}

fn is_en_passant(board: &Board, mv: Move) -> bool {
    legal_en_passant(board) == Some(mv.to) && board.piece_on(mv.from) == Some(Piece::Pawn)
}

#[cfg(test)]
mod tests {
    use engine::parse_fen;
    use viriformat::chess::piece::Colour;

    use super::*;

    /// The crate by the format's author reads the same board.
    #[test]
    fn boards_are_read_as_they_were_written() {
        for (fen, castling, en_passant) in [
            (
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
                ["h1", "a1", "h8", "a8"],
                None,
            ),
            // Rooks that may not castle, one of them far from its corner.
            (
                "r3k2r/8/8/8/8/8/4R3/R3K2R b Kq - 7 300",
                ["h1", "", "", "a8"],
                None,
            ),
            // The inner rook of two castles.
            (
                "4k3/8/8/8/8/8/8/RR2K1R1 w BG - 3 9",
                ["g1", "b1", "", ""],
                None,
            ),
            (
                "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 40",
                ["", "", "", ""],
                Some("e3"),
            ),
            // No pawn can capture en passant.
            ("4k3/8/8/8/4P3/8/8/4K3 b - e3 0 40", ["", "", "", ""], None),
        ] {
            let board = parse_fen(fen).unwrap();
            let bytes = [&packed_board(&board, Some(Color::Black))[..], &[0; 4]].concat();
            let game = viriformat::dataformat::Game::deserialise_from(&mut &bytes[..], Vec::new());
            let game = game.unwrap();
            assert_eq!(game.outcome(), viriformat::dataformat::WDL::Loss);
            let read = game.initial_position();
            let text = read.to_string();
            let fields = |text: &str| -> Vec<String> {
                let fields = text.split(' ').enumerate();
                let same = fields.filter(|(i, _)| ![2, 3].contains(i));
                same.map(|(_, field)| field.to_string()).collect()
            };
            assert_eq!(fields(&text), fields(fen));
            let rights = read.castling_rights();
            let square = |square: Option<viriformat::chess::types::Square>| {
                square.map_or(String::new(), |square| square.to_string())
            };
            let found = [Colour::White, Colour::Black]
                .map(|color| [rights.kingside(color), rights.queenside(color)].map(square));
            assert_eq!(found.concat(), castling, "{fen}");
            assert_eq!(
                square(read.ep_sq()),
                en_passant.unwrap_or_default(),
                "{fen}"
            );
        }
    }
}
