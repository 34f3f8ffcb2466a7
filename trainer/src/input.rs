//! Records on their way to the network: a dataset is read in batches, ahead of
//! the device, and a record's inputs, label and material are read off it as the
//! side to move sees them (the crate `inputs`). `filter` leaves positions out, `lists` has the inputs of each
//! view, `playouts` makes positions where there is no dataset.

pub mod filter;
pub mod lists;
pub mod playouts;
pub mod reader;

/// What is read off a record.
pub use inputs as position;
