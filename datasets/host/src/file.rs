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
