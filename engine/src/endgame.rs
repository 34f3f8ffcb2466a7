//! Endgame tables: how the search asks them, and Syzygy's files.

#[cfg(feature = "syzygy")]
mod syzygy;
pub(crate) mod tablebase;
#[cfg(feature = "syzygy")]
mod to_shakmaty;

#[cfg(feature = "syzygy")]
pub use syzygy::{Syzygy, TablesError};
pub use tablebase::{Tablebase, Wdl};
#[cfg(feature = "syzygy")]
pub use to_shakmaty::{from_shakmaty, to_shakmaty};
