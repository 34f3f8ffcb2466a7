//! Endgame tablebases: the search's probing interface, and Syzygy tables.

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
