//! Parts of a source, read on different machines and joined by their digests.

use std::fmt;
use std::num::NonZero;
use std::ops::{Range, RangeInclusive};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::source::digest::{
    DigestNode, LEAF_BYTES, granule_bytes, granules_of, has_granules, joined,
};

/// Part `index` of `of` equal parts of a source, written as `2/7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PartOf {
    /// From 1 to `of`.
    index: u32,
    of: u32,
}

/// Parse error of [`PartOf`].
#[derive(Debug, Error)]
#[error("give I/N, the I-th of N parts, as in 2/7")]
pub struct NoPart;

impl FromStr for PartOf {
    type Err = NoPart;

    fn from_str(text: &str) -> Result<PartOf, NoPart> {
        let (index, of) = text.split_once('/').ok_or(NoPart)?;
        let number = |text: &str| text.parse().map_err(|_| NoPart);
        let (index, of) = (number(index)?, number(of)?);
        match 1 <= index && index <= of {
            true => Ok(PartOf { index, of }),
            false => Err(NoPart),
        }
    }
}

impl fmt::Display for PartOf {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl PartOf {
    /// Returns the first of `of` parts.
    pub fn first_of(of: NonZero<u32>) -> PartOf {
        PartOf {
            index: 1,
            of: of.get(),
        }
    }

    /// Number of the part, from 1.
    pub fn index(self) -> u32 {
        self.index
    }

    /// Number of parts.
    pub fn of(self) -> u32 {
        self.of
    }

    /// Returns all parts of the same division.
    pub fn all(self) -> impl Iterator<Item = PartOf> {
        (1..=self.of).map(move |index| PartOf { index, ..self })
    }

    /// Returns whether any key of the range lies in this part of the key space.
    pub(crate) fn has_some(self, keys: &RangeInclusive<u64>) -> bool {
        let part = |key: u64| (u128::from(key) * u128::from(self.of)) >> u64::BITS;
        (part(*keys.start())..=part(*keys.end())).contains(&(u128::from(self.index) - 1))
    }

    /// Returns the byte range of the part in a source of `bytes` bytes. Parts begin at granules of
    /// the source's digest; parts of a small source may be empty.
    pub fn range(self, bytes: u64) -> Range<u64> {
        let granule = granule_bytes(bytes);
        let granules = u128::from(bytes.div_ceil(granule));
        let cut = |part: u32| {
            let before = granules * u128::from(part) / u128::from(self.of);
            (before as u64 * granule).min(bytes)
        };
        cut(self.index - 1)..cut(self.index)
    }
}

/// Reason why adjacent parts are not of one source.
pub(crate) const CHANGED: &str = "the source has changed between them";

/// Result of reading one part of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartRead {
    /// Byte range of the part.
    pub range: Range<u64>,
    /// Bytes from the first frame (or text) that begins in the range to the first that begins in
    /// the next part; `None` if none begins in the range.
    pub frames: Option<Range<u64>>,
    /// Granule digests of the range, to be joined with those of the other parts.
    pub(super) nodes: Vec<DigestNode>,
}

impl PartRead {
    /// Returns a message if the part is empty.
    pub fn emptiness(&self) -> Option<&'static str> {
        self.frames.is_none().then_some(
            "no frame with a size header begins in this part, so it is empty: the part before \
             has its data (`pzstd` writes frames that can be split)",
        )
    }

    /// Returns the end of the part's frames if they begin at `before`, the end of the previous
    /// part's frames. An empty part, inside an earlier part's frame, returns `before`.
    pub(crate) fn frames_end(&self, before: u64) -> Option<u64> {
        match &self.frames {
            Some(frames) => (frames.start == before).then_some(frames.end),
            None => (before >= self.range.end).then_some(before),
        }
    }

    /// Returns whether the part has this range and these granules.
    pub(crate) fn is_of(&self, range: &Range<u64>, granules: &[DigestNode]) -> bool {
        self.range == *range && self.nodes == granules
    }

    /// Returns whether a source with these granules contains the bytes of the part.
    pub(crate) fn is_within(&self, source: &[DigestNode]) -> bool {
        has_granules(source, &self.nodes, self.range.start)
    }

    /// Returns a message that the part does not follow the parts before it.
    pub(crate) fn misfit(&self) -> String {
        format!(
            "bytes {}-{} were not read from where the part before ends; \
             read the source whole",
            self.range.start, self.range.end
        )
    }

    /// Returns the digest of a source of `bytes` bytes from its parts in order; `None` while some
    /// are missing.
    ///
    /// # Errors
    /// The reason why the parts do not fit together.
    pub fn whole<'a>(
        parts: impl Iterator<Item = &'a PartRead> + Clone,
        bytes: u64,
    ) -> Result<Option<String>, String> {
        // Empty parts of a small source may be missing.
        let parts = parts.filter(|part| !part.range.is_empty());
        let mut covered = 0;
        for part in parts.clone() {
            if part.range.start != covered {
                return Ok(None);
            }
            covered = part.range.end;
        }
        if covered != bytes {
            return Ok(None);
        }
        // Each part's frames must begin where those of the previous part end.
        let mut end = 0;
        for part in parts.clone() {
            end = part.frames_end(end).ok_or_else(|| part.misfit())?;
        }
        if end != bytes {
            return Err(CHANGED.to_string());
        }
        PartRead::join(parts, bytes).map(|(digest, _)| Some(digest))
    }

    /// Returns the digest of a source of `bytes` bytes and its granules, from all its parts in
    /// order. The granules are empty if an early version recorded a part without them.
    ///
    /// # Errors
    /// [`CHANGED`] if the source has changed between the parts.
    pub(crate) fn join<'a>(
        parts: impl Iterator<Item = &'a PartRead> + Clone,
        bytes: u64,
    ) -> Result<(String, Vec<DigestNode>), String> {
        let nodes = parts.flat_map(|part| &part.nodes);
        let digest = joined(nodes.clone(), bytes.div_ceil(LEAF_BYTES));
        let digest = digest.ok_or_else(|| CHANGED.to_string())?;
        Ok((digest, granules_of(nodes, bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_every_byte_once() {
        for bytes in [0, 1, LEAF_BYTES, LEAF_BYTES + 1, 481_119, 30_000_000_000] {
            for of in [1, 2, 3, 7, 100] {
                let ranges = (1..=of).map(|index| PartOf { index, of }.range(bytes));
                let mut end = 0;
                for range in ranges {
                    assert_eq!(range.start, end);
                    assert!(
                        range.start == bytes || range.start.is_multiple_of(granule_bytes(bytes))
                    );
                    end = range.end;
                }
                assert_eq!(end, bytes);
            }
        }
    }

    #[test]
    fn parses_parts() {
        assert_eq!("2/7".parse::<PartOf>().unwrap().to_string(), "2/7");
        for text in ["", "2", "0/7", "8/7", "1/0", "-1/2", "1/2/3", "a/b"] {
            assert!(text.parse::<PartOf>().is_err(), "{text}");
        }
    }
}
