//! Results go to standard output; whoever reads it may stop early.

use std::io::{self, ErrorKind, Write, stdout};

/// Prints a result. A reader that has closed the pipe has seen enough, so that
/// `trainer eval ... | head` is no error.
///
/// # Errors
/// If standard output cannot be written for any other reason.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
