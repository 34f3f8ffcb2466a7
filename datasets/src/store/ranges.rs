//! Ranges of keys.

use std::ops::Range;

use records::position::{Keyed, Record};
use sha2::{Digest, Sha256};

use crate::input::{LEAF, PartOf, Tree};

/// Keys are told apart by their first bits into so many ranges, which are
/// merged on their own.
pub(crate) const RANGES: usize = 1 << RANGE_BITS;
const RANGE_BITS: u32 = 12;

/// The range that a key lies in.
pub(crate) fn range_of(key: u64) -> usize {
    (key >> (u64::BITS - RANGE_BITS)) as usize
}

/// The ranges that a shard of a merge has.
pub(crate) fn of_shard(part: PartOf) -> Range<usize> {
    let cut = |part: u32, of: u32| (RANGES as u64 * u64::from(part) / u64::from(of)) as usize;
    cut(part.index() - 1, part.of())..cut(part.index(), part.of())
}

/// The digest of a set over some ranges, each of which is a leaf of the tree.
pub(crate) struct RangesDigest {
    ranges: Range<usize>,
    tree: Tree,
    /// The first of the ranges, which is not whole yet.
    leaf: Sha256,
}

impl RangesDigest {
    /// Begins with the first of the ranges.
    pub(crate) fn over(ranges: Range<usize>) -> RangesDigest {
        RangesDigest {
            tree: Tree::behind(ranges.start as u64),
            ranges,
            leaf: Sha256::new_with_prefix(LEAF),
        }
    }

    /// Adds records, which come in the order of their keys.
    pub(crate) fn update(&mut self, mut records: &[Record]) {
        let range = |record: &Record| range_of(Keyed::new(*record).key);
        while let Some(first) = records.first().map(range) {
            self.end_before(first);
            let (now, rest) = records.split_at(records.partition_point(|r| range(r) == first));
            self.leaf.update(Record::bytes_of(now));
            records = rest;
        }
    }

    /// Ends every range before this one.
    fn end_before(&mut self, range: usize) {
        while self.ranges.start < range {
            let leaf = std::mem::replace(&mut self.leaf, Sha256::new_with_prefix(LEAF));
            self.tree.push_leaf(leaf);
            self.ranges.start += 1;
        }
    }

    /// The tree over all of the ranges.
    pub(crate) fn into_tree(mut self) -> Tree {
        self.end_before(self.ranges.end);
        self.tree
    }
}
