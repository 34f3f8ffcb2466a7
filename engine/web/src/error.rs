//! Why a request gets no reply.

use engine::{FenError, MoveError};
use models::NetError;
use thiserror::Error;

use crate::tree::VERSION;

/// Why a request gets no reply.
#[derive(Debug, Error)]
pub enum RequestError {
    /// No such request.
    #[error("unreadable request: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// The start is no position.
    #[error("{}", words(.0))]
    Fen(#[from] FenError),
    /// A pawn is said to have passed a square, and has not.
    #[error("no pawn has just passed {0}: leave the en-passant square out")]
    NothingPassed(String),
    /// Chess960 has fewer starts.
    #[error("the starts of Chess960 have the numbers 0 to 959, not {0}")]
    NoStart(u32),
    /// A move cannot be played.
    #[error(transparent)]
    Move(#[from] MoveError),
    /// A text that means no legal move.
    #[error("“{0}” is no legal move here")]
    NoMove(String),
    /// The net was refused.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The net's values overflow.
    #[error("its values are no numbers")]
    NotFinite,
    /// A letter that stands for no piece.
    #[error("no piece “{0}”")]
    NoPiece(char),
    /// A text without a game.
    #[error("no game in this text")]
    NoGame,
    /// A game by other rules.
    #[error("this is a game of {0}: only standard chess and Chess960 are played here")]
    Variant(String),
    /// A tree that was kept by another version.
    #[error("the game was kept by another version of this page ({0}; this one reads {VERSION})")]
    Version(u32),
    /// A tree with nodes that are not there.
    #[error("the game is damaged")]
    Tree,
}

/// What is wrong with a FEN; whoever has written it sees it.
fn words(error: &FenError) -> String {
    match error {
        FenError::Illegal { fault, .. } => format!("not a legal position: {fault}"),
        other => other.to_string(),
    }
}
