//! A search request to a player.

use std::sync::atomic::AtomicBool;

use engine::Position;

use crate::players::pace::Allowance;

/// A position to search, with its limits.
pub struct Question<'a> {
    pub position: &'a Position,
    pub allowance: Allowance,
    /// Whether castling is written as king takes rook.
    pub chess960: bool,
    /// Cancels the search when set.
    pub stop: &'a AtomicBool,
}
