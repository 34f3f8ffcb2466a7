//! Errors of datasets on disk.

use std::io;
use std::path::{Path, PathBuf};

use host::{Action, ExitCode, FileError};
use records::position::Kind;
use thiserror::Error;

use crate::source::PartOf;

/// Errors of reading and writing a dataset. Each message is one line that names the folder and what
/// to do.
#[derive(Debug, Error)]
pub enum StoreError {
    /// A file or folder is missing or unreadable.
    #[error("{path}: {error}", path = path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// The operating system's error.
        error: io::Error,
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
    /// A dataset of another kind is required.
    #[error(
        "{path}: a dataset of {found}, where one of {wanted} is needed; `ingest build{option}` \
         makes one",
        path = path.display(),
        option = if *wanted == Kind::Moves { " --moves" } else { "" }
    )]
    OtherKind {
        /// The folder.
        path: PathBuf,
        /// Kind of the dataset.
        found: Kind,
        /// Kind that is required.
        wanted: Kind,
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
}

/// Error texts of a full disk. RocksDB reports errors as text only.
const FULL: [&str; 3] = [
    "No space left on device",
    "Disk quota exceeded",
    "not enough space on the disk",
];

impl StoreError {
    /// Returns the exit code of a program that fails with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            StoreError::Unreadable { .. } | StoreError::Inaccessible { .. } => ExitCode::Missing,
            StoreError::NotLocal { .. } => ExitCode::Usage,
            StoreError::UnfitParts { .. }
            | StoreError::NotADataset { .. }
            | StoreError::Unfinished { .. }
            | StoreError::LoneShard { .. }
            | StoreError::UnfitShards { .. }
            | StoreError::CappedShard { .. }
            | StoreError::Occupied { .. }
            | StoreError::NotAFolder { .. }
            | StoreError::OtherVersion { .. }
            | StoreError::OtherKind { .. }
            | StoreError::Locked { .. }
            | StoreError::UnfinishedBuild { .. }
            | StoreError::OtherFilters { .. }
            | StoreError::UnlikeFilters { .. }
            | StoreError::Corrupt { .. } => ExitCode::Refused,
            StoreError::Unwritable { .. } => ExitCode::Write,
        }
    }

    pub(crate) fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
        let path = path.to_path_buf();
        move |error| StoreError::Unreadable { path, error }
    }

    pub(crate) fn inaccessible<E: ToString>(path: &Path) -> impl FnOnce(E) -> StoreError {
        let path = path.to_path_buf();
        move |error| StoreError::Inaccessible {
            path,
            error: error.to_string(),
        }
    }

    /// Returns a closure for [`Result::map_err`] that makes a [`StoreError::Unwritable`].
    pub fn unwritable<E: ToString>(path: &Path) -> impl FnOnce(E) -> StoreError {
        let path = path.to_path_buf();
        move |error| {
            let error = error.to_string();
            StoreError::Unwritable {
                path,
                full: FULL.iter().any(|words| error.contains(words)),
                error,
            }
        }
    }
}

impl From<FileError> for StoreError {
    fn from(error: FileError) -> StoreError {
        let FileError {
            action,
            path,
            source,
        } = error;
        match action {
            Action::Read => StoreError::unreadable(&path)(source),
            Action::Write => StoreError::unwritable(&path)(source),
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
        let said = |error: io::Error| StoreError::unwritable(Path::new("x"))(error).to_string();
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
