//! Version of the dataset format.

/// Version of the on-disk format: record, keys, blocks and manifest. Others are refused.
pub const FORMAT_VERSION: u64 = 6;
