//! Rules that cozy-chess leaves to its user: the legal en-passant square, repetition keys, draws by
//! insufficient material.

use cozy_chess::{
    BitBoard, Board, BoardBuilder, Color, File, Move, Piece, Rank, Square, get_pawn_attacks,
};

/// First and last rank.
pub(crate) const BACK_RANKS: BitBoard =
    BitBoard(Rank::First.bitboard().0 | Rank::Eighth.bitboard().0);

/// Halfmove clock, in plies, from which the fifty-move rule makes a draw.
pub(crate) const FIFTY_MOVES: u8 = 100;

/// Returns the squares attacked by `pawns` of a colour.
#[inline]
pub(crate) fn pawn_attacks(pawns: BitBoard, color: Color) -> BitBoard {
    let left = (pawns - File::A.bitboard()).0;
    let right = (pawns - File::H.bitboard()).0;
    BitBoard(match color {
        Color::White => left << 7 | right << 9,
        Color::Black => left >> 9 | right >> 7,
    })
}

/// Returns whether a move captures en passant, given that its target square is empty.
pub(crate) fn takes_en_passant(board: &Board, mv: Move) -> bool {
    board.pieces(Piece::Pawn).has(mv.from) && mv.from.file() != mv.to.file()
}

/// Returns whether a legal move is a capture (en passant included) or a promotion.
pub fn is_tactical(board: &Board, mv: Move) -> bool {
    board.colors(!board.side_to_move()).has(mv.to)
        || mv.promotion.is_some()
        || takes_en_passant(board, mv)
}

/// Returns the square behind a pawn that has just advanced two, capturable or not:
/// [`Board::en_passant`] is set after every double push.
pub(crate) fn passed_square(board: &Board) -> Option<Square> {
    let rank = Rank::Sixth.relative_to(board.side_to_move());
    Some(Square::new(board.en_passant()?, rank))
}

/// Returns the square behind a pawn that has just advanced two, if a capture there is legal (pins
/// and checks included).
pub fn legal_en_passant(board: &Board) -> Option<Square> {
    let mover = board.side_to_move();
    let target = passed_square(board)?;
    let capturers = get_pawn_attacks(target, !mover) & board.colored_pieces(mover, Piece::Pawn);
    capturers
        .iter()
        .any(|from| {
            board.is_legal(Move {
                from,
                to: target,
                promotion: None,
            })
        })
        .then_some(target)
}

/// Returns a key that is equal for positions that the repetition rule holds equal: placement, side
/// to move, castling rights, and the en-passant square where a capture is legal.
#[inline(always)]
pub fn position_key(board: &Board) -> u64 {
    match legal_en_passant(board) {
        Some(_) => board.hash(),
        None => board.hash_without_ep(),
    }
}

/// Returns the legal moves, in the order of cozy-chess.
pub fn legal_moves(board: &Board) -> Vec<Move> {
    let mut moves = Vec::new();
    board.generate_moves(|of_piece| {
        moves.extend(of_piece);
        false
    });
    moves
}

/// Returns whether the side to move has a legal move.
pub fn has_legal_move(board: &Board) -> bool {
    board.generate_moves(|_| true)
}

/// Returns whether neither side can mate: bare kings, one minor piece in all, or one bishop a side
/// on squares of one colour.
pub fn insufficient_material(board: &Board) -> bool {
    let mating = [Piece::Pawn, Piece::Rook, Piece::Queen];
    if mating.iter().any(|&piece| !board.pieces(piece).is_empty()) {
        return false;
    }
    match board.occupied().len() {
        2 => true,
        3 => !(board.pieces(Piece::Knight) | board.pieces(Piece::Bishop)).is_empty(),
        4 => {
            let bishops = board.pieces(Piece::Bishop);
            let each_has_one = Color::ALL
                .iter()
                .all(|&color| board.colored_pieces(color, Piece::Bishop).len() == 1);
            let one_colour = bishops.is_subset(BitBoard::LIGHT_SQUARES)
                || bishops.is_subset(BitBoard::DARK_SQUARES);
            each_has_one && one_colour
        }
        _ => false,
    }
}

/// Returns the position with colours swapped: each piece in the other colour on the square mirrored
/// by ranks, and the other side to move. Its value for the side to move is unchanged.
pub fn flipped(board: &Board) -> Board {
    let old = BoardBuilder::from_board(board);
    let mut new = old.clone();
    for square in Square::ALL {
        let piece = old.board[square as usize];
        new.board[square.flip_rank() as usize] = piece.map(|(piece, color)| (piece, !color));
    }
    new.side_to_move = !old.side_to_move;
    new.castle_rights.reverse();
    new.en_passant = old.en_passant.map(Square::flip_rank);
    new.build().expect("the mirror image is as legal")
}

