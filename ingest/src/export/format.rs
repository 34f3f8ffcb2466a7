//! The export formats.

use clap::ValueEnum;
use serde::Serialize;

/// Export format.
#[derive(Clone, Copy, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Boards of 32 bytes that bullet trains on (bulletformat's ChessBoard)
    Bullet,
    /// Games of one move each, with castling rights, en passant and ply
    Viriformat,
    /// Lines of FEN | centipawns | result
    Text,
    /// A table for pandas, Polars, DuckDB and the like
    Parquet,
}

impl Format {
    /// Returns how the summary names unknown results in this format.
    pub(crate) fn unknown_results(self) -> &'static str {
        match self {
            Format::Bullet | Format::Viriformat => "draws",
            Format::Text => "?",
            Format::Parquet => "null",
        }
    }
}
