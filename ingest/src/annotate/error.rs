//! Errors of `ingest annotate`, with their exit codes.

use std::path::PathBuf;

use datasets::PartOf;
use host::ExitCode;
use host::archive::ArchiveError;
use thiserror::Error;
use uci_client::{EvaluatorError, StartError};

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

/// Reason why outputs cannot be joined. Each message is one line that names them.
#[derive(Debug, Error)]
pub enum JoinError {
    /// An output covers a whole source.
    #[error("{path}: not made with --part", path = path.display())]
    Whole {
        /// Output without a part.
        path: PathBuf,
    },
    /// Two outputs are parts of different sources.
    #[error("{path}: part of another source than {other}", path = path.display(), other = other.display())]
    OtherSource {
        /// First output.
        path: PathBuf,
        /// Second output.
        other: PathBuf,
    },
    /// Two outputs were made with different settings.
    #[error(
        "{path}: made with other settings than {other} ({changes})",
        path = path.display(), other = other.display()
    )]
    OtherSettings {
        /// First output.
        path: PathBuf,
        /// Second output.
        other: PathBuf,
        /// Differences of the settings, by [`changes`](host::archive::changes).
        changes: String,
    },
    /// A source was split into different numbers of parts.
    #[error(
        "{path}: part {part}, but {other} is part {other_part}: annotate one number of parts",
        path = path.display(), other = other.display()
    )]
    OtherCut {
        /// First output.
        path: PathBuf,
        /// Part of the first.
        part: PartOf,
        /// Second output.
        other: PathBuf,
        /// Part of the second.
        other_part: PartOf,
    },
    /// A part was given twice.
    #[error(
        "{path}: part {part}, as {other} is: give each part once",
        path = path.display(), other = other.display()
    )]
    Twice {
        /// First output.
        path: PathBuf,
        /// Part of both.
        part: PartOf,
        /// Second output.
        other: PathBuf,
    },
    /// Parts are missing.
    #[error("{path} is part {part}; missing: {missing}", path = path.display())]
    Missing {
        /// Output that is present.
        path: PathBuf,
        /// Part of that output.
        part: PartOf,
        /// Missing parts, comma-separated.
        missing: String,
    },
    /// Parts were read from different contents.
    #[error("{path}: does not fit the other parts: {why}", path = path.display())]
    Unfit {
        /// Output of the first part.
        path: PathBuf,
        /// Reason, and what to do.
        why: String,
    },
    /// The output was begun by `ingest annotate`.
    #[error(
        "{path}: begun by `ingest annotate`; finish it with that, or give another --out",
        path = path.display()
    )]
    Begun {
        /// Output path.
        path: PathBuf,
    },
}
