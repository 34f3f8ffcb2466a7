//! Control of a search across threads.

use std::sync::atomic::AtomicBool;

/// Flags by which the session controls a queued or running search.
pub(super) struct Control {
    /// Ends the search.
    pub(super) stop: AtomicBool,
    /// Whether it ponders: the opponent has not moved yet.
    pub(super) pondering: AtomicBool,
    /// Whether its `bestmove` is known.
    pub(super) done: AtomicBool,
    /// Whether it ends by itself, so that later searches of a script may wait for it.
    pub(super) bounded: bool,
}
