//! The network's inputs of a board: the one place where the rules library's
//! pieces and squares become the network's.

use cozy_chess::{Board, Color, Piece, Square};
use models::{CastlingSide, Feature};

use crate::legal_en_passant;

/// One input that a move switches on or off, before it is seen from a side.
#[derive(Clone, Copy)]
pub(crate) enum Input {
    Piece(Color, Piece, Square),
    Castling(Color, CastlingSide),
}

impl Input {
    /// The input as `view` sees it.
    pub(crate) fn seen_by(self, view: Color) -> Feature {
        let view = model_color(view);
        match self {
            Input::Piece(color, piece, square) => Feature::piece(
                view,
                model_color(color),
                model_piece(piece),
                model_square(square),
            ),
            Input::Castling(color, side) => Feature::castling(view, model_color(color), side),
        }
    }
}

/// Calls `visit` for every piece and castling right that is on `board` and
/// not on `other`; with `None`, for all of them.
pub(crate) fn for_each_new(board: &Board, other: Option<&Board>, mut visit: impl FnMut(Input)) {
    for color in Color::ALL {
        for piece in Piece::ALL {
            let mut squares = board.colored_pieces(color, piece);
            if let Some(other) = other {
                squares &= !other.colored_pieces(color, piece);
            }
            for square in squares {
                visit(Input::Piece(color, piece, square));
            }
        }
        for side in [CastlingSide::King, CastlingSide::Queen] {
            let lacks = other.is_none_or(|other| !may_castle(other, color, side));
            if may_castle(board, color, side) && lacks {
                visit(Input::Castling(color, side));
            }
        }
    }
}

/// The inputs that come and go with every move, as the side to move sees
/// them: the en-passant square and the check flag.
pub(crate) fn transient(board: &Board) -> impl Iterator<Item = Feature> {
    let view = model_color(board.side_to_move());
    let en_passant =
        legal_en_passant(board).map(|target| Feature::en_passant(view, model_square(target)));
    let in_check = (!board.checkers().is_empty()).then_some(Feature::IN_CHECK);
    en_passant.into_iter().chain(in_check)
}

/// All inputs that are on, as the side to move sees them.
pub fn features(board: &Board) -> Vec<Feature> {
    let mut features = Vec::with_capacity(models::MAX_ACTIVE);
    let mover = board.side_to_move();
    for_each_new(board, None, |input| features.push(input.seen_by(mover)));
    features.extend(transient(board));
    features
}

fn may_castle(board: &Board, color: Color, side: CastlingSide) -> bool {
    let rights = board.castle_rights(color);
    match side {
        CastlingSide::King => rights.short.is_some(),
        CastlingSide::Queen => rights.long.is_some(),
    }
}

fn model_color(color: Color) -> models::Color {
    match color {
        Color::White => models::Color::White,
        Color::Black => models::Color::Black,
    }
}

/// The network's name for a piece.
pub(crate) fn model_piece(piece: Piece) -> models::Piece {
    match piece {
        Piece::Pawn => models::Piece::Pawn,
        Piece::Knight => models::Piece::Knight,
        Piece::Bishop => models::Piece::Bishop,
        Piece::Rook => models::Piece::Rook,
        Piece::Queen => models::Piece::Queen,
        Piece::King => models::Piece::King,
    }
}

fn model_square(square: Square) -> models::Square {
    models::Square::new(square as u8).expect("both crates count a1 = 0 to h8 = 63")
}
