//! Errors of reading sources.

use std::io;
use std::path::{Path, PathBuf};

use host::ExitCode;
use thiserror::Error;

use crate::source::{ConnectionLost, OtherBytes, shown};

/// Errors of reading a source: a file, a URL or standard input. Each message is one line that names
/// the source, the place where it matters, and what to do.
#[derive(Debug, Error)]
pub enum SourceError {
    /// A file is missing or unreadable.
    #[error("{path}: {error}", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        error: io::Error,
    },
    /// The connection to a source was lost, and reconnecting failed.
    #[error("{path}: {error}; run the same command again to go on", path = path.display())]
    Interrupted {
        /// The source.
        path: PathBuf,
        /// The error of the server or the operating system.
        error: String,
    },
    /// A source is truncated or corrupt. Games outside the damage were kept.
    #[error(
        "{path}: {damage}; every complete game outside the damage was kept; \
         download the file again and run the same command",
        path = path.display()
    )]
    Damaged {
        /// The source.
        path: PathBuf,
        /// Kind and place of the damage.
        damage: String,
    },
    /// A source differs from the one that an interrupted build had begun to read.
    #[error(
        "{path}: not the source that the interrupted build had begun to read",
        path = path.display()
    )]
    OtherSource {
        /// The source.
        path: PathBuf,
    },
    /// A source is empty.
    #[error(
        "{path}: {what} is empty",
        path = path.display(),
        what = if path == Path::new("-") { "standard input" } else { "the file" }
    )]
    Empty {
        /// The source.
        path: PathBuf,
    },
    /// A source is not a PGN, nor evaluated positions where these are accepted.
    #[error(
        "{path}: not a PGN{what}",
        path = path.display(),
        what = match positions {
            true => ": evaluated positions in another format".to_string(),
            false => format!(", nor evaluated positions: no tag pair in its first {bytes} bytes"),
        }
    )]
    NotPgn {
        /// The source.
        path: PathBuf,
        /// Bytes of text that were searched for a tag pair.
        bytes: usize,
        /// Whether the source holds evaluated positions in another format.
        positions: bool,
    },
    /// A source holds positions without moves where moves are read.
    #[error(
        "{path}: has positions but no moves; give PGN, viriformat or binpack",
        path = path.display()
    )]
    NoMoves {
        /// The source.
        path: PathBuf,
    },
    /// A source is Parquet, which is an export format only.
    #[error(
        "{path}: Parquet is not read; give the PGN that it was made from, or write its rows as \
         lines of `FEN | centipawns | result` or `FEN,Evaluation`",
        path = path.display()
    )]
    Parquet {
        /// The source.
        path: PathBuf,
    },
    /// A source cannot be read in parts.
    #[error("{path}: cannot be read in parts: {why}", path = path.display())]
    NoParts {
        /// The source.
        path: PathBuf,
        /// The reason, and what to do.
        why: &'static str,
    },
}

impl SourceError {
    /// Returns the exit code of a program that fails with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            SourceError::Unreadable { .. } | SourceError::Interrupted { .. } => ExitCode::Missing,
            SourceError::Damaged { .. }
            | SourceError::OtherSource { .. }
            | SourceError::Empty { .. }
            | SourceError::NotPgn { .. }
            | SourceError::NoMoves { .. }
            | SourceError::Parquet { .. } => ExitCode::Damaged,
            SourceError::NoParts { .. } => ExitCode::Usage,
        }
    }

    /// Returns [`SourceError::Damaged`] for a source.
    pub fn damaged(path: &Path, damage: &impl ToString) -> SourceError {
        SourceError::Damaged {
            path: shown(path),
            damage: damage.to_string(),
        }
    }

    /// Returns the error that stops the reading of a source, recognised by its type: the source has
    /// changed or is out of reach. `None` for damage, behind which reading can continue.
    pub(crate) fn stopping(path: &Path, error: &io::Error) -> Option<SourceError> {
        let path = || shown(path);
        let cause = error.get_ref()?;
        if cause.is::<OtherBytes>() {
            Some(SourceError::OtherSource { path: path() })
        } else if cause.is::<ConnectionLost>() {
            Some(SourceError::Interrupted {
                path: path(),
                error: cause.to_string(),
            })
        } else {
            None
        }
    }

    /// Returns whether [`SourceError::stopping`] recognises the error.
    pub(crate) fn stops(error: &io::Error) -> bool {
        SourceError::stopping(Path::new(""), error).is_some()
    }

    pub(crate) fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> SourceError {
        let path = shown(path);
        move |error| {
            SourceError::stopping(&path, &error).unwrap_or(SourceError::Unreadable { path, error })
        }
    }
}
