//! Key ranges: the units of merging and of fingerprints.

use std::ops::Range;

use records::position::{Keyed, Row};
use sha2::{Digest, Sha256};

use crate::source::{DigestTree, LEAF, PartOf};

/// Number of key ranges, which are merged independently. A range is the first bits of a key.
pub(crate) const RANGES: usize = 1 << RANGE_BITS;
const RANGE_BITS: u32 = 12;

/// Returns the range of a key.
pub(crate) fn range_of(key: u64) -> usize {
    (key >> (u64::BITS - RANGE_BITS)) as usize
}

/// Returns the ranges of one shard of a merge.
pub(crate) fn of_shard(part: PartOf) -> Range<usize> {
    let cut = |part: u32, of: u32| (RANGES as u64 * u64::from(part) / u64::from(of)) as usize;
    cut(part.index() - 1, part.of())..cut(part.index(), part.of())
}

/// Incremental digest of a set over some ranges; each range is a leaf of the tree.
pub(crate) struct RangesDigest {
    ranges: Range<usize>,
    tree: DigestTree,
    /// Hash of the current, incomplete range: the first of `ranges`.
    leaf: Sha256,
}

impl RangesDigest {
    /// Creates a digest at the first of `ranges`.
    pub(crate) fn over(ranges: Range<usize>) -> RangesDigest {
        RangesDigest {
            tree: DigestTree::behind(ranges.start as u64),
            ranges,
            leaf: Sha256::new_with_prefix(LEAF),
        }
    }

    /// Appends records, which must come in key order.
    pub(crate) fn update<R: Row>(&mut self, mut records: &[R]) {
        let range = |record: &R| range_of(Keyed::new(*record).key);
        while let Some(first) = records.first().map(range) {
            self.end_before(first);
            let (now, rest) = records.split_at(records.partition_point(|r| range(r) == first));
            self.leaf.update(R::bytes_of(now));
            records = rest;
        }
    }

    /// Completes every range before `range`.
    fn end_before(&mut self, range: usize) {
        while self.ranges.start < range {
            let leaf = std::mem::replace(&mut self.leaf, Sha256::new_with_prefix(LEAF));
            self.tree.push_leaf(leaf);
            self.ranges.start += 1;
        }
    }

    /// Completes all ranges and returns the tree.
    pub(crate) fn into_tree(mut self) -> DigestTree {
        self.end_before(self.ranges.end);
        self.tree
    }
}
