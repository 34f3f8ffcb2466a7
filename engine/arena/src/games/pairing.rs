//! Who meets whom, and where they begin.

use cozy_chess::Board;

/// Two games on one opening, the first engine with White in the first.
#[derive(Clone, Copy)]
pub struct Pairing<'a> {
    /// Its place in the schedule.
    pub number: usize,
    /// The engines by their place in the tournament.
    pub engines: [usize; 2],
    /// Where both games begin.
    pub opening: &'a Board,
}
