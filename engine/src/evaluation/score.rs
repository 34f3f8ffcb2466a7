//! Scores: centipawns from the side to move's point of view, with bands for tablebase results and
//! mates.

use std::fmt;
use std::ops::{Add, Neg, Sub};

/// Maximum ply of a line, counted from the root, and maximum distance to mate.
pub(crate) const MAX_PLY: usize = 128;

/// A score in centipawns from the side to move's point of view.
///
/// Mates are counted from the root of the search: `MATE - n` mates in `n` plies, `n - MATE` is
/// mated in `n` plies. Tablebase wins and losses lie in a band below, counted likewise. Evaluations
/// stay within [`Score::EVALUATION_LIMIT`], far from both bands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(i16);

impl Score {
    /// A draw.
    pub const DRAW: Score = Score(0);
    /// The greatest magnitude of an evaluation, in centipawns.
    pub const EVALUATION_LIMIT: i32 = 20_000;
    const MATE: i16 = 32_000;
    const TABLEBASE_WIN: i16 = 25_000;
    pub(crate) const INFINITE: Score = Score(Self::MATE + 1);

    /// Returns an evaluation, clamped to [`Score::EVALUATION_LIMIT`].
    pub fn from_centipawns(centipawns: i32) -> Score {
        let clamped = centipawns.clamp(-Self::EVALUATION_LIMIT, Self::EVALUATION_LIMIT);
        Score(clamped as i16)
    }

    /// Returns the score of the side to move that mates `plies` plies from the root.
    pub fn mate_in(plies: usize) -> Score {
        -Score::mated_in(plies)
    }

    /// Returns the score of the side to move that is mated `plies` plies from the root.
    pub fn mated_in(plies: usize) -> Score {
        Score(plies.min(MAX_PLY) as i16 - Self::MATE)
    }

    /// Returns the score of the side to move's tablebase win, probed `ply` plies from the root.
    pub(crate) fn tablebase_win(ply: usize) -> Score {
        Score(Self::TABLEBASE_WIN - ply.min(MAX_PLY) as i16)
    }

    /// Returns whether a mate or a tablebase decides the game, for either side.
    pub(crate) fn is_decided(self) -> bool {
        i32::from(self.0).abs() > Self::EVALUATION_LIMIT
    }

    /// Returns whether the side to move wins by a mate or a tablebase.
    pub fn is_win(self) -> bool {
        i32::from(self.0) > Self::EVALUATION_LIMIT
    }

    /// Returns whether the side to move loses by a mate or a tablebase.
    pub fn is_loss(self) -> bool {
        (-self).is_win()
    }

    /// Returns the mean of two scores.
    pub(crate) fn between(one: Score, other: Score) -> Score {
        Score(((i32::from(one.0) + i32::from(other.0)) / 2) as i16)
    }

    /// Returns the raw value; in centipawns if [`Score::plies_to_mate`] is `None`.
    pub fn centipawns(self) -> i32 {
        i32::from(self.0)
    }

    /// Returns the plies from the root to the mate, by either side; `None` unless a mate.
    pub fn plies_to_mate(self) -> Option<usize> {
        let plies = usize::from((Self::MATE - self.0.abs()).unsigned_abs());
        (plies <= MAX_PLY).then_some(plies)
    }

    /// Returns the moves from the root to the mate, as UCI counts them: negative if the side to
    /// move is mated; `None` unless a mate.
    pub fn moves_to_mate(self) -> Option<i32> {
        let moves = self.plies_to_mate()?.div_ceil(2) as i32;
        Some(self.centipawns().signum() * moves)
    }

    /// Returns the next greater score, the upper end of a null window.
    pub(crate) fn next(self) -> Score {
        Score(self.0 + 1)
    }

    /// Returns the score as the transposition table stores it: mates and tablebase results counted
    /// from the node at `ply`, since a transposition may reach it at another ply.
    pub(crate) fn relative_to_node(self, ply: usize) -> i16 {
        self.0 + self.decided_sign() * ply as i16
    }

    /// Restores the root-relative score; inverse of [`Score::relative_to_node`].
    pub(crate) fn relative_to_root(stored: i16, ply: usize) -> Score {
        Score(stored - Score(stored).decided_sign() * ply as i16)
    }

    /// Returns the raw bits, for [`Score::from_bits`].
    pub(crate) fn to_bits(self) -> i16 {
        self.0
    }

    /// Restores a score from [`Score::to_bits`].
    pub(crate) fn from_bits(bits: i16) -> Score {
        Score(bits)
    }

    /// Returns 1 for a decided win of the side to move, -1 for a decided loss, else 0.
    fn decided_sign(self) -> i16 {
        i16::from(self.is_win()) - i16::from(self.is_loss())
    }
}

/// Adds a margin in centipawns, saturating at the infinite scores.
impl Add<i32> for Score {
    type Output = Score;

    fn add(self, centipawns: i32) -> Score {
        let infinite = i32::from(Self::INFINITE.0);
        Score((i32::from(self.0) + centipawns).clamp(-infinite, infinite) as i16)
    }
}

/// Subtracts a margin in centipawns.
impl Sub<i32> for Score {
    type Output = Score;

    fn sub(self, centipawns: i32) -> Score {
        self + -centipawns
    }
}

impl Neg for Score {
    type Output = Score;

    fn neg(self) -> Score {
        Score(-self.0)
    }
}

/// Writes the score in UCI notation: `cp 35`, `mate 3`, `mate -2` (moves, not plies).
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
