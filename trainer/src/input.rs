//! Records on their way to the network: a dataset is read in batches, ahead of
//! the device, and a record's inputs, label and material are read off it as the
//! side to move sees them. `filter` leaves positions
//! out, `lists` has them as GPUs take them, `playouts` makes positions where there is no
//! dataset.

pub mod batch;
pub mod filter;
#[cfg(feature = "kernels")]
pub mod lists;
pub mod playouts;
pub mod position;
pub mod reader;
