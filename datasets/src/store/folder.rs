//! Folders that a build may use, and the cleanup of an abandoned build.
//!
//! A build uses a missing or empty folder, a dataset, or an unfinished build. The last has a
//! marker, an empty file that is created before everything else and removed when a dataset is
//! sealed. All other content of a folder is foreign and never touched.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, DirEntry, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use host::durable;

use crate::source::Source;
use crate::store::StoreError;

/// Marker file of an unfinished build.
const MARKER: &str = "kibitz-unfinished";

/// RocksDB's file that names its manifest; present in every database.
pub(crate) const CURRENT: &str = "CURRENT";

/// A folder that a build may use.
#[derive(Debug)]
pub(crate) enum Claimed {
    /// A build that has sealed nothing yet.
    Unfinished {
        /// Folders created for it, innermost first.
        made: Vec<PathBuf>,
    },
    /// An existing database, not yet known to be a dataset.
    Database,
}

/// Creates the folder or checks that a build may use it. Existing content is not changed.
///
/// # Errors
/// [`StoreError::NotLocal`], [`StoreError::Occupied`], [`StoreError::NotAFolder`],
/// [`StoreError::Unwritable`].
pub(crate) fn claim(path: &Path) -> Result<Claimed, StoreError> {
    let unwritable = || StoreError::unwritable(path);
    if Source::is_url(path) {
        return Err(StoreError::NotLocal {
            path: Source::shown(path),
        });
    }
    if !path.is_dir() && fs::symlink_metadata(path).is_ok() {
        return Err(StoreError::NotAFolder {
            path: path.to_path_buf(),
        });
    }
    let made = make(path).map_err(unwritable())?;
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(StoreError::unreadable(path))? {
        let name = entry.map_err(StoreError::unreadable(path))?.file_name();
        names.push(name.to_string_lossy().into_owned());
    }
    names.sort();
    if is_marked(path) {
        Ok(Claimed::Unfinished { made })
    } else if names.is_empty() {
        mark(path).map_err(unwritable())?;
        Ok(Claimed::Unfinished { made })
    } else if has_database(path) {
        Ok(Claimed::Database)
    } else {
        Err(StoreError::Occupied {
            path: path.to_path_buf(),
            entry: names.swap_remove(0),
        })
    }
}

/// Creates a missing folder with its ancestors. Returns the created ones, innermost first.
fn make(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut missing: Vec<PathBuf> = path
        .ancestors()
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        .map(Path::to_path_buf)
        .collect();
    for folder in missing.iter().rev() {
        match fs::create_dir(folder) {
            // Another process was faster, or the path is `..` of a created folder.
            Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => {}
            made => made?,
        }
        durable::sync_folder_of(folder)?;
    }
    missing.retain(|folder| !folder.ends_with(".."));
    Ok(missing)
}

/// Creates the marker durably, before anything else is created.
fn mark(path: &Path) -> io::Result<()> {
    let marker = path.join(MARKER);
    match File::create_new(&marker) {
        Ok(file) => file.sync_all()?,
        // Another build began at the same moment; one of the two will find the database locked.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    durable::sync_folder_of(&marker)
}

/// Returns whether the folder holds a build that has sealed nothing.
pub(crate) fn is_marked(path: &Path) -> bool {
    let marker = fs::symlink_metadata(path.join(MARKER));
    marker.is_ok_and(|marker| marker.is_file() && marker.len() == 0)
}

/// Returns the error for a folder without a sealed dataset: an unfinished build of `sources`, if
/// known, or no dataset.
pub(crate) fn no_dataset(path: &Path, sources: Option<String>) -> StoreError {
    let path = path.to_path_buf();
    match is_marked(&path) {
        true => StoreError::Unfinished { path, sources },
        false => StoreError::NotADataset { path },
    }
}

/// Removes the marker, as a dataset is sealed.
///
/// # Errors
/// Any I/O error.
pub(crate) fn unmark(path: &Path) -> io::Result<()> {
    let marker = path.join(MARKER);
    fs::remove_file(&marker)?;
    durable::sync_folder_of(&marker)
}

/// Returns whether the folder holds a RocksDB. An unreadable CURRENT counts as one.
pub(crate) fn has_database(path: &Path) -> bool {
    let current = path.join(CURRENT);
    match fs::symlink_metadata(&current) {
        Ok(metadata) if metadata.is_file() && metadata.len() < 64 => {}
        _ => return false,
    }
    let name = fs::read_to_string(&current);
    name.map_or_else(
        |error| error.kind() == ErrorKind::PermissionDenied,
        |name| name.strip_suffix('\n').is_some_and(is_of_database),
    )
}

/// Returns names and sizes of a folder's entries, to detect changes.
pub(crate) fn sizes(folder: &Path) -> BTreeMap<OsString, u64> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: &DirEntry| entry.metadata().map_or(0, |metadata| metadata.len());
    entries
        .map(|entry| (entry.file_name(), size(&entry)))
        .collect()
}

