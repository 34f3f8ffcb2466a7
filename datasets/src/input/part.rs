//! Which part of a source is read.

use std::fmt;
use std::num::NonZero;
use std::ops::{Range, RangeInclusive};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::input::digest::{LEAF_BYTES, Node, granule_bytes, granules_of, has_granules, joined};

/// One of several parts that each source is cut into, as `2/7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PartOf {
    /// Counted from 1.
    index: u32,
    of: u32,
}

/// What is no [`PartOf`].
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
    /// The first of so many.
    pub fn first_of(of: NonZero<u32>) -> PartOf {
        PartOf {
            index: 1,
            of: of.get(),
        }
    }

    /// Which of them, counted from 1.
    pub fn index(self) -> u32 {
        self.index
    }

    /// How many parts there are.
    pub fn of(self) -> u32 {
        self.of
    }

    /// Every one of the parts that this is one of.
    pub fn all(self) -> impl Iterator<Item = PartOf> {
        (1..=self.of).map(move |index| PartOf { index, ..self })
    }

    /// Whether some of these keys lie in the part of all keys.
    pub(crate) fn has_some(self, keys: &RangeInclusive<u64>) -> bool {
        let part = |key: u64| (u128::from(key) * u128::from(self.of)) >> u64::BITS;
        (part(*keys.start())..=part(*keys.end())).contains(&(u128::from(self.index) - 1))
    }

    /// The bytes of the part, in a source of so many. Parts are cut where a granule of
    /// the source's digest begins; of a small source some may be empty.
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

/// Why parts that lie side by side are not of one source.
pub(crate) const CHANGED: &str = "the source has changed between them";

/// What was read of a source of which a part was to be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartRead {
    /// The bytes of the part.
    pub range: Range<u64>,
    /// Where the frames or the text begin that belong to it, and where those of the
    /// next part begin; `None` if none begin in its range.
    pub frames: Option<Range<u64>>,
    /// The digests of the granules of the range, to be joined with those of the other
    /// parts.
    pub(super) nodes: Vec<Node>,
}

impl PartRead {
    /// What is said of a part that is empty, if it is.
    pub fn emptiness(&self) -> Option<&'static str> {
        self.frames.is_none().then_some(
            "no frame with a size header begins in this part, which is empty: the part before \
             has all of it (`pzstd` makes frames that can be read apart)",
        )
    }

    /// Where the frames of this part end, if they begin where those of the parts before
    /// end; an empty part lies inside a frame of one of them.
    pub(crate) fn frames_end(&self, before: u64) -> Option<u64> {
        match &self.frames {
            Some(frames) => (frames.start == before).then_some(frames.end),
            None => (before >= self.range.end).then_some(before),
        }
    }

    /// Returns whether the part lies there and has these granules.
    pub(crate) fn is_of(&self, range: &Range<u64>, granules: &[Node]) -> bool {
        self.range == *range && self.nodes == granules
    }

    /// Returns whether a source with these granules has the bytes of the part.
    pub(crate) fn is_within(&self, source: &[Node]) -> bool {
        has_granules(source, &self.nodes, self.range.start)
    }

    /// Why a part does not fit to the parts before it.
    pub(crate) fn misfit(&self) -> String {
        format!(
            "what was read of bytes {}-{} does not begin where the part before ends; \
             read the source whole",
            self.range.start, self.range.end
        )
    }

    /// The digest of a source of so many bytes, from what was read of its parts, which
    /// come in their order; `None` while some are missing.
    ///
    /// # Errors
    /// Why they do not fit together.
    pub fn whole<'a>(
        parts: impl Iterator<Item = &'a PartRead> + Clone,
        bytes: u64,
    ) -> Result<Option<String>, String> {
        // A small source may have empty parts, which may be missing.
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
        // Each must have begun where the one before has ended.
        let mut end = 0;
        for part in parts.clone() {
            end = part.frames_end(end).ok_or_else(|| part.misfit())?;
        }
        if end != bytes {
            return Err(CHANGED.to_string());
        }
        PartRead::join(parts, bytes).map(|(digest, _)| Some(digest))
    }

    /// The digest of a source of so many bytes, and those of its granules, of all its
    /// parts, which come in their order and fit. There are no granules where a version
    /// that did not know them has noted a part.
    ///
    /// # Errors
    /// If the source has changed between them.
    pub(crate) fn join<'a>(
        parts: impl Iterator<Item = &'a PartRead> + Clone,
        bytes: u64,
    ) -> Result<(String, Vec<Node>), String> {
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
    fn a_part_is_told_by_two_numbers() {
        assert_eq!("2/7".parse::<PartOf>().unwrap().to_string(), "2/7");
        for text in ["", "2", "0/7", "8/7", "1/0", "-1/2", "1/2/3", "a/b"] {
            assert!(text.parse::<PartOf>().is_err(), "{text}");
        }
    }
}
