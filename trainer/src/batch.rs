//! Batches: reads a dataset in batches ahead of the device; `filter` drops positions.

pub mod filter;
pub mod reader;
