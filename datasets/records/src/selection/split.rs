//! Which games are held out, and who a game is.

use std::num::NonZeroUsize;

use crate::hash::hash_bytes;

/// Which of the two sets a game's positions belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Split {
    /// Positions to train on.
    Train,
    /// Positions of held-out games.
    Validation,
}

/// Who a game is: the hash of its Lichess id, else of its seven-tag roster and
/// moves. Two copies of one game have one identity, so that a game never
/// stands on both sides of the split. A bare position is known by its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GameId(u64);

impl GameId {
    /// The game that these bytes tell: its Lichess id, or its roster and moves.
    pub(crate) fn of_bytes(bytes: &[u8]) -> GameId {
        GameId(hash_bytes(bytes))
    }

    /// A position of no known game counts as a game of its own, and the key of
    /// its [`Keyed`](crate::position::Keyed) record is who it is.
    pub fn of_position(key: u64) -> GameId {
        GameId(key)
    }

    /// The side of the split that the game falls on, by its identity alone.
    pub fn split(self, validation_percent: u8) -> Split {
        if self.0 % 100 < u64::from(validation_percent) {
            Split::Validation
        } else {
            Split::Train
        }
    }

    /// Where sampling one in `every` positions of the game starts. Were it the
    /// same in every game, an even step would take one side's moves only. The
    /// bits that it reads are not those that decide the split.
    pub(crate) fn sampling_start(self, every: NonZeroUsize) -> usize {
        (self.0 >> 32) as usize % every
    }
}
