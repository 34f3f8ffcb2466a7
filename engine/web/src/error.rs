//! Why a request gets no reply.

use engine::{FenError, MoveError};
use models::NetError;
use thiserror::Error;

/// Why a request gets no reply.
#[derive(Debug, Error)]
pub enum RequestError {
    /// No such request.
    #[error("unreadable request: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// The start is no position.
    #[error(transparent)]
    Fen(#[from] FenError),
    /// A move cannot be played.
    #[error(transparent)]
    Move(#[from] MoveError),
    /// The net was refused.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The net's values overflow.
    #[error("its values are no numbers")]
    NotFinite,
    /// A text without a game.
    #[error("no game in this text")]
    NoGame,
}
