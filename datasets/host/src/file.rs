//! Files named by the user: reading, overwrite checks, and their errors.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::exit::ExitCode;

/// The operation that failed on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Reading.
    Read,
    /// Writing.
    Write,
}

/// A file named by the user cannot be read or written; the source gives the reason.
#[derive(Debug, Error)]
#[error("cannot {} {path:?}", match action { Action::Read => "read", Action::Write => "write" })]
pub struct FileError {
    /// The failed operation.
    pub action: Action,
    /// The path as the user gave it.
    pub path: PathBuf,
    /// The operating system's error.
    pub source: io::Error,
}

impl FileError {
    /// Returns a closure for `map_err` that adds the operation and the path.
    pub fn to(action: Action, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> FileError {
        let path = path.into();
        move |source| FileError {
            action,
            path,
            source,
        }
    }

    /// Returns the exit code of a program that fails with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self.action {
            Action::Read => ExitCode::Missing,
            Action::Write => ExitCode::Write,
        }
    }
}

/// The output file exists already.
#[derive(Debug, Error)]
#[error("{path}: exists already; {remedy}", path = path.display())]
pub struct Exists {
    /// The existing file.
    pub path: PathBuf,
    /// Advice to the user, such as "give another --out".
    pub remedy: &'static str,
}

impl Exists {
    /// Returns the exit code of a program that fails with this error.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::Refused
    }
}

/// Checks that a write to `path` replaces no net, dataset, game file or checkpoint, unless `force`
/// is set. Pipes and devices are always accepted.
///
/// # Errors
/// [`Exists`] if a file or folder is at `path` and `force` is false.
pub fn check_free(path: &Path, force: bool) -> Result<(), Exists> {
    let found = path.metadata();
    let lasts = found.is_ok_and(|found| found.is_file() || found.is_dir());
    match lasts && !force {
        true => Err(Exists {
            path: path.to_path_buf(),
            remedy: "give another --out, or --force to replace it",
        }),
        false => Ok(()),
    }
}

/// Checks that a picture (SVG) or page (HTML) replaces only another one: `path` is missing, empty,
/// or begins with `<`.
///
/// # Errors
/// [`Exists`] if the file holds anything else.
pub fn check_free_for_markup(path: &Path) -> Result<(), Exists> {
    let mut head = [0; 64];
    let read = match path.is_file() {
        true => File::open(path).and_then(|mut file| file.read(&mut head)),
        false => return Ok(()),
    };
    // An unreadable file is kept: it may hold anything.
    let is_markup = read.is_ok_and(|length| {
        let text = head[..length].trim_ascii_start();
        text.is_empty() || text[0] == b'<'
    });
    match is_markup {
        true => Ok(()),
        false => Err(Exists {
            path: path.to_path_buf(),
            remedy: "it is not a picture or page, and is kept; give another name",
        }),
    }
}

/// Reads a whole file of at most `most` bytes; the limit guards against endless pipes and devices.
///
/// # Errors
/// [`FileError`] if it cannot be read or is larger.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>, FileError> {
    let read = || {
        let mut bytes = Vec::new();
        let mut file = File::open(path)?.take(most + 1);
        file.read_to_end(&mut bytes)?;
        match file.limit() {
            0 => Err(io::Error::other(format!("it has more than {most} bytes"))),
            _ => Ok(bytes),
        }
    };
    read().map_err(FileError::to(Action::Read, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_files_against_replacement() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str, content: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            path
        };
        let net = path("net", "\u{18}{\"tensors\"");
        assert!(check_free(&net, false).is_err());
        assert!(check_free(folder.path(), false).is_err());
        assert!(check_free(&net, true).is_ok());
        let missing = folder.path().join("missing");
        assert!(check_free(&missing, false).is_ok());
        assert!(check_free(Path::new("/dev/null"), false).is_ok());

        assert!(check_free_for_markup(&net).is_err());
        for free in [
            path("a", "<svg/>"),
            path("b", "\n<!doctype html>"),
            path("c", ""),
            missing,
        ] {
            assert!(check_free_for_markup(&free).is_ok(), "{free:?}");
        }
    }
}
