//! Byte counter and running digest of a source.

use std::io::{self, BufRead, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::source::ahead::Ahead;
use crate::source::digest::{DigestNode, TreeDigest, granule_level};

/// Length and digest of the bytes read so far of a source or a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Prefix {
    pub(crate) bytes: u64,
    /// Hexadecimal tree digest.
    pub(crate) digest: String,
}

/// A resumed source does not begin with the bytes it had before.
#[derive(Debug, thiserror::Error)]
#[error("it does not begin with the bytes it had when the build was interrupted")]
pub(crate) struct OtherBytes;

/// Reader that counts and digests the bytes consumed, without its read-ahead.
pub(crate) struct Metered<R> {
    inner: R,
    meter: Meter,
}

/// Buffered reader with a position and lookahead.
pub(crate) trait Lookahead: BufRead {
    /// Returns the offset of the next byte in the source.
    fn offset(&self) -> u64;

    /// Returns the next `count` bytes or more without consuming them; fewer at the end.
    fn peek(&mut self, count: usize) -> io::Result<&[u8]>;
}

struct Meter {
    consumed: Arc<AtomicU64>,
    /// Digest of the consumed bytes before `end`.
    digest: TreeDigest,
    end: u64,
    /// Prefix that a resumed source must have; `None` once it is verified.
    expected: Option<Prefix>,
    mismatch: bool,
}

impl<R> Metered<R> {
    /// Creates a reader of a whole source of unknown size.
    pub(crate) fn new(inner: R) -> Metered<R> {
        Metered::within(inner, 0..u64::MAX, 0)
    }

    /// Creates a reader of a source of `bytes` bytes, opened at `range.start`, where a granule of
    /// its digest begins. Bytes after the range are counted but not digested.
    pub(crate) fn of_part(inner: R, range: Range<u64>, bytes: u64) -> Metered<R> {
        Metered::within(inner, range, granule_level(bytes))
    }

    fn within(inner: R, range: Range<u64>, level: u32) -> Metered<R> {
        Metered {
            inner,
            meter: Meter {
                consumed: Arc::new(AtomicU64::new(range.start)),
                digest: TreeDigest::behind(range.start, level),
                end: range.end,
                expected: None,
                mismatch: false,
            },
        }
    }

    /// Sets the expected prefix; reading fails with [`OtherBytes`] where the source differs.
    pub(crate) fn expect(&mut self, prefix: Prefix) {
        self.meter.expected = Some(prefix);
    }

    /// Returns whether the expected prefix is not yet verified, or differs.
    pub(crate) fn misses_expected(&self) -> bool {
        self.meter.expected.is_some()
    }

    /// Returns the length and digest of the bytes consumed.
    pub(crate) fn prefix(&self) -> Prefix {
        self.meter.prefix()
    }

    /// Returns the granule digests of the range so far, which can be joined with others.
    pub(crate) fn granules(&self) -> Vec<DigestNode> {
        self.meter.digest.granules()
    }

    /// Returns the shared count of consumed bytes, for other threads to watch.
    pub(crate) fn counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.meter.consumed)
    }
}

impl Meter {
    fn bytes(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }

    fn prefix(&self) -> Prefix {
        Prefix {
            bytes: self.bytes(),
            digest: self.digest.root(),
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        let within = self
            .end
            .saturating_sub(self.bytes())
            .min(bytes.len() as u64);
        self.digest.update(&bytes[..within as usize]);
        self.consumed
            .fetch_add(bytes.len() as u64, Ordering::Relaxed);
    }

    fn take(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        if let Some(expected) = &self.expected {
            let missing = expected.bytes.saturating_sub(self.bytes()) as usize;
            if let Some((head, tail)) = rest.split_at_checked(missing) {
                let expected = expected.clone();
                self.add(head);
                rest = tail;
                self.mismatch = self.prefix() != expected;
                if !self.mismatch {
                    self.expected = None;
                }
            }
        }
        self.add(rest);
    }

    fn check(&self) -> io::Result<()> {
        if self.mismatch {
            return Err(io::Error::other(OtherBytes));
        }
        Ok(())
    }
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.meter.take(&buffer[..count]);
        self.meter.check()?;
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Metered<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.meter.check()?;
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        // `fill_buf` would refill an empty buffer here, and lose an error.
        if amount == 0 {
            return;
        }
        // `fill_buf` returns a non-empty buffer again without reading.
        if let Ok(buffer) = self.inner.fill_buf() {
            self.meter.take(&buffer[..amount]);
        }
        self.inner.consume(amount);
    }
}

impl<R: Read> Lookahead for Metered<Ahead<R>> {
    fn offset(&self) -> u64 {
        self.meter.bytes()
    }

    fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        self.meter.check()?;
        self.inner.peek(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(expected: Option<Prefix>, bytes: &[u8]) -> (io::Result<u64>, Metered<&[u8]>) {
        let mut reader = Metered::new(bytes);
        if let Some(prefix) = expected {
            reader.expect(prefix);
        }
        let mut read = 0;
        // Alternate between `consume` and `read`.
        loop {
            let amount = match reader.fill_buf() {
                Ok(buffer) => buffer.len().min(2),
                Err(error) => return (Err(error), reader),
            };
            reader.consume(amount);
            match reader.read(&mut [0; 3]) {
                Ok(0) => return (Ok(read + amount as u64), reader),
                Ok(count) => read += (amount + count) as u64,
                Err(error) => return (Err(error), reader),
            }
        }
    }

    #[test]
    fn digests_consumed_bytes_only() {
        let (count, reader) = read(None, b"abc");
        assert_eq!(count.unwrap(), 3);
        // printf '\0abc' | sha256sum
        let abc = "609f6e36d2405585188d5cfd761f407c7cc46a7d3f314c88270469dde315fcd1";
        assert_eq!(reader.prefix().digest, abc);
        assert_eq!(reader.prefix().bytes, 3);
    }

    #[test]
    fn detects_an_unexpected_prefix() {
        let text = b"the same beginning, and more";
        for bytes in 0..=text.len() {
            let prefix = read(None, &text[..bytes]).1.prefix();
            let (count, reader) = read(Some(prefix.clone()), text);
            assert_eq!(count.unwrap(), text.len() as u64);
            assert!(!reader.misses_expected());
            let mut other = *text;
            other[bytes / 2] ^= 1;
            let (count, reader) = read(Some(prefix), &other);
            assert_eq!(
                count.is_err() && reader.misses_expected(),
                bytes > bytes / 2
            );
        }
        let prefix = read(None, text).1.prefix();
        let (count, reader) = read(Some(prefix), &text[..9]);
        assert!(count.is_ok() && reader.misses_expected());
    }
}
