//! Lines of bounded length, read while something else goes on.

use std::io::{self, BufRead, Read};

/// Longer lines are refused: a game of ten thousand plies fits twenty times.
pub const MAX_LINE: usize = 1 << 20;

/// What there was to read.
pub enum Line {
    /// A line. What is no UTF-8 in it is replaced.
    Text(String),
    /// A line of more than [`MAX_LINE`] bytes, skipped.
    TooLong,
    /// Nothing more.
    End,
    /// No more can be read.
    Failed(io::Error),
}

/// Hands over line by line until the end, or until `take` says no.
pub fn read_lines(mut input: impl BufRead, mut take: impl FnMut(Line) -> bool) {
    loop {
        let line = read_line(&mut input).unwrap_or_else(Line::Failed);
        let last = matches!(line, Line::End | Line::Failed(_));
        if !take(line) || last {
            return;
        }
    }
}

fn read_line(input: &mut impl BufRead) -> io::Result<Line> {
    let mut line = Vec::new();
    let mut limited = input.by_ref().take(MAX_LINE as u64);
    if limited.read_until(b'\n', &mut line)? == 0 {
        return Ok(Line::End);
    }
    if line.len() < MAX_LINE || line.ends_with(b"\n") {
        return Ok(Line::Text(String::from_utf8_lossy(&line).into_owned()));
    }
    input.skip_until(b'\n')?;
    Ok(Line::TooLong)
}
