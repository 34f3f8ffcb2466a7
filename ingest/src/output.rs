//! Results go to standard output; whoever reads it may stop early.

use std::io::{ErrorKind, Write, stdout};

use anyhow::Result;

/// Prints a result. A reader that has closed the pipe has seen enough.
///
/// # Errors
/// If standard output cannot be written for any other reason.
pub fn print(text: &str) -> Result<()> {
    let written = stdout()
        .write_all(text.as_bytes())
        .and_then(|()| stdout().flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
