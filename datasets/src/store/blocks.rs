//! The blocks of a set, wherever its records lie.

use std::ops::RangeInclusive;

use crate::Error;
use crate::store::Dataset;
use crate::store::database::BlockKey;
use crate::store::set::Set;
use records::position::{BLOCK_RECORDS, Record};

/// A set of a dataset in blocks of [`BLOCK_RECORDS`] records, the last of which may
/// have less. The shards of a merge are stored in blocks of their own, which begin
/// anew in each: what is read of them is cut as it would be in one folder.
pub(crate) struct Blocks<'a> {
    dataset: &'a Dataset,
    set: Set,
    stored: Vec<Stored>,
    records: u64,
}

/// A block as it is stored.
struct Stored {
    /// The number of the store.
    store: u32,
    key: BlockKey,
    /// Records of the set before it.
    before: u64,
}

impl<'a> Blocks<'a> {
    /// The blocks of a set, of which every store has so many `records`.
    pub(super) fn new(
        dataset: &'a Dataset,
        set: Set,
        records: impl Iterator<Item = u64>,
    ) -> Result<Blocks<'a>, Error> {
        let (mut stored, mut before) = (Vec::new(), 0);
        for ((store, (sealed, generation)), records) in dataset.sealed().enumerate().zip(records) {
            let keys = sealed.block_keys(set, generation)?.into_iter();
            stored.extend(keys.map(|key| Stored {
                store: store as u32,
                key,
                before: before + u64::from(key.number) * BLOCK_RECORDS as u64,
            }));
            before += records;
        }
        Ok(Blocks {
            dataset,
            set,
            stored,
            records: before,
        })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.records.div_ceil(BLOCK_RECORDS as u64) as usize
    }

    /// How many records a block has.
    pub(crate) fn len(&self, block: usize) -> usize {
        (self.end(block) - self.start(block)) as usize
    }

    /// Appends the records of a block.
    pub(crate) fn read(&self, block: usize, records: &mut Vec<Record>) -> Result<(), Error> {
        let (mut at, end) = (self.start(block), self.end(block));
        let mut piece = Vec::new();
        for index in self.holding(at).. {
            if at >= end {
                break;
            }
            let next = self.end_of_stored(index);
            if at == self.stored[index].before && next <= end {
                self.read_stored(index, records)?;
            } else {
                piece.clear();
                self.read_stored(index, &mut piece)?;
                let from = |record: u64| (record - self.stored[index].before) as usize;
                let wanted = piece.get(from(at)..from(next.min(end)));
                records.extend(wanted.ok_or_else(|| self.torn(index))?);
            }
            at = next;
        }
        Ok(())
    }

    /// Between which keys a block begins: at one, where it begins with a stored one.
    pub(crate) fn begins_within(&self, block: usize) -> RangeInclusive<u64> {
        let start = self.start(block);
        let index = self.holding(start);
        let Stored { key, before, .. } = self.stored[index];
        let next = self.stored.get(index + 1);
        let last = next.map_or(u64::MAX, |stored| stored.key.first);
        key.first..=if before == start { key.first } else { last }
    }

    /// The first record of a block, counted in the set.
    fn start(&self, block: usize) -> u64 {
        block as u64 * BLOCK_RECORDS as u64
    }

    fn end(&self, block: usize) -> u64 {
        self.start(block + 1).min(self.records)
    }

    /// The stored block that has a record.
    fn holding(&self, record: u64) -> usize {
        self.stored
            .partition_point(|stored| stored.before <= record)
            - 1
    }

    fn end_of_stored(&self, index: usize) -> u64 {
        let next = self.stored.get(index + 1);
        next.map_or(self.records, |stored| stored.before)
    }

    fn read_stored(&self, index: usize, records: &mut Vec<Record>) -> Result<(), Error> {
        let Stored { store, key, .. } = self.stored[index];
        let (store, generation) = self.dataset.sealed_at(store as usize);
        store.read_block(self.set, generation, key, records)
    }

    fn torn(&self, index: usize) -> Error {
        let Stored { store, key, .. } = &self.stored[index];
        let (store, generation) = self.dataset.sealed_at(*store as usize);
        let family = self.set.family(generation);
        store.corrupt(format!(
            "{family}: block {} has not as many records as it had",
            key.number
        ))
    }
}
