//! Syzygy endgame tables for the page. The page lists its host's files, and downloads each one
//! that a probe asks for.
//!
//! ```
//! use tables::{Answer, Tables};
//!
//! let tables = Tables::new(["KQvK.rtbw", "KQvK.rtbz"]);
//! let answer = tables.ask("8/8/8/8/3k4/8/8/KQ6 w - - 0 1");
//! assert_eq!(answer, Answer::Wants("KQvK.rtbw".into()));
//! ```

#[cfg(target_arch = "wasm32")]
mod exports;
mod files;

use std::sync::Arc;

use engine::{Syzygy, Tablebase, Wdl, parse_fen, write_move};
use serde::Serialize;

use crate::files::Files;

/// The endgame tables of a host.
pub struct Tables {
    files: Arc<Files>,
    syzygy: Syzygy,
}

/// Answer to a probe.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Answer {
    /// The position's result.
    Known(Verdict),
    /// A file is missing: pass it to [`Tables::bring`] and ask again.
    Wants(String),
    /// The position is not in the tables.
    Unknown,
}

/// Result and best move of a position.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Result for the side to move under the fifty-move rule: `win`, `draw` or `loss`.
    result: &'static str,
    /// Plies to mate, or to a capture or pawn move that keeps the result.
    plies: u32,
    /// Move that keeps the result, in UCI notation.
    best: String,
}

impl Tables {
    /// Creates tables from file names such as `KQvK.rtbw`; other names are ignored.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Tables {
        let files = Arc::new(Files::default());
        Tables {
            syzygy: Syzygy::of_files(files.clone(), names),
            files,
        }
    }

    /// Stores the bytes of a file.
    pub fn bring(&self, name: &str, bytes: Vec<u8>) {
        self.files.bring(name, bytes);
    }

    /// Probes the tables for a position.
    pub fn ask(&self, fen: &str) -> Answer {
        let Ok(board) = parse_fen(fen) else {
            return Answer::Unknown;
        };
        if let Some((wdl, moves)) = self.syzygy.root_moves(&board)
            && let Some(plies) = self.syzygy.plies_to_zeroing(&board)
            && let Some(&best) = moves.first()
        {
            return Answer::Known(Verdict {
                result: match wdl {
                    Wdl::Win => "win",
                    Wdl::CursedWin | Wdl::Draw | Wdl::BlessedLoss => "draw",
                    Wdl::Loss => "loss",
                },
                plies,
                best: write_move(&board, best, false),
            });
        }
        self.files.wanted().map_or(Answer::Unknown, Answer::Wants)
    }
}
