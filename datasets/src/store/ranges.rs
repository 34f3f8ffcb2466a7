//! Ranges of keys.

/// Keys are told apart by their first bits into so many ranges, which are
/// merged on their own.
pub(crate) const RANGES: usize = 1 << RANGE_BITS;
const RANGE_BITS: u32 = 12;

/// The range that a key lies in.
pub(crate) fn range_of(key: u64) -> usize {
    (key >> (u64::BITS - RANGE_BITS)) as usize
}
