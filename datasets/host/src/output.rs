//! Results go to standard output, what happens meanwhile to standard error;
//! whoever reads them may stop early.

use std::fmt::Display;
use std::io::{ErrorKind, Write, stderr, stdout};

use crate::file::{Action, FileError};

/// Prints a result. A reader that has closed the pipe has seen enough, so that
/// `trainer eval ... | head` is no error.
///
/// # Errors
/// If standard output cannot be written for any other reason.
pub fn print(text: &str) -> Result<(), FileError> {
    let mut out = stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(FileError::to(Action::Write, "standard output")),
    }
}

/// Tells the user a line on standard error. That nobody reads it any more, as
/// after `2>&1 | head` or in a terminal that was closed, is no reason to stop:
/// `eprintln` would panic.
pub fn tell(line: impl Display) {
    // In one write, so that lines of several threads do not mix.
    let _ = stderr().write_all(format!("{line}\n").as_bytes());
}
