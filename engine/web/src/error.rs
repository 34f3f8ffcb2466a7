//! Errors of requests.

use engine::{FenError, MoveError};
use models::NetError;
use thiserror::Error;

/// An error that answers a request; its text is shown on the page.
#[derive(Debug, Error)]
pub enum RequestError {
    /// The request is not valid JSON, or has an unknown operation.
    #[error("unreadable request: {0}")]
    Unreadable(#[from] serde_json::Error),
    #[error("{}", fen_message(.0))]
    Fen(#[from] FenError),
    /// The FEN's en-passant square is not behind a pawn that has just advanced two squares.
    #[error("no pawn has just passed {0}: leave the en-passant square out")]
    NothingPassed(String),
    #[error("the starts of Chess960 have the numbers 0 to 959, not {0}")]
    NoStart(u32),
    #[error(transparent)]
    Move(#[from] MoveError),
    #[error("“{0}” is no legal move here")]
    NoMove(String),
    #[error(transparent)]
    Net(#[from] NetError),
    #[error("no policy is loaded")]
    NoPolicy,
    /// The network's output is infinite or NaN.
    #[error("the network's values overflow")]
    NotFinite,
    #[error("no piece “{0}”")]
    NoPiece(char),
    #[error("no game in this text")]
    NoGame,
    /// The PGN's `Variant` tag names an unsupported variant.
    #[error("this is a game of {0}: only standard chess and Chess960 are played here")]
    Variant(String),
    #[error("the game was kept by another version of this page ({found}; this one reads {known})")]
    Version { found: u32, known: u32 },
    /// The saved tree has invalid node indices.
    #[error("the game is damaged")]
    Tree,
}

/// Error text for a FEN, without quoting it: the user has just typed it.
fn fen_message(error: &FenError) -> String {
    match error {
        FenError::Illegal { fault, .. } => format!("not a legal position: {fault}"),
        other => other.to_string(),
    }
}
