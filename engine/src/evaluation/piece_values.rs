//! Contribution of each piece to the network's evaluation, or to material.

use cozy_chess::{Board, Color, Piece, Rank, Square, get_pawn_attacks};
use models::{Feature, InputPosition, Network, material};

use crate::board::legal_en_passant;
use crate::evaluation::features::{features, model_piece, with_attacks};

/// Returns the value of every piece but the kings, by square from a1: the evaluation with it less
/// the evaluation without it, in pawns, White's point of view.
///
/// Removal happens in the features, so the position need not stay legal: the piece goes, together
/// with all that needs it (a rook's castling right, the check that only it gives, the en-passant
/// square of the pushed pawn or the only capturer). Threats are recomputed without it.
pub fn piece_values(network: &Network, board: &Board) -> Vec<(Square, f32)> {
    let whole = network.evaluate(&features(board));
    let sign = match board.side_to_move() {
        Color::White => 1.0,
        Color::Black => -1.0,
    };
    let pieces = board.occupied() - board.pieces(Piece::King);
    let value = |square| {
        let rest: Vec<Feature> = without(board, square).features().collect();
        (square, sign * (whole - network.evaluate(&rest)))
    };
    pieces.iter().map(value).collect()
}

/// Returns what [`piece_values`] does, for material alone, where the total is their sum.
pub fn material_values(board: &Board) -> Vec<(Square, f32)> {
    let pieces = board.occupied() - board.pieces(Piece::King);
    let value = |square| {
        let pawns = material::centipawns(model_piece(board.piece_on(square)?)) as f32 / 100.0;
        Some(match board.color_on(square)? {
            Color::White => (square, pawns),
            Color::Black => (square, -pawns),
        })
    };
    pieces.iter().filter_map(value).collect()
}

/// Returns the features of the board without the piece on `square`.
fn without(board: &Board, square: Square) -> InputPosition {
    let mut position = with_attacks(board, square.bitboard());
    for (color, castling) in Color::ALL.into_iter().zip(&mut position.castling) {
        let home = Rank::First.relative_to(color);
        let rights = board.castle_rights(color);
        for (file, right) in [rights.short, rights.long].into_iter().zip(castling) {
            *right &= file.is_none_or(|file| square != Square::new(file, home));
        }
    }
    position.in_check &= board.checkers() != square.bitboard();
    if let Some(target) = legal_en_passant(board) {
        let mover = board.side_to_move();
        let pushed = Square::new(target.file(), Rank::Fifth.relative_to(mover));
        let takers = get_pawn_attacks(target, !mover) & board.colored_pieces(mover, Piece::Pawn);
        if square == pushed || square.bitboard() == takers {
            position.en_passant = None;
        }
    }
    position
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::parse_fen;
    use cozy_chess::BoardBuilder;
    use models::Architecture;

    fn board_without(board: &Board, square: Square) -> Option<Board> {
        let mut builder = BoardBuilder::from_board(board);
        let color = board.color_on(square).unwrap();
        *builder.square_mut(square) = None;
        let rights = builder.castle_rights_mut(color);
        if square.rank() == Rank::First.relative_to(color) {
            rights.short = rights.short.filter(|&file| file != square.file());
            rights.long = rights.long.filter(|&file| file != square.file());
        }
        if builder.build().is_err() {
            builder.en_passant = None;
        }
        builder.build().ok()
    }

    /// The value equals the difference of two evaluations if the board without the piece is legal
    /// and no line to the mover's king opens.
    #[test]
    fn equals_the_difference_of_two_evaluations() {
        let network = Network::random(Architecture::ARTICLE, 3);
        let mut compared = 0;
        for fen in [
            "r3k2r/pppq1ppp/2n2n2/3pp3/3PP3/2N2N2/PPPQ1PPP/R3K2R w KQkq - 0 9",
            "r3k2r/pppq1ppp/2n2n2/3pp3/3PP3/2N2N2/PPPQ1PPP/R3K2R b KQkq - 0 9",
            "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1",
            "4k3/8/8/8/8/5n2/4P3/R3K3 w Q - 0 1",
            "4k3/4r3/8/8/4B3/8/8/4K2R b K - 0 1",
        ] {
            let board = parse_fen(fen).unwrap();
            let values = piece_values(&network, &board);
            let kings = board.pieces(Piece::King).len();
            assert_eq!(values.len() as u32, board.occupied().len() - kings);
            for (square, value) in values {
                let Some(less) = board_without(&board, square) else {
                    continue;
                };
                if less.checkers().len() > board.checkers().len() {
                    continue;
                }
                let white = |board: &Board| match board.side_to_move() {
                    Color::White => network.evaluate(&features(board)),
                    Color::Black => -network.evaluate(&features(board)),
                };
                let expected = white(&board) - white(&less);
                assert!(
                    (value - expected).abs() < 1e-5,
                    "{fen} {square}: {value} {expected}"
                );
                compared += 1;
            }
        }
        assert!(compared > 50, "{compared}");
    }
}
