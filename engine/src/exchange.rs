//! Static exchange evaluation: what a capture is worth once both sides have
//! taken back all they care to (chessprogramming wiki, "SEE - The Swap
//! Algorithm").

use cozy_chess::{
    BitBoard, Board, Color, Move, Piece, Square, get_bishop_moves, get_king_moves,
    get_knight_moves, get_pawn_attacks, get_rook_moves,
};
use models::material;

use crate::features::model_piece;
use crate::heuristics::victim;

/// Whether a capture or promotion ends in a loss of material on its square.
/// Pins and checks are not looked at.
pub(crate) fn loses_material(board: &Board, mv: Move) -> bool {
    let Some(attacker) = board.piece_on(mv.from) else {
        return false;
    };
    let captured = victim(board, mv).map_or(0, value);
    if mv.promotion.is_none() && captured >= value(attacker) {
        return false;
    }
    swap_off(board, mv, attacker, captured) < 0
}

fn value(piece: Piece) -> i32 {
    match piece {
        // Never worth giving for anything.
        Piece::King => 10_000,
        piece => material::centipawns(model_piece(piece)),
    }
}

/// The balance of the exchange for the side that begins it.
fn swap_off(board: &Board, mv: Move, attacker: Piece, captured: i32) -> i32 {
    let standing = mv.promotion.unwrap_or(attacker);
    let gained = captured + value(standing) - value(attacker);
    let mut occupied = board.occupied() ^ mv.from.bitboard();
    if attacker == Piece::Pawn && captured > 0 && !board.occupied().has(mv.to) {
        // En passant: the victim stands beside the capturing pawn.
        occupied ^= Square::new(mv.to.file(), mv.from.rank()).bitboard();
    }
    gained
        - best_reply(
            board,
            mv.to,
            occupied,
            !board.side_to_move(),
            value(standing),
        )
}

/// What `side` wins by taking what stands on `square`, worth `standing`, with
/// its least valuable piece; 0 where it had better not.
fn best_reply(
    board: &Board,
    square: Square,
    occupied: BitBoard,
    side: Color,
    standing: i32,
) -> i32 {
    let attackers = attackers(board, square, occupied) & board.colors(side);
    let least = Piece::ALL
        .into_iter()
        .find_map(|piece| Some((piece, (attackers & board.pieces(piece)).next_square()?)));
    let Some((piece, from)) = least else { return 0 };
    let rest = occupied ^ from.bitboard();
    (standing - best_reply(board, square, rest, !side, value(piece))).max(0)
}

/// Pieces of both sides that attack a square, if only `occupied` squares are.
fn attackers(board: &Board, square: Square, occupied: BitBoard) -> BitBoard {
    let queens = board.pieces(Piece::Queen);
    let white_pawns = board.colored_pieces(Color::White, Piece::Pawn);
    let black_pawns = board.colored_pieces(Color::Black, Piece::Pawn);
    let all = get_pawn_attacks(square, Color::Black) & white_pawns
        | get_pawn_attacks(square, Color::White) & black_pawns
        | get_knight_moves(square) & board.pieces(Piece::Knight)
        | get_king_moves(square) & board.pieces(Piece::King)
        | get_bishop_moves(square, occupied) & (board.pieces(Piece::Bishop) | queens)
        | get_rook_moves(square, occupied) & (board.pieces(Piece::Rook) | queens);
    all & occupied
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_fen;

    #[test]
    fn exchanges_have_their_balance() {
        let cases = [
            // Undefended; defended by a pawn; defended, but attacked twice.
            ("4k3/8/3p4/8/8/8/8/3RK3 w - - 0 1", "d1d6", 100),
            ("4k3/2p5/3p4/8/8/8/8/3RK3 w - - 0 1", "d1d6", -400),
            ("4k3/2p5/3p4/8/8/3R4/8/3QK3 w - - 0 1", "d3d6", -300),
            ("1k1r4/8/3n4/8/8/3R4/8/3RK3 w - - 0 1", "d3d6", 320),
            // The king takes back only where nothing defends.
            ("3k4/3p4/8/8/8/8/8/3RK3 w - - 0 1", "d1d7", -400),
            ("3k4/3p4/8/8/8/8/3R4/3RK3 w - - 0 1", "d2d7", 100),
            ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", 100),
            ("3rk3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", 0),
            ("4k3/1P6/8/8/8/8/8/4K3 w - - 0 1", "b7b8q", 800),
            ("1r2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8q", -100),
        ];
        for (fen, text, expected) in cases {
            let board = parse_fen(fen).unwrap();
            let mv: Move = text.parse().unwrap();
            let captured = victim(&board, mv).map_or(0, value);
            let attacker = board.piece_on(mv.from).unwrap();
            assert_eq!(
                swap_off(&board, mv, attacker, captured),
                expected,
                "{fen} {text}"
            );
            assert_eq!(loses_material(&board, mv), expected < 0, "{fen} {text}");
        }
    }
}
