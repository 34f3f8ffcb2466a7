use std::io;
use std::path::{Path, PathBuf};

use host::{Action, ExitCode, FileError};
use thiserror::Error;

use crate::source::{ConnectionLost, OtherBytes, PartOf, shown};

/// Errors of reading and writing sources and datasets. Each message is one line that names the
/// file, the place where it matters, and what to do.
#[derive(Debug, Error)]
pub enum Error {
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
    /// An error that a build had recorded for an earlier source.
    #[error("{message}")]
    Noted {
        /// The message of that error.
        message: String,
        /// The exit code of that error.
        exit_code: ExitCode,
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
    /// Parts of one source do not fit together.
    #[error("{source_name}: parts of it do not fit together: {why}")]
    UnfitParts {
        /// The source.
        source_name: String,
        /// The reason, and what to do.
        why: String,
    },
    /// The path is not a dataset.
    #[error("{path}: not a Kibitz dataset; make one with `ingest build`", path = path.display())]
    NotADataset {
        /// The folder.
        path: PathBuf,
    },
    /// The folder holds a build that has sealed nothing yet.
    #[error(
        "{path}: an unfinished build{sources}, with nothing to read yet; run its command again to \
         finish it",
        path = path.display(),
        sources = sources.as_ref().map(|sources| format!(" of {sources}")).unwrap_or_default()
    )]
    Unfinished {
        /// The folder.
        path: PathBuf,
        /// Sources of the build, if recorded.
        sources: Option<String>,
    },
    /// The folder is one shard where a whole dataset is required.
    #[error(
        "{path}: shard {part} of a dataset; give the folder that has all shards",
        path = path.display()
    )]
    LoneShard {
        /// The folder.
        path: PathBuf,
        /// Number of the shard.
        part: PartOf,
    },
    /// The folders are not the complete set of shards of one dataset.
    #[error("{path}: {why}", path = path.display())]
    UnfitShards {
        /// The folder.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// A merge by shards does not support datasets built with `--max-positions`: the number of
    /// positions in earlier shards is unknown.
    #[error(
        "{path}: made with --max-positions, which counts over all shards; \
         merge without --shard, and cut the outcome by `ingest shard`",
        path = path.display()
    )]
    CappedShard {
        /// Dataset with such a limit.
        path: PathBuf,
    },
    /// The output folder of a dataset holds other files.
    #[error(
        "{path}: not a Kibitz dataset, and not empty: it holds {entry:?}; \
         give --out a folder of its own",
        path = path.display()
    )]
    Occupied {
        /// The folder.
        path: PathBuf,
        /// First name in the folder.
        entry: String,
    },
    /// The output path of a dataset is not a folder.
    #[error("{path}: not a folder; give another --out", path = path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// A dataset is given by URL where a local folder is required.
    #[error(
        "{path}: datasets are built and read in folders; copy them to S3 and back by \
         `aws s3 sync` or rclone",
        path = path.display()
    )]
    NotLocal {
        /// The URL.
        path: PathBuf,
    },
    /// The dataset has an unsupported format version.
    #[error(
        "{path}: dataset format {found}, this version reads {known} alone; rebuild it with \
         `ingest build`",
        path = path.display(), known = crate::store::FORMAT_VERSION
    )]
    OtherVersion {
        /// The folder.
        path: PathBuf,
        /// Format version of the dataset.
        found: u64,
    },
    /// Another process has the dataset open for writing.
    #[error("{path}: in use by another process; wait for it to end", path = path.display())]
    Locked {
        /// The folder.
        path: PathBuf,
    },
    /// The dataset holds the unfinished build of another command.
    #[error(
        "{path}: holds an unfinished build of {sources}; run its command again to finish it, or \
         give --force to discard it",
        path = path.display()
    )]
    UnfinishedBuild {
        /// The folder.
        path: PathBuf,
        /// Sources of that build.
        sources: String,
    },
    /// The dataset was made with other filters than those given to extend it.
    #[error(
        "{path}: made with other filters ({changes}); give the same, or another --out",
        path = path.display()
    )]
    OtherFilters {
        /// The folder.
        path: PathBuf,
        /// The differences, from [`host::archive::changes`].
        changes: String,
    },
    /// Datasets with different filters cannot be merged.
    #[error(
        "{path}: made with other filters than {other} ({changes}); \
         only datasets of the same filters are merged",
        path = path.display(), other = other.display()
    )]
    UnlikeFilters {
        /// Folder of one dataset.
        path: PathBuf,
        /// Folder of the other.
        other: PathBuf,
        /// The differences, from [`host::archive::changes`].
        changes: String,
    },
    /// The dataset is inconsistent.
    #[error("{path}: the dataset is corrupt: {what}; rebuild it", path = path.display())]
    Corrupt {
        /// The folder.
        path: PathBuf,
        /// Description of the inconsistency.
        what: String,
    },
    /// The dataset exists but the operating system refuses to open it.
    #[error("{path}: cannot open: {error}", path = path.display())]
    Inaccessible {
        /// The folder.
        path: PathBuf,
        /// The operating system's error.
        error: String,
    },
    /// A write failed.
    #[error(
        "{path}: cannot write: {error}{advice}",
        path = path.display(),
        advice = match full {
            true => "; make room and run the same command again: nothing that was there is lost",
            false => "",
        }
    )]
    Unwritable {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system or the store.
        error: String,
        /// Whether the disk or the quota is full.
        full: bool,
    },
    /// The operating system refuses to start a thread.
    #[error("cannot start a thread: {0}; end other programs, or raise the limit (`ulimit -u`)")]
    NoThread(io::Error),
    /// The work was cancelled. Files on disk are unchanged or resumable.
    #[error("stopped")]
    Stopped,
}

