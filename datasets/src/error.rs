use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::http::ConnectionLost;
use crate::meter::OtherBytes;

/// Why a source or a dataset could not be read or written. Each message is
/// one line that names the file, the place where it matters, and what to do.
#[derive(Debug, Error)]
pub enum Error {
    /// A file is missing or may not be read.
    #[error("{path}: {error}", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The connection to a source broke off and could not be made again.
    #[error("{path}: {error}; run the same command again to go on", path = path.display())]
    Interrupted {
        /// The source.
        path: PathBuf,
        /// What the server or the system said.
        error: String,
    },
    /// A source ends in mid-stream or is corrupt. What was good was kept.
    #[error(
        "{path}: {damage}; every complete game outside the damage was kept; \
         download the file again and run the same command",
        path = path.display()
    )]
    Damaged {
        /// The source.
        path: PathBuf,
        /// What is wrong with it, and where.
        damage: String,
    },
    /// What a build noted of a source before it went on to the next.
    #[error("{message}")]
    Noted {
        /// What the error said.
        message: String,
        /// Its exit code.
        exit_code: u8,
    },
    /// A source that an interrupted build had begun to read is another now.
    #[error(
        "{path}: not the source that the interrupted build had begun to read",
        path = path.display()
    )]
    OtherSource {
        /// The source.
        path: PathBuf,
    },
    /// A source is empty.
    #[error("{path}: the file is empty", path = path.display())]
    Empty {
        /// The source.
        path: PathBuf,
    },
    /// A source is no PGN, nor positions with evaluations where these would do.
    #[error(
        "{path}: not a PGN{what}",
        path = path.display(),
        what = match positions {
            true => ": positions without games".to_string(),
            false => format!(", nor evaluated positions: no tag pair in its first {bytes} bytes"),
        }
    )]
    NotPgn {
        /// The source.
        path: PathBuf,
        /// Bytes of text that were searched.
        bytes: usize,
        /// Whether it holds positions with evaluations, without games.
        positions: bool,
    },
    /// The path holds no dataset.
    #[error("{path}: not a Kibitz dataset; make one with `ingest build`", path = path.display())]
    NotADataset {
        /// The folder.
        path: PathBuf,
    },
    /// The dataset was written in another format version.
    #[error(
        "{path}: dataset format {found}, this version reads {known}; rebuild it with `ingest build`",
        path = path.display(), known = crate::FORMAT_VERSION
    )]
    OtherVersion {
        /// The folder.
        path: PathBuf,
        /// The version found.
        found: u64,
    },
    /// Another process has the dataset open for writing.
    #[error("{path}: in use by another process; wait for it to end", path = path.display())]
    Locked {
        /// The folder.
        path: PathBuf,
    },
    /// A dataset may be added to only with the filters it was made with.
    #[error(
        "{path}: made with other filters ({found}, now {wanted}); use the same, or another --out",
        path = path.display()
    )]
    OtherFilters {
        /// The folder.
        path: PathBuf,
        /// The dataset's filters, as JSON.
        found: String,
        /// The filters asked for, as JSON.
        wanted: String,
    },
    /// The dataset's own data does not add up.
    #[error("{path}: the dataset is corrupt: {what}; rebuild it", path = path.display())]
    Corrupt {
        /// The folder.
        path: PathBuf,
        /// What does not add up.
        what: String,
    },
    /// The dataset is there, but the system does not let it be opened.
    #[error("{path}: cannot open: {error}", path = path.display())]
    Inaccessible {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        error: String,
    },
    /// A write failed, for instance because the disk is full.
    #[error(
        "{path}: cannot write: {error}; what was sealed before is untouched, \
         make room and run the same command again",
        path = path.display()
    )]
    Unwritable {
        /// The file or folder.
        path: PathBuf,
        /// What the system or the store said.
        error: String,
    },
}

impl Error {
    /// The exit code of a program that ends with this error: 3 unreadable,
    /// 4 damaged input, 5 dataset refused, 7 cannot write.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Unreadable { .. } | Error::Interrupted { .. } | Error::Inaccessible { .. } => 3,
            Error::Noted { exit_code, .. } => *exit_code,
            Error::Damaged { .. }
            | Error::OtherSource { .. }
            | Error::Empty { .. }
            | Error::NotPgn { .. } => 4,
            Error::NotADataset { .. }
            | Error::OtherVersion { .. }
            | Error::Locked { .. }
            | Error::OtherFilters { .. }
            | Error::Corrupt { .. } => 5,
            Error::Unwritable { .. } => 7,
        }
    }

    /// What is said of a source with such damage.
    pub fn damaged(path: &Path, damage: &impl ToString) -> Error {
        Error::Damaged {
            path: path.to_path_buf(),
            damage: damage.to_string(),
        }
    }

    /// What stops the reading of a source, told by the error's type: that it
    /// is another now, or out of reach. `None` for damage of its own.
    pub(crate) fn stopping(path: &Path, error: &io::Error) -> Option<Error> {
        let path = || path.to_path_buf();
        let cause = error.get_ref()?;
        if cause.is::<OtherBytes>() {
            Some(Error::OtherSource { path: path() })
        } else if cause.is::<ConnectionLost>() {
            Some(Error::Interrupted {
                path: path(),
                error: cause.to_string(),
            })
        } else {
            None
        }
    }

    /// Whether [`Error::stopping`] knows the error.
    pub(crate) fn stops(error: &io::Error) -> bool {
        Error::stopping(Path::new(""), error).is_some()
    }

    pub(crate) fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_path_buf();
        move |error| Error::stopping(&path, &error).unwrap_or(Error::Unreadable { path, error })
    }

    pub(crate) fn inaccessible<E: ToString>(path: &Path) -> impl FnOnce(E) -> Error {
        let path = path.to_path_buf();
        move |error| Error::Inaccessible {
            path,
            error: error.to_string(),
        }
    }

    pub(crate) fn unwritable<E: ToString>(path: &Path) -> impl FnOnce(E) -> Error {
        let path = path.to_path_buf();
        move |error| Error::Unwritable {
            path,
            error: error.to_string(),
        }
    }
}
