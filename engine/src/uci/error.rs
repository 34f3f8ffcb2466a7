//! Errors in UCI input.

use thiserror::Error;

use crate::board::{FenError, FenRepair, MoveError};

/// An error in a UCI line, or in a part of one.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum UciError {
    /// An unknown command.
    #[error("unknown command {0:?}")]
    UnknownCommand(String),
    /// `position` without `startpos` or `fen`.
    #[error("position needs \"startpos\" or \"fen\"; there is no position to search now")]
    NoPosition,
    /// The FEN of `position` was refused.
    #[error("{0}; there is no position to search now")]
    Fen(#[from] FenError),
    /// A part of the FEN of `position` was dropped.
    #[error("{0}")]
    FenRepair(FenRepair),
    /// Words of `position` that belong neither to the position nor to `moves`.
    #[error("unknown word {0:?} in position; ignored up to \"moves\"")]
    UnknownPosition(String),
    /// A move of `position` was refused, together with all that follow it.
    #[error("{0}; the position is the one before it")]
    Move(#[from] MoveError),
    /// A parameter of `go` lacks its number.
    #[error("go {name} needs a number{}; ignored", instead(.found))]
    BadGo {
        /// The parameter.
        name: &'static str,
        /// The word in the number's place; `None` if there is none.
        found: Option<String>,
    },
    /// No readable limit in `go`.
    #[error("go has no readable limit: searching one ply")]
    NoLimitLeft,
    /// `genfens` lacks one of its parameters.
    #[error("give \"genfens N seed S book FILE\", or None for the book")]
    BadGenFens,
    /// A missing or invalid number of plies.
    #[error("{command} wants a number of plies from 1 to {most}")]
    BadPlies {
        /// The command.
        command: &'static str,
        /// Maximum number of plies.
        most: u32,
    },
    /// An unknown parameter of `go`.
    #[error("unknown go parameter {0:?}; ignored")]
    UnknownGo(String),
    /// A move of `searchmoves` cannot be searched.
    #[error("searchmoves: {0}; ignored")]
    SearchMove(MoveError),
    /// All moves of `searchmoves` were refused.
    #[error("searchmoves names no legal move: all moves are searched")]
    NoSearchMove,
    /// An unknown option.
    #[error("unknown option {0:?}")]
    UnknownOption(String),
    /// A value that the option does not accept.
    #[error("option {name} wants {wanted}")]
    BadValue {
        /// The option.
        name: &'static str,
        /// Description of the accepted values.
        wanted: String,
    },
}

fn instead(word: &Option<String>) -> String {
    word.as_ref()
        .map_or_else(String::new, |word| format!(", not {word:?}"))
}

/// Returns a word of the input, cut to 40 characters for messages.
pub(super) fn short(word: &str) -> String {
    word.chars().take(40).collect()
}
