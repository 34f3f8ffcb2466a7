use std::io;

use host::ExitCode;
use thiserror::Error;

use crate::source::SourceError;
use crate::store::StoreError;

/// Errors of work on both sources and datasets, such as a build.
#[derive(Debug, Error)]
pub enum Error {
    /// A source cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A dataset cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An error that a build had recorded for an earlier source.
    #[error("{message}")]
    Noted {
        /// The message of that error.
        message: String,
        /// The exit code of that error.
        exit_code: ExitCode,
    },
    /// The operating system refuses to start a thread.
    #[error("cannot start a thread: {0}; end other programs, or raise the limit (`ulimit -u`)")]
    NoThread(io::Error),
    /// The work was cancelled. Files on disk are unchanged or resumable.
    #[error("stopped")]
    Stopped,
}

impl Error {
    /// Returns the exit code of a program that fails with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Error::Source(error) => error.exit_code(),
            Error::Store(error) => error.exit_code(),
            Error::Noted { exit_code, .. } => *exit_code,
            Error::NoThread(_) => ExitCode::Other,
            Error::Stopped => ExitCode::Interrupted,
        }
    }
}
