//! Sides, pieces and squares in the page's JSON.

use engine::cozy_chess::{Color, Piece, Square};
use engine::{model_color, model_piece};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A side, in lower case.
#[derive(Clone, Copy, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum SideName {
    White,
    Black,
}

impl From<Color> for SideName {
    fn from(color: Color) -> SideName {
        model_color(color).into()
    }
}

impl From<models::Color> for SideName {
    fn from(color: models::Color) -> SideName {
        match color {
            models::Color::White => SideName::White,
            models::Color::Black => SideName::Black,
        }
    }
}

/// A kind of piece, in lower case.
#[derive(Clone, Copy, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum PieceName {
    Pawn,
    Knight,
    Bishop,
    Rook,
    Queen,
    King,
}

impl From<models::Piece> for PieceName {
    fn from(piece: models::Piece) -> PieceName {
        match piece {
            models::Piece::Pawn => PieceName::Pawn,
            models::Piece::Knight => PieceName::Knight,
            models::Piece::Bishop => PieceName::Bishop,
            models::Piece::Rook => PieceName::Rook,
            models::Piece::Queen => PieceName::Queen,
            models::Piece::King => PieceName::King,
        }
    }
}

impl From<Piece> for PieceName {
    fn from(piece: Piece) -> PieceName {
        model_piece(piece).into()
    }
}

/// A square, such as `e4`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(
    test,
    ts(
        type = "`${'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h'}${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8}`"
    )
)]
pub struct SquareName(pub Square);

impl Serialize for SquareName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for SquareName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SquareName, D::Error> {
        let text = String::deserialize(deserializer)?;
        let square = text
            .parse()
            .map_err(|_| D::Error::custom(format!("no square {text:?}")))?;
        Ok(SquareName(square))
    }
}
