//! Scores: centipawns from the view of the side to move, with a band for mates.

use std::fmt;
use std::ops::Neg;

/// Plies that a line can reach from the root; also how far away a mate can be.
pub(crate) const MAX_PLY: usize = 128;

/// Centipawns from the view of the side to move.
///
/// Mates are counted from the root of the search: `MATE - n` mates in `n`
/// plies, `n - MATE` is mated in `n` plies. Evaluations stay within
/// [`Score::EVALUATION_LIMIT`], far from both bands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(i16);

impl Score {
    /// A draw.
    pub const DRAW: Score = Score(0);
    /// The greatest magnitude of an evaluation, in centipawns.
    pub const EVALUATION_LIMIT: i32 = 20_000;
    const MATE: i16 = 32_000;
    pub(crate) const INFINITE: Score = Score(Self::MATE + 1);

    /// An evaluation, clamped to [`Score::EVALUATION_LIMIT`].
    pub fn from_centipawns(centipawns: i32) -> Score {
        let clamped = centipawns.clamp(-Self::EVALUATION_LIMIT, Self::EVALUATION_LIMIT);
        Score(clamped as i16)
    }

    /// The side to move mates on the `plies`-th ply from the root.
    pub fn mate_in(plies: usize) -> Score {
        -Score::mated_in(plies)
    }

    /// The side to move is mated `plies` plies from the root.
    pub fn mated_in(plies: usize) -> Score {
        Score(plies.min(MAX_PLY) as i16 - Self::MATE)
    }

    /// The value as an integer; meaningful as centipawns where
    /// [`Score::plies_to_mate`] is `None`.
    pub fn centipawns(self) -> i32 {
        i32::from(self.0)
    }

    /// Plies from the root to the mate, whoever mates; `None` for an evaluation.
    pub fn plies_to_mate(self) -> Option<usize> {
        let plies = usize::from((Self::MATE - self.0.abs()).unsigned_abs());
        (plies <= MAX_PLY).then_some(plies)
    }

    /// The next greater score, the upper end of a null window.
    pub(crate) fn next(self) -> Score {
        Score(self.0 + 1)
    }

    /// As the transposition table keeps it: mates count from the node at `ply`,
    /// because a transposition may reach the node at another ply.
    pub(crate) fn relative_to_node(self, ply: usize) -> i16 {
        match self.plies_to_mate() {
            Some(_) if self.0 > 0 => self.0 + ply as i16,
            Some(_) => self.0 - ply as i16,
            None => self.0,
        }
    }

    /// The inverse of [`Score::relative_to_node`].
    pub(crate) fn relative_to_root(stored: i16, ply: usize) -> Score {
        match Score(stored).plies_to_mate() {
            Some(_) if stored > 0 => Score(stored - ply as i16),
            Some(_) => Score(stored + ply as i16),
            None => Score(stored),
        }
    }
}

impl Neg for Score {
    type Output = Score;

    fn neg(self) -> Score {
        Score(-self.0)
    }
}

/// As UCI writes it: `cp 35`, `mate 3`, `mate -2` (moves, not plies).
impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.plies_to_mate() {
            Some(plies) if self.0 > 0 => write!(f, "mate {}", plies.div_ceil(2)),
            Some(plies) => write!(f, "mate -{}", plies / 2),
            None => write!(f, "cp {}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mates_print_as_moves() {
        assert_eq!(Score::mate_in(1).to_string(), "mate 1");
        assert_eq!(Score::mate_in(5).to_string(), "mate 3");
        assert_eq!(Score::mated_in(0).to_string(), "mate -0");
        assert_eq!(Score::mated_in(4).to_string(), "mate -2");
        assert_eq!(Score::from_centipawns(-31).to_string(), "cp -31");
    }

    #[test]
    fn evaluations_never_look_like_mates() {
        for centipawns in [i32::MIN, -20_001, 20_001, i32::MAX] {
            assert_eq!(Score::from_centipawns(centipawns).plies_to_mate(), None);
        }
    }

    #[test]
    fn mate_distances_survive_the_table_at_another_ply() {
        let found_at_ply_4 = Score::mate_in(9);
        let stored = found_at_ply_4.relative_to_node(4);
        assert_eq!(Score::relative_to_root(stored, 4), found_at_ply_4);
        assert_eq!(Score::relative_to_root(stored, 6), Score::mate_in(11));
        let stored = Score::mated_in(9).relative_to_node(4);
        assert_eq!(Score::relative_to_root(stored, 2), Score::mated_in(7));
    }
}
