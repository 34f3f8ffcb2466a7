//! Static exchange evaluation (SEE): the material balance of a capture after the best recaptures
//! (Chess Programming Wiki, "SEE - The Swap Algorithm").

use cozy_chess::{
    BitBoard, Board, Color, Move, Piece, Square, get_bishop_moves, get_king_moves,
    get_knight_moves, get_pawn_attacks, get_rook_moves,
};
use models::material;

use crate::board::rules::takes_en_passant;
use crate::evaluation::features::model_piece;

/// Returns a piece's exchange value in centipawns.
pub(crate) fn value(piece: Piece) -> i32 {
    match piece {
        // More than everything else together.
        Piece::King => 10_000,
        piece => material::centipawns(model_piece(piece)),
    }
}

/// Returns the captured piece, en passant included.
#[inline(always)]
pub(crate) fn victim(board: &Board, mv: Move) -> Option<Piece> {
    let theirs = board.colors(!board.side_to_move());
    if theirs.has(mv.to) {
        return board.piece_on(mv.to);
    }
    takes_en_passant(board, mv).then_some(Piece::Pawn)
}

/// Returns whether a move gains at least `threshold` centipawns (may be negative) in the exchange
/// on its target square. Pins and checks are ignored.
pub(crate) fn wins_at_least(board: &Board, mv: Move, threshold: i32) -> bool {
    let us = board.side_to_move();
    if board.colors(us).has(mv.to) {
        // Castling captures nothing.
        return threshold <= 0;
    }
    let Some(attacker) = board.piece_on(mv.from) else {
        return false;
    };
    let captured = victim(board, mv);
    let standing = mv.promotion.unwrap_or(attacker);
    let gained = captured.map_or(0, value) + value(standing) - value(attacker);
    // Balance of the side that has just captured, relative to the threshold, after a recapture:
    // while it is not negative, the side can stop.
    let mut balance = gained - threshold;
    if balance < 0 {
        return false;
    }
    balance -= value(standing);
    if balance >= 0 {
        return true;
    }
    let mut occupied = board.occupied() ^ mv.from.bitboard();
    if captured == Some(Piece::Pawn) && !board.occupied().has(mv.to) {
        // En passant: the victim stands beside the capturing pawn.
        occupied ^= Square::new(mv.to.file(), mv.from.rank()).bitboard();
    }
    let diagonal = board.pieces(Piece::Bishop) | board.pieces(Piece::Queen);
    let straight = board.pieces(Piece::Rook) | board.pieces(Piece::Queen);
    let mut attackers = attackers(board, mv.to, occupied);
    let mut side = !us;
    loop {
        attackers &= occupied;
        let own = attackers & board.colors(side);
        let least = Piece::ALL
            .into_iter()
            .find_map(|piece| Some((piece, (own & board.pieces(piece)).next_square()?)));
        let Some((piece, from)) = least else { break };
        if piece == Piece::King && !(attackers & board.colors(!side)).is_empty() {
            // The king cannot capture a defended piece.
            break;
        }
        occupied ^= from.bitboard();
        // X-ray: add the slider behind the piece.
        if matches!(piece, Piece::Pawn | Piece::Bishop | Piece::Queen) {
            attackers |= get_bishop_moves(mv.to, occupied) & diagonal;
        }
        if matches!(piece, Piece::Rook | Piece::Queen) {
            attackers |= get_rook_moves(mv.to, occupied) & straight;
        }
        side = !side;
        balance = -balance - 1 - value(piece);
        if balance >= 0 {
            break;
        }
    }
    // The side that cannot recapture, or need not, has lost the exchange.
    side != us
}

/// Returns the pieces of both sides that attack a square, given the `occupied` squares.
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
    use crate::board::parse_fen;

    #[test]
    fn evaluates_exchanges() {
        let cases = [
            // Undefended; defended by a pawn; defended, but attacked twice.
            ("4k3/8/3p4/8/8/8/8/3RK3 w - - 0 1", "d1d6", 100),
            ("4k3/2p5/3p4/8/8/8/8/3RK3 w - - 0 1", "d1d6", -400),
            ("4k3/2p5/3p4/8/8/3R4/8/3QK3 w - - 0 1", "d3d6", -300),
            ("1k1r4/8/3n4/8/8/3R4/8/3RK3 w - - 0 1", "d3d6", 320),
            // The king recaptures only undefended pieces.
            ("3k4/3p4/8/8/8/8/8/3RK3 w - - 0 1", "d1d7", -400),
            ("3k4/3p4/8/8/8/8/3R4/3RK3 w - - 0 1", "d2d7", 100),
            ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", 100),
            ("3rk3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", 0),
            ("4k3/1P6/8/8/8/8/8/4K3 w - - 0 1", "b7b8q", 800),
            ("1r2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8q", -100),
            // X-rays: the queen behind the rook, the bishop behind the queen.
            ("4k3/4r3/4q3/4p3/8/4Q3/4R3/4K3 w - - 0 1", "e3e5", -400),
            ("4k3/8/5b2/4p3/3B4/2Q5/8/4K3 w - - 0 1", "d4e5", 100),
            // Quiet moves: to a square guarded by a pawn, and to a safe one.
            ("4k3/8/3p4/8/8/8/8/2R1K3 w - - 0 1", "c1c5", -500),
            ("4k3/8/3p4/8/8/8/8/2R1K3 w - - 0 1", "c1c4", 0),
            ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "e1h1", 0),
        ];
        for (fen, text, expected) in cases {
            let board = parse_fen(fen).unwrap();
            let mv: Move = text.parse().unwrap();
            assert!(wins_at_least(&board, mv, expected), "{fen} {text}");
            assert!(!wins_at_least(&board, mv, expected + 1), "{fen} {text}");
        }
    }
}
