//! Input pipeline: reads a dataset in batches ahead of the device. Crate `inputs` derives a
//! record's inputs, label and material from the side to move's view; `filter` drops positions.

pub mod filter;
pub mod reader;

/// Features, label, result and material of a record.
pub use inputs as position;
