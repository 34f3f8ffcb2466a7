//! Results on standard output and messages on standard error; closed pipes are tolerated.

use std::fmt::Display;
use std::io::{ErrorKind, Write, stderr, stdout};

use crate::file::{Action, FileError};

/// Prints a result. A closed pipe is not an error, so `trainer eval ... | head` succeeds.
///
/// # Errors
/// [`FileError`] if standard output cannot be written for any other reason.
pub fn print(text: &str) -> Result<(), FileError> {
    let mut out = stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(FileError::to(Action::Write, "standard output")),
    }
}

/// Writes a line to standard error and ignores failures, such as a pipe closed by `2>&1 | head` or
/// a closed terminal, where `eprintln` would panic.
pub fn tell(line: impl Display) {
    // A single write keeps lines of several threads apart.
    let _ = stderr().write_all(format!("{line}\n").as_bytes());
}
