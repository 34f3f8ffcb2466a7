//! Pairings of a tournament.

use cozy_chess::Board;

/// UCI options by name, with their values.
pub type OptionValues = Vec<(String, String)>;

/// Two games on one opening; the first engine has White in the first.
#[derive(Clone, Copy)]
pub struct Pairing<'a> {
    /// Index in the schedule.
    pub number: usize,
    /// Indices of the engines in the tournament.
    pub engines: [usize; 2],
    /// Opening of both games.
    pub opening: &'a Board,
    /// Options to set for each engine before a game; empty if they never change.
    pub options: [&'a [(String, String)]; 2],
}