/// Removes the files created by a build that has sealed nothing, by name, and then the folders
/// created for it, unless they hold foreign files.
///
/// # Errors
/// Any I/O error.
pub(crate) fn abandon(path: &Path, made: &[PathBuf]) -> io::Result<()> {
    // This order survives interruption: a log without a database does not count as a start, and
    // once the marker is gone no other file may be left.
    let log = |name: &str| name.ends_with(".log");
    remove_files(path, |name| is_of_database(name) && log(name))?;
    remove_files(path, |name| name == CURRENT)?;
    remove_files(path, is_of_database)?;
    unmark(path)?;
    for folder in made {
        if !remove_if_empty(folder)? {
            break;
        }
    }
    Ok(())
}

/// Returns whether RocksDB uses this file name.
pub(crate) fn is_of_database(name: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let behind = |start: &str| name.strip_prefix(start).is_some_and(number);
    let before = |end: &str| {
        let start = name.strip_suffix(end);
        start.is_some_and(|start| number(start.strip_prefix("OPTIONS-").unwrap_or(start)))
    };
    matches!(name, CURRENT | "IDENTITY" | "LOCK" | "LOG")
        || ["LOG.old.", "MANIFEST-", "OPTIONS-"]
            .into_iter()
            .any(behind)
        || [".log", ".sst", ".dbtmp"].into_iter().any(before)
}

/// Removes the files in a folder with matching names. Links and other non-files stay.
///
/// # Errors
/// Any I/O error, except for a missing folder.
pub(crate) fn remove_files(folder: &Path, matches: impl Fn(&str) -> bool) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        if entry.file_type()?.is_file() && name.to_str().is_some_and(&matches) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Removes a folder if it is empty. Returns whether it was empty or missing.
///
/// # Errors
/// Any other I/O error.
pub(crate) fn remove_if_empty(folder: &Path) -> io::Result<bool> {
    match fs::remove_dir(folder) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_database_files_by_name() {
        for name in [
            "CURRENT",
            "IDENTITY",
            "LOCK",
            "LOG",
            "LOG.old.1700000000000000",
            "MANIFEST-000005",
            "OPTIONS-000007",
            "OPTIONS-000007.dbtmp",
            "000004.log",
            "000009.sst",
            "000001.dbtmp",
        ] {
            assert!(is_of_database(name), "{name}");
        }
        for name in [
            "LOGS",
            "LOCKED",
            "IDENTITY.txt",
            "LOG.old",
            "LOG.old.",
            "LOG.old.5a",
            "MANIFEST-",
            "MANIFEST-of-the-party",
            "OPTIONS-1.txt",
            "OPTIONS-.dbtmp",
            ".log",
            "my.log",
            "1.sst.txt",
            "current",
            "kibitz-unfinished",
            "",
        ] {
            assert!(!is_of_database(name), "{name}");
        }
    }

    #[test]
    fn removes_only_its_own_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/../c");
        let Claimed::Unfinished { made } = claim(&path).unwrap() else {
            panic!("a dataset where there was nothing");
        };
        assert!(folder.path().join("a/c/kibitz-unfinished").is_file());
        for name in ["CURRENT", "000004.log", "LOG"] {
            fs::write(path.join(name), "").unwrap();
        }
        fs::write(path.join("mine.log"), "").unwrap();
        fs::create_dir(path.join("LOCK")).unwrap();
        // A second build of the same command.
        assert!(matches!(claim(&path), Ok(Claimed::Unfinished { made }) if made.is_empty()));
        abandon(&path, &made).unwrap();
        let left = fs::read_dir(&path).unwrap();
        let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["LOCK", "mine.log"]);
        assert!(matches!(claim(&path), Err(StoreError::Occupied { entry, .. }) if entry == "LOCK"));
    }
}
