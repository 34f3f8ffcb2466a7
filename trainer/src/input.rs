//! Records on their way to the network: a dataset is read in batches, ahead of
//! the device, and a record's inputs, label and material are read off it as the
//! side to move sees them (the crate `inputs`). `filter` leaves positions out, `lists` has the inputs of each
//! view, `host_lists` the same as GPUs take them, `playouts` makes positions where there is
//! no dataset.

pub mod batch;
pub mod filter;
#[cfg(feature = "kernels")]
pub mod host_lists;
pub mod lists;
pub mod playouts;
pub mod reader;

/// What is read off a record.
pub use inputs as position;
