//! Counts and digests the bytes of a source as they are consumed.

use std::io::{self, BufRead, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::input::ahead::Ahead;
use crate::input::digest::{Node, TreeDigest, granule_level};

/// What was read of a source, or of a part of it: up to which byte, and the digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Prefix {
    pub(crate) bytes: u64,
    /// Hexadecimal.
    pub(crate) digest: String,
}

/// A source that is resumed does not begin with the bytes it had before.
#[derive(Debug, thiserror::Error)]
#[error("it does not begin with the bytes it had when the build was interrupted")]
pub(crate) struct OtherBytes;

/// A reader that counts and digests what is consumed of it: not what it has
/// read ahead, so that a digest can be had at an exact place.
pub(crate) struct Metered<R> {
    inner: R,
    meter: Meter,
}

/// A reader that knows where it is, and can look ahead.
pub(crate) trait Lookahead: BufRead {
    /// Bytes of the source before what comes.
    fn offset(&self) -> u64;

    /// What comes: so many bytes or more, or less where that is all.
    fn peek(&mut self, count: usize) -> io::Result<&[u8]>;
}

struct Meter {
    consumed: Arc<AtomicU64>,
    /// Of what lies before `end`.
    digest: TreeDigest,
    end: u64,
    /// What the source must begin with, until that has been seen.
    expected: Option<Prefix>,
    mismatch: bool,
}

impl<R> Metered<R> {
    /// Reader of a whole source of unknown size.
    pub(crate) fn new(inner: R) -> Metered<R> {
        Metered::within(inner, 0..u64::MAX, 0)
    }

    /// A reader of a part of a source of so many bytes, from byte `range.start` on, where
    /// a granule of its digest begins. What lies behind the range is not digested.
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

    /// From now on reading fails with [`OtherBytes`] where the source turns
    /// out to begin with other bytes than these.
    pub(crate) fn expect(&mut self, prefix: Prefix) {
        self.meter.expected = Some(prefix);
    }

    /// Whether bytes that were expected have not come, or were others.
    pub(crate) fn misses_expected(&self) -> bool {
        self.meter.expected.is_some()
    }

    /// What was consumed so far.
    pub(crate) fn prefix(&self) -> Prefix {
        self.meter.prefix()
    }

    /// The digests of the granules consumed of the range, to be joined with others.
    pub(crate) fn granules(&self) -> Vec<Node> {
        self.meter.digest.granules()
    }

    /// The count of bytes consumed, to watch from another thread.
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
        // An empty buffer would be filled here, and a failure of that lost.
        if amount == 0 {
            return;
        }
        // A buffer that is not empty is given again without a read.
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
        // Half by buffer, half by reads of three bytes.
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
    fn a_digest_is_of_what_was_consumed() {
        let (count, reader) = read(None, b"abc");
        assert_eq!(count.unwrap(), 3);
        // printf '\0abc' | sha256sum
        let abc = "609f6e36d2405585188d5cfd761f407c7cc46a7d3f314c88270469dde315fcd1";
        assert_eq!(reader.prefix().digest, abc);
        assert_eq!(reader.prefix().bytes, 3);
    }

    #[test]
    fn other_bytes_than_expected_are_told() {
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
