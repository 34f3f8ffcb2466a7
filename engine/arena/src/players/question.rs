//! What an engine is asked.

use std::sync::atomic::AtomicBool;

use engine::Position;

use crate::players::pace::Allowance;

/// A position, and what may be spent on it.
pub struct Question<'a> {
    /// Where it is to move.
    pub position: &'a Position,
    /// What it is given for the move.
    pub allowance: Allowance,
    /// Whether castling is written as king takes rook.
    pub chess960: bool,
    /// Set when nobody waits for answers any more.
    pub stop: &'a AtomicBool,
}
