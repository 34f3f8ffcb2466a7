//! Lines to the GUI.

use std::io::{self, Write, stdout};

/// Prints a line and flushes.
///
/// # Errors
/// If stdout is closed.
pub(super) fn say(line: &str) -> io::Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush())
}

/// Prints an `info string`; ignores a closed stdout.
pub(super) fn inform(text: &str) {
    // Control characters could start another line.
    let line = text.replace(char::is_control, " ");
    let _ = say(&format!("info string {line}"));
}