/// Error texts of a full disk. RocksDB reports errors as text only.
const FULL: [&str; 3] = [
    "No space left on device",
    "Disk quota exceeded",
    "not enough space on the disk",
];

impl Error {
    /// Returns the exit code of a program that fails with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Error::Unreadable { .. } | Error::Interrupted { .. } | Error::Inaccessible { .. } => {
                ExitCode::Missing
            }
            Error::Noted { exit_code, .. } => *exit_code,
            Error::Damaged { .. }
            | Error::OtherSource { .. }
            | Error::Empty { .. }
            | Error::NotPgn { .. }
            | Error::Parquet { .. } => ExitCode::Damaged,
            Error::NoParts { .. } | Error::NotLocal { .. } => ExitCode::Usage,
            Error::UnfitParts { .. }
            | Error::NotADataset { .. }
            | Error::Unfinished { .. }
            | Error::LoneShard { .. }
            | Error::UnfitShards { .. }
            | Error::CappedShard { .. }
            | Error::Occupied { .. }
            | Error::NotAFolder { .. }
            | Error::OtherVersion { .. }
            | Error::Locked { .. }
            | Error::UnfinishedBuild { .. }
            | Error::OtherFilters { .. }
            | Error::UnlikeFilters { .. }
            | Error::Corrupt { .. } => ExitCode::Refused,
            Error::Unwritable { .. } => ExitCode::Write,
            Error::NoThread(_) => ExitCode::Other,
            Error::Stopped => ExitCode::Interrupted,
        }
    }

    /// Returns [`Error::Damaged`] for a source.
    pub fn damaged(path: &Path, damage: &impl ToString) -> Error {
        Error::Damaged {
            path: shown(path),
            damage: damage.to_string(),
        }
    }

    /// Returns the error that stops the reading of a source, recognised by its type: the source has
    /// changed or is out of reach. `None` for damage, behind which reading can continue.
    pub(crate) fn stopping(path: &Path, error: &io::Error) -> Option<Error> {
        let path = || shown(path);
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

    /// Returns whether [`Error::stopping`] recognises the error.
    pub(crate) fn stops(error: &io::Error) -> bool {
        Error::stopping(Path::new(""), error).is_some()
    }

    pub(crate) fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = shown(path);
        move |error| Error::stopping(&path, &error).unwrap_or(Error::Unreadable { path, error })
    }

    pub(crate) fn inaccessible<E: ToString>(path: &Path) -> impl FnOnce(E) -> Error {
        let path = path.to_path_buf();
        move |error| Error::Inaccessible {
            path,
            error: error.to_string(),
        }
    }

    /// Returns a closure for [`Result::map_err`] that makes an [`Error::Unwritable`].
    pub fn unwritable<E: ToString>(path: &Path) -> impl FnOnce(E) -> Error {
        let path = path.to_path_buf();
        move |error| {
            let error = error.to_string();
            Error::Unwritable {
                path,
                full: FULL.iter().any(|words| error.contains(words)),
                error,
            }
        }
    }
}

impl From<FileError> for Error {
    fn from(error: FileError) -> Error {
        let FileError {
            action,
            path,
            source,
        } = error;
        match action {
            Action::Read => Error::Unreadable {
                path,
                error: source,
            },
            Action::Write => Error::unwritable(&path)(source),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::archive::changes;
    use records::selection::Filters;

    #[test]
    fn changed_settings_are_named() {
        let quiet = Filters {
            quiet: true,
            validation_percent: 10,
            ..Filters::default()
        };
        let told = changes(&Filters::default(), &quiet);
        assert_eq!(
            told,
            "quiet not set, now true; validation_percent 5, now 10"
        );
        assert_eq!(changes(&quiet, &quiet), "");
    }

    #[test]
    fn only_a_full_disk_asks_for_room() {
        let said = |error: io::Error| Error::unwritable(Path::new("x"))(error).to_string();
        for code in [28, 122] {
            let said = said(io::Error::from_raw_os_error(code));
            assert!(
                cfg!(not(target_os = "linux")) || said.contains("make room"),
                "{said}"
            );
        }
        assert!(!said(io::ErrorKind::NotFound.into()).contains("room"));
    }
}
