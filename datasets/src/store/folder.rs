//! The folder of a dataset: which one a build may use, and what it takes away
//! again when nothing comes of it.
//!
//! A build uses a folder that is not there, one that is empty, a dataset, and
//! an unfinished build. The last is known by its marker, an empty file that is
//! made before everything else and stays until a dataset is sealed. Whatever
//! else a folder holds belongs to somebody else.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, DirEntry, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use host::durable;

use crate::Error;
use crate::input::Source;

/// The marker of an unfinished build.
const MARKER: &str = "kibitz-unfinished";

/// RocksDB's file that names its manifest: with it there is a database.
pub(crate) const CURRENT: &str = "CURRENT";

/// A folder that a build may use.
#[derive(Debug)]
pub(crate) enum Claimed {
    /// A build's own, without anything sealed as yet.
    Unfinished {
        /// The folders that were made for it, the innermost first.
        made: Vec<PathBuf>,
    },
    /// A database that somebody has made: whether it is a dataset is still to
    /// be seen.
    Database,
}

/// Makes the folder, or sees whether it is one that a build may use. Nothing
/// in it is touched.
///
/// # Errors
/// [`Error::NotLocal`], [`Error::Occupied`], [`Error::NotAFolder`], [`Error::Unwritable`].
pub(crate) fn claim(path: &Path) -> Result<Claimed, Error> {
    let unwritable = || Error::unwritable(path);
    if Source::is_url(path) {
        return Err(Error::NotLocal {
            path: Source::shown(path),
        });
    }
    if !path.is_dir() && fs::symlink_metadata(path).is_ok() {
        return Err(Error::NotAFolder {
            path: path.to_path_buf(),
        });
    }
    let made = make(path).map_err(unwritable())?;
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(Error::unreadable(path))? {
        let name = entry.map_err(Error::unreadable(path))?.file_name();
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
        Err(Error::Occupied {
            path: path.to_path_buf(),
            entry: names.swap_remove(0),
        })
    }
}

/// Makes the folder if it is not there, and those that it lies in. Tells which
/// were made, the innermost first.
fn make(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut missing: Vec<PathBuf> = path
        .ancestors()
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        .map(Path::to_path_buf)
        .collect();
    for folder in missing.iter().rev() {
        match fs::create_dir(folder) {
            // Somebody else was faster, or it is `..` of one that was made.
            Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => {}
            made => made?,
        }
        durable::sync_folder_of(folder)?;
    }
    missing.retain(|folder| !folder.ends_with(".."));
    Ok(missing)
}

/// Makes the marker, so that it is there before anything that it speaks of.
fn mark(path: &Path) -> io::Result<()> {
    let marker = path.join(MARKER);
    match File::create_new(&marker) {
        Ok(file) => file.sync_all()?,
        // Another build has begun at the same moment. One of them will find
        // the database in use.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    durable::sync_folder_of(&marker)
}

/// Whether the folder holds a build without anything sealed.
pub(crate) fn is_marked(path: &Path) -> bool {
    let marker = fs::symlink_metadata(path.join(MARKER));
    marker.is_ok_and(|marker| marker.is_file() && marker.len() == 0)
}

/// What is said of a folder without anything sealed: that it holds an unfinished build, of
/// these sources if they are known, or no dataset.
pub(crate) fn no_dataset(path: &Path, sources: Option<String>) -> Error {
    let path = path.to_path_buf();
    match is_marked(&path) {
        true => Error::Unfinished { path, sources },
        false => Error::NotADataset { path },
    }
}

/// Takes the marker away: a dataset is sealed.
///
/// # Errors
/// What the system said.
pub(crate) fn unmark(path: &Path) -> io::Result<()> {
    let marker = path.join(MARKER);
    fs::remove_file(&marker)?;
    durable::sync_folder_of(&marker)
}

/// Whether the folder holds a RocksDB. What may not be read is taken for one.
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

/// The names and sizes of what is in a folder, to see whether it changes.
pub(crate) fn sizes(folder: &Path) -> BTreeMap<OsString, u64> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: &DirEntry| entry.metadata().map_or(0, |metadata| metadata.len());
    entries
        .map(|entry| (entry.file_name(), size(&entry)))
        .collect()
}

/// Removes the files that a build without anything sealed has made, by name,
/// and the folders that were made for it. What else has come into them stays,
/// and so do then the folders.
///
/// # Errors
/// What the system said.
pub(crate) fn abandon(path: &Path, made: &[PathBuf]) -> io::Result<()> {
    // In this order, since it may be interrupted: a log without a database is
    // no beginning of one; without the marker nothing may be left.
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

/// Whether it is a file of RocksDB's that says nothing of the data: its lock, and what it
/// noted.
pub(crate) fn is_left_by_readers(name: &str) -> bool {
    matches!(name, "LOCK" | "LOG") || name.starts_with("LOG.old.") || name.ends_with(".dbtmp")
}

/// Whether RocksDB gives one of its files this name.
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

/// Removes the files in a folder whose names are told. What is no file, such
/// as a link, was not made here and stays.
///
/// # Errors
/// What the system said; no folder is none.
pub(crate) fn remove_files(folder: &Path, told: impl Fn(&str) -> bool) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        if entry.file_type()?.is_file() && name.to_str().is_some_and(&told) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Removes a folder that has nothing in it. Tells whether it had not.
///
/// # Errors
/// What the system said.
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
    fn names_of_a_database_are_told_exactly() {
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
    fn what_was_made_is_removed_and_nothing_else() {
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
        // Of another build of the same command.
        assert!(matches!(claim(&path), Ok(Claimed::Unfinished { made }) if made.is_empty()));
        abandon(&path, &made).unwrap();
        let left = fs::read_dir(&path).unwrap();
        let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["LOCK", "mine.log"]);
        assert!(matches!(claim(&path), Err(Error::Occupied { entry, .. }) if entry == "LOCK"));
    }
}