/// Returns whether some castling right starts from other squares than in standard chess.
pub fn is_chess960(board: &Board) -> bool {
    Color::ALL.iter().any(|&color| {
        let rights = board.castle_rights(color);
        let any = rights.short.is_some() || rights.long.is_some();
        any && (board.king(color).file() != File::E
            || rights.short.is_some_and(|file| file != File::H)
            || rights.long.is_some_and(|file| file != File::A))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BENCH_POSITIONS;
    use crate::board::{parse_fen, parse_move, perft, write_fen};

    fn board(fen: &str) -> Board {
        parse_fen(fen).unwrap()
    }

    #[test]
    fn captures_and_promotions_are_tactical() {
        let is = |fen: &str, mv: &str| {
            let board = parse_fen(fen).unwrap();
            is_tactical(&board, parse_move(&board, mv).unwrap())
        };
        assert!(is("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", "d4e3"));
        assert!(!is("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", "d4d3"));
        assert!(is("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8q"));
        assert!(is("4k3/8/8/8/8/8/4p3/4K3 w - - 0 1", "e1e2"));
        // Castling is encoded as king takes own rook.
        assert!(!is("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1"));
    }

    #[test]
    fn flipped_positions_have_equal_perft() {
        for fen in BENCH_POSITIONS {
            let board = board(fen);
            let other = flipped(&board);
            assert_eq!(perft(&other, 2), perft(&board, 2), "{fen}");
            assert_eq!(flipped(&other), board, "{fen}");
        }
        let pushed = board("rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQk e3 0 3");
        assert_eq!(
            write_fen(&flipped(&pushed)),
            "rnbqkbnr/pppp1ppp/8/3Pp3/8/8/PPP1PPPP/RNBQKBNR w Kkq e6 0 3"
        );
    }

    #[test]
    fn en_passant_counts_only_where_a_capture_is_legal() {
        let cases = [
            // No pawn beside it.
            (
                "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
                None,
            ),
            ("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", Some(Square::E3)),
            // Illegal: both pawns leave the rank, and the rook attacks the king.
            ("8/8/8/8/k2pP2R/8/8/4K3 b - e3 0 1", None),
            // Pinned along the file.
            ("3k4/8/8/8/3pP3/8/8/3RK3 b - e3 0 1", None),
            // Pinned along a diagonal that the capture leaves, and along the capture's own
            // diagonal.
            ("7B/8/8/8/3pP3/8/1k6/4K3 b - e3 0 1", None),
            ("8/8/1k6/8/3pP3/8/5B2/4K3 b - e3 0 1", Some(Square::E3)),
            // The pushed pawn gives check; capturing it evades.
            ("8/8/8/3k4/3pP3/8/8/4K3 b - e3 0 1", Some(Square::E3)),
        ];
        for (fen, expected) in cases {
            assert_eq!(legal_en_passant(&board(fen)), expected, "{fen}");
        }
    }

    #[test]
    fn keys_ignore_an_en_passant_square_without_a_capture() {
        let pushed = board("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1");
        let plain = board("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
        assert_eq!(position_key(&pushed), position_key(&plain));
        let capture = board("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1");
        let none = board("4k3/8/8/8/3pP3/8/8/4K3 b - - 0 1");
        assert_ne!(position_key(&capture), position_key(&none));
    }

    #[test]
    fn recognises_insufficient_material() {
        let drawn = [
            "4k3/8/8/8/8/8/8/4K3 w - - 0 1",
            "4k3/8/8/8/8/8/8/4KN2 w - - 0 1",
            "4kb2/8/8/8/8/8/8/4K3 w - - 0 1",
            "4kb2/8/8/8/8/8/8/2B1K3 w - - 0 1",
        ];
        let playable = [
            "4kb2/8/8/8/8/8/8/4KB2 w - - 0 1",
            "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1",
            "4k3/8/8/8/8/8/8/4KNN1 w - - 0 1",
            "4kn2/8/8/8/8/8/8/4KN2 w - - 0 1",
            "4k3/8/8/8/8/8/8/B1B1K3 w - - 0 1",
            "4k3/8/8/8/8/8/8/4K2R w - - 0 1",
        ];
        for fen in drawn {
            assert!(insufficient_material(&board(fen)), "{fen}");
        }
        for fen in playable {
            assert!(!insufficient_material(&board(fen)), "{fen}");
        }
    }
}
