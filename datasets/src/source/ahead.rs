//! Buffered reader with unlimited lookahead.

use std::io::{self, BufRead, ErrorKind, Read};

/// Initial buffer size, and the size of a read.
const CAPACITY: usize = 1 << 17;

/// Variant of [`BufReader`](io::BufReader) whose buffer grows to fit each [`peek`](Ahead::peek).
pub(crate) struct Ahead<R> {
    inner: R,
    buffer: Vec<u8>,
    /// Unconsumed bytes of the buffer: `start..end`.
    start: usize,
    end: usize,
}

impl<R: Read> Ahead<R> {
    pub(crate) fn new(inner: R) -> Ahead<R> {
        Ahead {
            inner,
            buffer: vec![0; CAPACITY],
            start: 0,
            end: 0,
        }
    }

    /// Returns the next `count` bytes or more without consuming them; fewer at the end.
    pub(crate) fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        while self.end - self.start < count {
            if self.buffer.len() - self.start < count {
                self.buffer.copy_within(self.start..self.end, 0);
                (self.start, self.end) = (0, self.end - self.start);
                self.buffer.resize(self.buffer.len().max(count), 0);
            }
            match self.inner.read(&mut self.buffer[self.end..]) {
                Ok(0) => break,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(&self.buffer[self.start..self.end])
    }
}

impl<R: Read> Read for Ahead<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Read directly into a large buffer, without a copy.
        if self.start == self.end && buffer.len() >= CAPACITY {
            return self.inner.read(buffer);
        }
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: Read> BufRead for Ahead<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            self.end = self.inner.read(&mut self.buffer)?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    fn consume(&mut self, amount: usize) {
        self.start = (self.start + amount).min(self.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reader that returns few bytes per call.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = buffer.len().min(30_011);
            self.0.read(&mut buffer[..most])
        }
    }

    #[test]
    fn peek_consumes_nothing() {
        let text: Vec<u8> = (0..1_000_000u32).map(|i| (i * 7 / 3) as u8).collect();
        let mut ahead = Ahead::new(Slow(&text));
        let mut read = Vec::new();
        for count in [1, 12, 100_000, 12, 300_000, 40, 900_000, 2_000_000] {
            let seen = ahead.peek(count).unwrap();
            let left = &text[read.len()..];
            assert!(seen.len() >= count.min(left.len()));
            assert!(left.starts_with(seen));
            let mut some = vec![0; 50_000];
            ahead.read_exact(&mut some).unwrap();
            read.extend_from_slice(&some);
        }
        ahead.read_to_end(&mut read).unwrap();
        assert!(read == text);
    }
}
