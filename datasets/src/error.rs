use std::io;
use std::path::{Path, PathBuf};

use host::{Action, ExitCode, FileError};
use thiserror::Error;

use crate::input::{ConnectionLost, OtherBytes, PartOf, shown};

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
        exit_code: ExitCode,
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
    #[error(
        "{path}: {what} is empty",
        path = path.display(),
        what = if path == Path::new("-") { "standard input" } else { "the file" }
    )]
    Empty {
        /// The source.
        path: PathBuf,
    },
    /// A source is no PGN, nor positions with evaluations where these would do.
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
        /// Bytes of text that were searched.
        bytes: usize,
        /// Whether it holds positions with evaluations, as another format has them.
        positions: bool,
    },
    /// A source is Parquet, which is written but not read.
    #[error(
        "{path}: Parquet is not read; give the PGN that it was made from, or write its rows as \
         lines of `FEN | centipawns | result` or `FEN,Evaluation`",
        path = path.display()
    )]
    Parquet {
        /// The source.
        path: PathBuf,
    },
    /// A source cannot be cut into parts.
    #[error("{path}: cannot be read in parts: {why}", path = path.display())]
    NoParts {
        /// The source.
        path: PathBuf,
        /// Why not, and what to do.
        why: &'static str,
    },
    /// Parts of one source do not fit together.
    #[error("{source_name}: parts of it do not fit together: {why}")]
    UnfitParts {
        /// The source.
        source_name: String,
        /// Why not, and what to do.
        why: String,
    },
    /// The path holds no dataset.
    #[error("{path}: not a Kibitz dataset; make one with `ingest build`", path = path.display())]
    NotADataset {
        /// The folder.
        path: PathBuf,
    },
    /// The folder has a build that has sealed nothing yet.
    #[error(
        "{path}: an unfinished build{sources}, with nothing to read yet; run its command again to \
         finish it",
        path = path.display(),
        sources = sources.as_ref().map(|sources| format!(" of {sources}")).unwrap_or_default()
    )]
    Unfinished {
        /// The folder.
        path: PathBuf,
        /// The sources that it is of, if it has noted them.
        sources: Option<String>,
    },
    /// The folder has a shard of a dataset where the whole is wanted.
    #[error(
        "{path}: shard {part} of a dataset; give the folder that has all shards",
        path = path.display()
    )]
    LoneShard {
        /// The folder.
        path: PathBuf,
        /// Which shard.
        part: PartOf,
    },
    /// Shards are not all those of one dataset.
    #[error("{path}: {why}", path = path.display())]
    UnfitShards {
        /// The folder.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// A shard of a merge cannot be made of datasets that have no more than so many
    /// positions: how many are before it is not known.
    #[error(
        "{path}: made with --max-positions, which counts over all shards; \
         merge without --shard, and cut the outcome by `ingest shard`",
        path = path.display()
    )]
    CappedShard {
        /// One of the datasets.
        path: PathBuf,
    },
    /// A dataset is to be made in a folder that holds something else.
    #[error(
        "{path}: not a Kibitz dataset, and not empty: it holds {entry:?}; \
         give --out a folder of its own",
        path = path.display()
    )]
    Occupied {
        /// The folder.
        path: PathBuf,
        /// The first name in it.
        entry: String,
    },
    /// A dataset is to be made where there is a file.
    #[error("{path}: is no folder, as a dataset is; give another --out", path = path.display())]
    NotAFolder {
        /// What is in the way.
        path: PathBuf,
    },
    /// A dataset is named by a URL where only a folder will do.
    #[error(
        "{path}: datasets are built and read in folders; `ingest copy` copies them to s3://BUCKET/NAME \
         and from there",
        path = path.display()
    )]
    NotLocal {
        /// The URL.
        path: PathBuf,
    },
    /// There is no dataset at a URL, or not all of one.
    #[error(
        "{path}: no dataset, or not all of one: `ingest copy` writes kibitz-dataset.json last, \
         which is missing",
        path = path.display()
    )]
    NoCopy {
        /// The URL.
        path: PathBuf,
    },
    /// What a dataset is to be copied to is there already, and something else.
    #[error("{path}: {what} is there already; give another name, or remove it", path = path.display())]
    Taken {
        /// The folder or URL.
        path: PathBuf,
        /// What is there.
        what: &'static str,
    },
    /// A dataset is to be copied to where a file system is mounted.
    #[error(
        "{path}: a file system is mounted here, whose place a copy cannot take; give a folder in it, \
         such as {path}/dataset",
        path = path.display()
    )]
    MountPoint {
        /// The folder.
        path: PathBuf,
    },
    /// A dataset changed while it was copied.
    #[error("{path}: changed while it was copied; run the same command again", path = path.display())]
    Changed {
        /// The folder.
        path: PathBuf,
    },
    /// The dataset was written in another format version.
    #[error(
        "{path}: dataset format {found}, this version reads {oldest} to {known} and adds to {added} \
         to {known}; rebuild it with `ingest build`",
        path = path.display(), oldest = crate::store::OLDEST_VERSION,
        added = crate::store::ADDED_VERSION, known = crate::store::FORMAT_VERSION
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
    /// A dataset holds the unfinished build of another command.
    #[error(
        "{path}: holds an unfinished build of {sources}; run its command again to finish it, or \
         give --force to discard it",
        path = path.display()
    )]
    UnfinishedBuild {
        /// The folder.
        path: PathBuf,
        /// The sources that it is of.
        sources: String,
    },
    /// A dataset may be added to only with the filters it was made with.
    #[error(
        "{path}: made with other filters ({changes}); give the same, or another --out",
        path = path.display()
    )]
    OtherFilters {
        /// The folder.
        path: PathBuf,
        /// What [`host::archive::changes`] tells of them.
        changes: String,
    },
    /// Only datasets that were made with the same filters may be merged.
    #[error(
        "{path}: made with other filters than {other} ({changes}); \
         only datasets of the same filters are merged",
        path = path.display(), other = other.display()
    )]
    UnlikeFilters {
        /// One folder.
        path: PathBuf,
        /// The other.
        other: PathBuf,
        /// What [`host::archive::changes`] tells of the filters of the first.
        changes: String,
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
        /// What the system or the store said.
        error: String,
        /// Whether there is no room left for it.
        full: bool,
    },
    /// The system gives no thread to work on.
    #[error("cannot start a thread: {0}; end other programs, or raise the limit (`ulimit -u`)")]
    NoThread(io::Error),
    /// The work was called off. What is on the disk is as it was, or is gone
    /// on with.
    #[error("stopped")]
    Stopped,
}

/// What systems say where there is no room left. RocksDB gives nothing but
/// their words.
const FULL: [&str; 3] = [
    "No space left on device",
    "Disk quota exceeded",
    "not enough space on the disk",
];

impl Error {
    /// The exit code of a program that ends with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Error::Unreadable { .. }
            | Error::Interrupted { .. }
            | Error::NoCopy { .. }
            | Error::Inaccessible { .. } => ExitCode::Missing,
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
            | Error::Taken { .. }
            | Error::MountPoint { .. }
            | Error::Changed { .. }
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

    /// What is said of a source with such damage.
    pub fn damaged(path: &Path, damage: &impl ToString) -> Error {
        Error::Damaged {
            path: shown(path),
            damage: damage.to_string(),
        }
    }

    /// What stops the reading of a source, told by the error's type: that it
    /// is another now, or out of reach. `None` for damage of its own.
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

    /// Whether [`Error::stopping`] knows the error.
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

    /// What is said of a file or folder that cannot be written, for
    /// [`Result::map_err`].
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
    fn room_is_asked_for_only_where_there_is_none() {
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
