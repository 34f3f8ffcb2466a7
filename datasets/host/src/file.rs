//! Files that the user names.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::exit::ExitCode;

/// What was to be done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// To read it.
    Read,
    /// To write it.
    Write,
}

/// A file named by the user could not be used; the source says why.
#[derive(Debug, Error)]
#[error("cannot {} {path:?}", match action { Action::Read => "read", Action::Write => "write" })]
pub struct FileError {
    /// What was tried.
    pub action: Action,
    /// The file as the user named it.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl FileError {
    /// Turns what the system says into such an error.
    pub fn to(action: Action, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> FileError {
        let path = path.into();
        move |source| FileError {
            action,
            path,
            source,
        }
    }

    /// How a program ends for it.
    pub fn exit_code(&self) -> ExitCode {
        match self.action {
            Action::Read => ExitCode::Missing,
            Action::Write => ExitCode::Write,
        }
    }
}

/// A file that a command would replace is there already.
#[derive(Debug, Error)]
#[error("{path}: exists already; {remedy}", path = path.display())]
pub struct Exists {
    /// The file.
    pub path: PathBuf,
    /// The remedy to offer, such as "give another --out".
    pub remedy: &'static str,
}

impl Exists {
    /// The exit code of a program that ends for it.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::Refused
    }
}

/// Makes sure that no file is replaced: nets, datasets, games and checkpoints are, with
/// `force` only. Pipes and devices hold nothing that could be lost.
///
/// # Errors
/// [`Exists`] if a file or folder is there and `force` is not given.
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

/// Makes sure that a picture (SVG) or page (HTML) replaces nothing but another: the file is
/// not there, is empty, or begins as markup does.
///
/// # Errors
/// [`Exists`] if it holds anything else.
pub fn check_free_for_markup(path: &Path) -> Result<(), Exists> {
    let mut head = [0; 64];
    let read = match path.is_file() {
        true => File::open(path).and_then(|mut file| file.read(&mut head)),
        false => return Ok(()),
    };
    // An unreadable file may hold anything, so it is not replaced.
    let is_markup = read.is_ok_and(|length| {
        let text = head[..length].trim_ascii_start();
        text.is_empty() || text[0] == b'<'
    });
    match is_markup {
        true => Ok(()),
        false => Err(Exists {
            path: path.to_path_buf(),
            remedy: "it is no picture or page, and is not replaced: give another name",
        }),
    }
}

/// Reads a whole file. It may be a pipe or a device that never ends, so it may
/// have `most` bytes.
///
/// # Errors
/// If it cannot be read, or has more bytes.
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
    fn a_file_is_replaced_by_force_alone_and_a_picture_by_a_picture() {
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
