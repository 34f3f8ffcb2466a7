//! Content of a source, detected from its first bytes.

use serde::{Deserialize, Serialize};

use records::binary_formats::PackedFormat;
use records::games::Boundary;
use records::text_formats::PositionFormat;

/// Detected format of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Content {
    /// Separator of its units (games, lines or pieces).
    pub(crate) boundary: Boundary,
    /// Line format, if the source is text but not a PGN.
    pub(crate) positions: Option<PositionFormat>,
    /// Binary format, if the source is not text.
    #[serde(default)]
    pub(crate) packed: Option<PackedFormat>,
    /// Whether frames are as Lichess writes them, whose text always ends with a result.
    pub(crate) ends_with_result: bool,
}

impl Default for Content {
    fn default() -> Content {
        Content {
            boundary: Boundary::Event,
            positions: None,
            packed: None,
            ends_with_result: false,
        }
    }
}

impl Content {
    /// Returns whether it has moves: PGN and the packed formats of games.
    pub(crate) fn has_moves(&self) -> bool {
        self.positions.is_none() && self.packed.is_none_or(PackedFormat::has_moves)
    }

    /// Detects the content from the beginning of the decoded text, which must be of a known format.
    pub(crate) fn detect(beginning: &[u8], ends_with_result: bool) -> Content {
        if let Some(format) = PackedFormat::detect(beginning) {
            Content {
                boundary: Boundary::Piece,
                packed: Some(format),
                ..Content::default()
            }
        } else if let Some(format) = PositionFormat::detect(beginning) {
            Content {
                boundary: Boundary::Line,
                positions: Some(format),
                ..Content::default()
            }
        } else {
            Content {
                boundary: Boundary::of_pgn(beginning),
                ends_with_result,
                ..Content::default()
            }
        }
    }
}
