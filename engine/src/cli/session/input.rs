//! Lines of bounded length.

use std::io::{self, BufRead, Read};

/// Longer lines are refused: a game of ten thousand plies fits twenty times.
pub const MAX_LINE: usize = 1 << 20;

/// What there was to read.
pub enum Line {
    /// A line.
    Read,
    /// A line of more than [`MAX_LINE`] bytes, skipped.
    TooLong,
    /// Nothing more.
    End,
}

/// Reads a line into `line`.
pub fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Line> {
    line.clear();
    if input
        .by_ref()
        .take(MAX_LINE as u64)
        .read_until(b'\n', line)?
        == 0
    {
        return Ok(Line::End);
    }
    if line.len() < MAX_LINE || line.ends_with(b"\n") {
        return Ok(Line::Read);
    }
    input.skip_until(b'\n')?;
    Ok(Line::TooLong)
}
