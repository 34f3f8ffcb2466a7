//! Records on their way to the network: a dataset is read in batches, ahead of
//! the device, and a record's inputs, label and material are read off it as the
//! side to move sees them (the crate `inputs`). `filter` leaves positions out.

pub mod filter;
pub mod reader;

/// What is read off a record.
pub use inputs as position;
