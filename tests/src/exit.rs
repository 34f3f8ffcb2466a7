//! Exit codes of the programs, as `docs/exit-codes.md` lists them.

/// Wrong usage.
pub const USAGE: i32 = 2;
/// A file is missing or unreadable, or a connection was lost.
pub const MISSING: i32 = 3;
/// Damaged, empty or foreign input.
pub const DAMAGED: i32 = 4;
/// A dataset or an output is refused.
pub const REFUSED: i32 = 5;
/// A net is refused.
pub const NET_REFUSED: i32 = 6;
/// An output cannot be written.
pub const CANNOT_WRITE: i32 = 7;
/// A device is missing or failed.
pub const NO_DEVICE: i32 = 8;
/// Training diverged.
pub const DIVERGED: i32 = 9;
