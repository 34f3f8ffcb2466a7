//! Game identity, and the train and validation split by it.

use std::num::NonZeroUsize;

use crate::hash::{hash_bytes, mix};

/// Set that the positions of a game belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Split {
    /// Positions to train on.
    Train,
    /// Positions of held-out games.
    Validation,
}

/// Identity of a game: the hash of its Lichess id, else of its seven-tag roster and moves. Copies
/// of a game share an identity, so that a game never stands on both sides of the split. A bare
/// position is identified by its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GameId(u64);

impl GameId {
    /// Returns the identity for a Lichess id, or for a roster and moves.
    pub(crate) fn of_bytes(bytes: &[u8]) -> GameId {
        GameId(hash_bytes(bytes))
    }

    /// Returns the identity of a bare position, which counts as a game: the key of its
    /// [`Keyed`](crate::position::Keyed) record.
    pub fn of_position(key: u64) -> GameId {
        GameId(key)
    }

    /// Returns the side of the split, by the identity alone.
    pub fn split(self, validation_percent: u8) -> Split {
        if self.0 % 100 < u64::from(validation_percent) {
            Split::Validation
        } else {
            Split::Train
        }
    }

    /// Returns a hash of the identity whose bits are independent of the split.
    pub(crate) fn hash(self) -> u64 {
        mix(self.0)
    }

    /// Returns the index at which sampling one in `every` positions starts. A fixed start with an
    /// even step would sample one side's moves only. Uses other bits than the split.
    pub(crate) fn sampling_start(self, every: NonZeroUsize) -> usize {
        (self.0 >> 32) as usize % every
    }
}
