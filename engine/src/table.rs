//! The transposition table.

use cozy_chess::{Move, Piece, Square};
use thiserror::Error;

use crate::Score;

/// A table of this size could not be had.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("no memory for a transposition table of {mebibytes} MiB; keeping the present one")]
pub struct HashError {
    mebibytes: usize,
}

/// What a stored score says about the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    Exact,
    Lower,
    Upper,
}

/// One position's entry, 16 bytes.
#[derive(Clone, Copy)]
struct Entry {
    key: u64,
    /// Relative to the node, see [`Score::relative_to_node`].
    score: i16,
    mv: PackedMove,
    depth: u8,
    bound: Bound,
    /// The search that wrote it; 0 marks an empty entry.
    generation: u8,
}

const EMPTY: Entry = Entry {
    key: 0,
    score: 0,
    mv: PackedMove(0),
    depth: 0,
    bound: Bound::Exact,
    generation: 0,
};

/// What the table knows of a position, seen from the ply it is probed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) score: Score,
    pub(crate) mv: Option<Move>,
    pub(crate) depth: u32,
    pub(crate) bound: Bound,
}

/// Positions already searched, by their key. One entry a slot: an entry of an
/// earlier search gives way to any, one of the same search to one at least as
/// deep.
pub(crate) struct Table {
    entries: Vec<Entry>,
    generation: u8,
}

impl Table {
    pub(crate) fn new(mebibytes: usize) -> Result<Table, HashError> {
        let too_large = || HashError { mebibytes };
        let bytes = mebibytes.checked_mul(1 << 20).ok_or_else(too_large)?;
        let count = (bytes / size_of::<Entry>()).max(1);
        let mut entries = Vec::new();
        entries.try_reserve_exact(count).map_err(|_| too_large())?;
        entries.resize(count, EMPTY);
        Ok(Table {
            entries,
            generation: 1,
        })
    }

    pub(crate) fn clear(&mut self) {
        self.entries.fill(EMPTY);
        self.generation = 1;
    }

    /// A new search begins: what is stored becomes old.
    pub(crate) fn age(&mut self) {
        self.generation = self.generation.checked_add(1).unwrap_or(1);
    }

    pub(crate) fn probe(&self, key: u64, ply: usize) -> Option<Known> {
        let entry = &self.entries[self.slot(key)];
        (entry.key == key && entry.generation != 0).then(|| Known {
            score: Score::relative_to_root(entry.score, ply),
            mv: entry.mv.unpack(),
            depth: entry.depth.into(),
            bound: entry.bound,
        })
    }

    pub(crate) fn store(&mut self, key: u64, ply: usize, known: Known) {
        let slot = self.slot(key);
        let entry = &mut self.entries[slot];
        let depth = known.depth.min(u8::MAX.into()) as u8;
        if entry.generation == self.generation && entry.depth > depth {
            return;
        }
        // A bound from above names no move; the one known before still helps.
        let mv = match known.mv {
            None if entry.key == key => entry.mv,
            mv => PackedMove::pack(mv),
        };
        *entry = Entry {
            key,
            score: known.score.relative_to_node(ply),
            mv,
            depth,
            bound: known.bound,
            generation: self.generation,
        };
    }

    /// How full the table is of this search's entries, in thousandths.
    pub(crate) fn permille_full(&self) -> usize {
        let sample = &self.entries[..self.entries.len().min(1000)];
        let used = sample
            .iter()
            .filter(|entry| entry.generation == self.generation)
            .count();
        used * 1000 / sample.len()
    }

    /// Spreads keys evenly over any number of slots.
    fn slot(&self, key: u64) -> usize {
        ((u128::from(key) * self.entries.len() as u128) >> 64) as usize
    }
}

/// A move in 15 bits: from, to, and promotion (0 none, 1 knight to 4 queen).
/// All zero, a1 to a1, is no move.
#[derive(Clone, Copy)]
struct PackedMove(u16);

impl PackedMove {
    fn pack(mv: Option<Move>) -> PackedMove {
        let Some(mv) = mv else { return PackedMove(0) };
        let promotion = mv.promotion.map_or(0, |piece| piece as u16);
        PackedMove(mv.from as u16 | (mv.to as u16) << 6 | promotion << 12)
    }

    fn unpack(self) -> Option<Move> {
        let square = |bits: u16| Square::index(usize::from(bits & 63));
        (self.0 != 0).then(|| Move {
            from: square(self.0),
            to: square(self.0 >> 6),
            promotion: match self.0 >> 12 {
                0 => None,
                piece => Piece::try_index(piece.into()),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(depth: u32, mv: &str) -> Known {
        let mv = Some(mv.parse().unwrap());
        Known {
            score: Score::DRAW,
            mv,
            depth,
            bound: Bound::Lower,
        }
    }

    #[test]
    fn entries_are_sixteen_bytes() {
        assert_eq!(size_of::<Entry>(), 16);
    }

    #[test]
    fn gives_back_what_it_was_given() {
        let mut table = Table::new(1).unwrap();
        for mv in ["e2e4", "a1h8", "b7a8q", "g2h1n", "h8a1"] {
            table.store(42, 3, known(5, mv));
            assert_eq!(table.probe(42, 3), Some(known(5, mv)));
        }
        assert_eq!(table.probe(43, 3), None, "another key of the same slot");
    }

    #[test]
    fn keeps_the_deeper_of_one_search_and_the_later_of_two() {
        let mut table = Table::new(1).unwrap();
        table.store(1, 0, known(6, "e2e4"));
        table.store(2, 0, known(5, "d2d4"));
        assert!(table.probe(1, 0).is_some() && table.probe(2, 0).is_none());
        table.age();
        table.store(2, 0, known(1, "d2d4"));
        assert!(table.probe(1, 0).is_none() && table.probe(2, 0).is_some());
    }

    #[test]
    fn a_bound_without_a_move_keeps_the_move_known_before() {
        let mut table = Table::new(1).unwrap();
        table.store(1, 0, known(3, "e2e4"));
        table.store(
            1,
            0,
            Known {
                mv: None,
                bound: Bound::Upper,
                ..known(4, "e2e4")
            },
        );
        assert_eq!(table.probe(1, 0).unwrap().mv, known(3, "e2e4").mv);
    }

    #[test]
    fn an_impossible_size_is_an_error() {
        assert!(Table::new(usize::MAX).is_err());
    }
}
