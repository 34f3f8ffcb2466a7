//! Conversion of boards to shakmaty, and of its moves back.

use cozy_chess::{BitBoard, Board, Color, Move, Piece, Rank, Square};
use shakmaty::{Bitboard, ByColor, ByRole, CastlingMode, Chess, PositionError, Setup};

use crate::board::rules::passed_square;

/// Converts a board to a [`Chess`]. Both libraries encode castling as king takes rook and number
/// squares alike.
///
/// `None` if shakmaty considers the position illegal, which no position reachable in a game is.
pub fn to_shakmaty(board: &Board) -> Option<Chess> {
    let role = |piece| Bitboard(board.pieces(piece).0);
    let by_role = ByRole {
        pawn: role(Piece::Pawn),
        knight: role(Piece::Knight),
        bishop: role(Piece::Bishop),
        rook: role(Piece::Rook),
        queen: role(Piece::Queen),
        king: role(Piece::King),
    };
    let by_color = ByColor {
        black: Bitboard(board.colors(Color::Black).0),
        white: Bitboard(board.colors(Color::White).0),
    };
    let mover = board.side_to_move();
    let setup = Setup {
        board: shakmaty::Board::try_from_bitboards(by_role, by_color).ok()?,
        turn: shakmaty::Color::from_white(mover == Color::White),
        castling_rights: Bitboard(castling_rooks(board).0),
        ep_square: passed_square(board).map(square),
        halfmoves: board.halfmove_clock().into(),
        ..Setup::empty()
    };
    setup
        .position(CastlingMode::Chess960)
        .or_else(PositionError::ignore_too_much_material)
        .or_else(PositionError::ignore_impossible_check)
        .ok()
}

/// Converts a move from shakmaty; `None` for drops.
pub fn from_shakmaty(mv: shakmaty::Move) -> Option<Move> {
    let promotion = match mv.promotion() {
        Some(role) => Some(Piece::try_from(role.char()).ok()?),
        None => None,
    };
    Some(Move {
        from: Square::index(mv.from()? as usize),
        to: Square::index(mv.to() as usize),
        promotion,
    })
}

/// Returns the squares of rooks with castling rights.
fn castling_rooks(board: &Board) -> BitBoard {
    let mut rooks = BitBoard::EMPTY;
    for color in Color::ALL {
        let rights = board.castle_rights(color);
        let home = Rank::First.relative_to(color);
        for file in [rights.short, rights.long].into_iter().flatten() {
            rooks |= Square::new(file, home).bitboard();
        }
    }
    rooks
}

fn square(square: Square) -> shakmaty::Square {
    shakmaty::Square::new(square as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{legal_moves, parse_fen, write_fen};
    use crate::search::BENCH_POSITIONS;
    use shakmaty::fen::Fen;
    use shakmaty::{EnPassantMode, Position};

    #[test]
    fn conversion_keeps_positions() {
        let mut random = fastrand::Rng::with_seed(3);
        let more = [
            "nrbkqbrn/pppppppp/8/8/8/8/PPPPPPPP/NRBKQBRN w GBgb - 0 1",
            "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1",
        ];
        for fen in BENCH_POSITIONS.iter().chain(&more) {
            let mut board = parse_fen(fen).unwrap();
            for _ in 0..100 {
                let other = to_shakmaty(&board).unwrap();
                let ours: Fen = write_fen(&board).parse().unwrap();
                let theirs = other.to_setup(EnPassantMode::Legal);
                let ours: Chess = ours.into_position(CastlingMode::Chess960).unwrap();
                let mut ours = ours.to_setup(EnPassantMode::Legal);
                ours.fullmoves = theirs.fullmoves;
                assert_eq!(ours, theirs, "{}", write_fen(&board));
                let moves = legal_moves(&board);
                if moves.is_empty() {
                    break;
                }
                board.play(moves[random.usize(..moves.len())]);
            }
        }
    }
}
