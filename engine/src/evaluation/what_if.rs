//! Network features of a position edited by hand, legal or not.

use cozy_chess::{BitBoard, Board, Color, Piece, Rank, Square, get_pawn_attacks};
use models::{Feature, InputPosition};

use crate::board::legal_en_passant;
use crate::evaluation::features::{model_color, side_of, with_attacks};

/// Returns the active features, from the side to move's point of view, after replacing the contents
/// of some squares; with `pass`, the other side is to move.
///
/// The edited position need not be legal. A castling right stays as long as king and rook do, the
/// en-passant square as long as the pawn and a possible capturer.
pub fn changed_features(
    board: &Board,
    changes: &[(Square, Option<(Color, Piece)>)],
    pass: bool,
) -> Vec<Feature> {
    let mut pieces =
        Color::ALL.map(|color| Piece::ALL.map(|piece| board.colored_pieces(color, piece)));
    for &(square, piece) in changes {
        for set in pieces.iter_mut().flatten() {
            *set -= square.bitboard();
        }
        if let Some((color, piece)) = piece {
            pieces[color as usize][piece as usize] |= square.bitboard();
        }
    }
    changed(board, pieces, pass).features().collect()
}

fn changed(board: &Board, pieces: [[BitBoard; 6]; 2], pass: bool) -> InputPosition {
    let occupied = pieces
        .iter()
        .flatten()
        .fold(BitBoard::EMPTY, |all, &set| all | set);
    let stands = |color: Color, piece, square| pieces[color as usize][piece as usize].has(square);
    let sides = Color::ALL.map(|color| side_of(pieces[color as usize], occupied, color));
    let turn = match pass {
        false => board.side_to_move(),
        true => !board.side_to_move(),
    };
    let mut position = with_attacks(board, BitBoard::EMPTY);
    for (color, castling) in Color::ALL.into_iter().zip(&mut position.castling) {
        let home = Rank::First.relative_to(color);
        let rights = board.castle_rights(color);
        for (file, right) in [rights.short, rights.long].into_iter().zip(castling) {
            *right &= stands(color, Piece::King, board.king(color))
                && file.is_some_and(|file| stands(color, Piece::Rook, Square::new(file, home)));
        }
    }
    position.en_passant = position.en_passant.filter(|_| {
        legal_en_passant(board).is_some_and(|target| {
            let pushed = Square::new(target.file(), Rank::Fifth.relative_to(turn));
            let takers = get_pawn_attacks(target, !turn);
            !pass
                && !occupied.has(target)
                && stands(!turn, Piece::Pawn, pushed)
                && !(takers & pieces[turn as usize][Piece::Pawn as usize]).is_empty()
        })
    });
    let attacked = sides[!turn as usize]
        .attacks
        .iter()
        .fold(0, |all, set| all | set);
    position.in_check = attacked & sides[turn as usize].pieces[Piece::King as usize] != 0;
    InputPosition {
        turn: model_color(turn),
        sides,
        ..position
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{legal_moves, parse_fen};
    use crate::evaluation::features::features;
    use crate::search::BENCH_POSITIONS;

    const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

    /// Returns the squares that differ, with their new contents.
    fn changes(from: &Board, to: &Board) -> Vec<(Square, Option<(Color, Piece)>)> {
        let on = |board: &Board, square| board.color_on(square).zip(board.piece_on(square));
        let all = Square::ALL.into_iter();
        all.filter(|&square| on(from, square) != on(to, square))
            .map(|square| (square, on(to, square)))
            .collect()
    }

    #[test]
    fn editing_a_move_and_passing_equals_playing_it() {
        let mut compared = 0;
        for fen in [KIWIPETE].iter().chain(&BENCH_POSITIONS) {
            let board = parse_fen(fen).unwrap();
            assert_eq!(
                changed_features(&board, &[], false),
                features(&board),
                "{fen}"
            );
            for mv in legal_moves(&board) {
                let mut after = board.clone();
                after.play_unchecked(mv);
                if legal_en_passant(&after).is_some() {
                    continue;
                }
                let by_hand = changed_features(&board, &changes(&board, &after), true);
                assert_eq!(by_hand, features(&after), "{fen} {mv}");
                compared += 1;
            }
        }
        assert!(compared > 500, "{compared}");
    }

    #[test]
    fn dependent_features_go_with_the_piece() {
        let board = parse_fen("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1").unwrap();
        let plane = |features: &[Feature]| features.iter().any(|f| f.index() / 64 == 12);
        assert!(plane(&changed_features(&board, &[], false)));
        assert!(!plane(&changed_features(
            &board,
            &[(Square::D4, None)],
            false
        )));
        assert!(!plane(&changed_features(
            &board,
            &[(Square::E4, None)],
            false
        )));
        assert!(!plane(&changed_features(&board, &[], true)));
        // A check opened by hand, which disappears when the other side is to move.
        let board = parse_fen("4k3/8/8/8/4r3/8/4P3/4K3 w - - 0 1").unwrap();
        let check =
            |changes, pass| changed_features(&board, changes, pass).contains(&Feature::IN_CHECK);
        assert!(!check(&[], false) && check(&[(Square::E2, None)], false));
        assert!(!check(&[(Square::E2, None)], true));
    }
}
