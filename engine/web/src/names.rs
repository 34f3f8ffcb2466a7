//! Sides and squares as the page writes them.

use engine::cozy_chess::{Color, Square};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A side.
#[derive(Clone, Copy, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum SideName {
    White,
    Black,
}

impl From<Color> for SideName {
    fn from(color: Color) -> SideName {
        match color {
            Color::White => SideName::White,
            Color::Black => SideName::Black,
        }
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
