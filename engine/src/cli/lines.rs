//! Reader of lines of bounded length.

use std::io::{self, BufRead, Read};

/// Maximum line length in bytes; a game of ten thousand plies fits twenty times.
pub const MAX_LINE: usize = 1 << 20;

/// Result of reading one line of input.
pub enum InputLine {
    /// A line, with invalid UTF-8 replaced.
    Text(String),
    /// A line of more than [`MAX_LINE`] bytes, skipped.
    TooLong,
    /// End of input.
    End,
    /// Read error; reading stops.
    Failed(io::Error),
}

/// Calls `take` with each line until the end of input, a read error, or until it returns false.
pub fn read_lines(mut input: impl BufRead, mut take: impl FnMut(InputLine) -> bool) {
    loop {
        let line = read_line(&mut input).unwrap_or_else(InputLine::Failed);
        let last = matches!(line, InputLine::End | InputLine::Failed(_));
        if !take(line) || last {
            return;
        }
    }
}

fn read_line(input: &mut impl BufRead) -> io::Result<InputLine> {
    let mut line = Vec::new();
    let mut limited = input.by_ref().take(MAX_LINE as u64);
    if limited.read_until(b'\n', &mut line)? == 0 {
        return Ok(InputLine::End);
    }
    if line.len() < MAX_LINE || line.ends_with(b"\n") {
        return Ok(InputLine::Text(String::from_utf8_lossy(&line).into_owned()));
    }
    input.skip_until(b'\n')?;
    Ok(InputLine::TooLong)
}
