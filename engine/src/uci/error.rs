//! What is wrong with what a GUI says.

use thiserror::Error;

use crate::board::{FenError, FenRepair, MoveError};

/// What is wrong with a line, or with a part of one.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum UciError {
    /// No such command.
    #[error("unknown command {0:?}")]
    UnknownCommand(String),
    /// `position` without `startpos` or `fen`.
    #[error("position needs \"startpos\" or \"fen\"; there is no position to search now")]
    NoPosition,
    /// The FEN of `position` was refused.
    #[error("{0}; there is no position to search now")]
    Fen(#[from] FenError),
    /// A part of the FEN of `position` was left out.
    #[error("{0}")]
    FenRepair(FenRepair),
    /// Words of `position` that stand neither in the position nor behind `moves`.
    #[error("position knows no {0:?}; ignored up to \"moves\"")]
    UnknownPosition(String),
    /// A move of `position` was refused, and all that follow it.
    #[error("{0}; the position is the one before it")]
    Move(#[from] MoveError),
    /// A parameter of `go` lacks its number.
    #[error("go {name} needs a number{}; ignored", instead(.found))]
    BadGo {
        /// The parameter.
        name: &'static str,
        /// What stands in the number's place.
        found: Option<String>,
    },
    /// No limit of `go` could be read.
    #[error("go names no limit that can be read: searching one ply")]
    NoLimitLeft,
    /// `genfens` lacks one of its parameters.
    #[error("give \"genfens N seed S book FILE\", or None for the book")]
    BadGenFens,
    /// The command lacks its number of plies.
    #[error("{command} wants a number of plies from 1 to {most}")]
    BadPlies {
        /// The command.
        command: &'static str,
        /// The most plies that it takes.
        most: u32,
    },
    /// `go` has no such parameter.
    #[error("go knows no {0:?}; ignored")]
    UnknownGo(String),
    /// A move of `searchmoves` cannot be searched.
    #[error("searchmoves: {0}; ignored")]
    SearchMove(MoveError),
    /// All of them were of that kind.
    #[error("searchmoves names no legal move: all moves are searched")]
    NoSearchMove,
    /// No such option.
    #[error("unknown option {0:?}")]
    UnknownOption(String),
    /// The option exists, the value does not suit it.
    #[error("option {name} wants {wanted}")]
    BadValue {
        /// The option.
        name: &'static str,
        /// What it takes.
        wanted: String,
    },
}

fn instead(word: &Option<String>) -> String {
    word.as_ref()
        .map_or_else(String::new, |word| format!(", not {word:?}"))
}

/// A word of the GUI's, cut to a length that fits a message.
pub(super) fn short(word: &str) -> String {
    word.chars().take(40).collect()
}
