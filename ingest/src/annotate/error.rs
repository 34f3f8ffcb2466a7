//! Errors of `ingest annotate`, with their exit codes.

use std::path::PathBuf;

use host::ExitCode;
use host::archive::ArchiveError;
use thiserror::Error;
use uci_client::{EvaluatorError, StartError};

use crate::annotate::join::JoinError;

/// Error of `ingest annotate`. Each message is one line that says what to do.
#[derive(Debug, Error)]
pub enum Error {
    /// The engine cannot be started or set up.
    #[error(transparent)]
    Engine(#[from] StartError),
    /// The net cannot be used.
    #[error(transparent)]
    Net(#[from] EvaluatorError),
    /// Memory for the net's transposition table cannot be allocated.
    #[error("--hash: {0}")]
    Hash(#[from] engine::HashError),
    /// The engine failed on too many positions in a row.
    #[error(
        "{command}: the engine failed on {positions} positions in a row; what was annotated is \
         kept, the same command goes on from there",
        command = command.display()
    )]
    EngineBroken {
        /// The engine's program.
        command: PathBuf,
        /// Positions without an answer in a row.
        positions: u32,
    },
    /// The output, or its record, is refused.
    #[error(transparent)]
    Output(ArchiveError),
    /// Files to join are not the parts of one source.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// The output was begun with other games.
    #[error(
        "{path}: begun with other games: the sources do not begin with the {bytes} bytes of text \
         that were annotated; give the same sources in the same order, or another --out",
        path = path.display()
    )]
    OtherGames {
        /// The output.
        path: PathBuf,
        /// Bytes of source text annotated so far.
        bytes: u64,
    },
}

impl Error {
    /// Returns the exit code.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Error::Engine(StartError::Program { .. }) => ExitCode::Missing,
            Error::Net(error) => error.exit_code(),
            Error::Engine(_) | Error::Hash(_) | Error::EngineBroken { .. } => ExitCode::Other,
            Error::Output(error) => error.exit_code(),
            Error::Join(_) | Error::OtherGames { .. } => ExitCode::Refused,
        }
    }
}
