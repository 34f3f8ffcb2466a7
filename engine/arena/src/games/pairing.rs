//! Who meets whom, and where they begin.

use cozy_chess::Board;

/// Options by name, and their values.
pub type OptionValues = Vec<(String, String)>;

/// Two games on one opening, the first engine with White in the first.
#[derive(Clone, Copy)]
pub struct Pairing<'a> {
    /// Its place in the schedule.
    pub number: usize,
    /// The engines by their place in the tournament.
    pub engines: [usize; 2],
    /// Where both games begin.
    pub opening: &'a Board,
    /// What each engine's options are set to before a game; nothing where all stay as
    /// they were when it started.
    pub options: [&'a [(String, String)]; 2],
}
