//! Logical blocks of a set, independent of how shards store them.

use std::ops::RangeInclusive;

use crate::store::StoreError;
use crate::store::database::BlockKey;
use crate::store::holding::Holding;
use crate::store::set::Set;
use records::position::{BLOCK_RECORDS, Row};

/// A set in blocks of [`BLOCK_RECORDS`] records, the last of which may be shorter. Each shard of a
/// merge stores blocks that begin at its first record; they are read as if cut in a single folder.
pub(crate) struct Blocks<'a> {
    stores: &'a [Holding],
    generation: u64,
    set: Set,
    stored: Vec<Stored>,
    records: u64,
}

/// A stored block.
struct Stored {
    /// Index of its store.
    store: u32,
    key: BlockKey,
    /// Records of the set before it.
    before: u64,
}

impl<'a> Blocks<'a> {
    /// Creates the blocks of a set in all stores of a dataset.
    pub(super) fn new(
        stores: &'a [Holding],
        generation: u64,
        set: Set,
    ) -> Result<Blocks<'a>, StoreError> {
        let (mut stored, mut before) = (Vec::new(), 0);
        for (store, held) in stores.iter().enumerate() {
            let keys = held.store.block_keys(set, generation)?.into_iter();
            stored.extend(keys.map(|key| Stored {
                store: store as u32,
                key,
                before: before + u64::from(key.number) * BLOCK_RECORDS as u64,
            }));
            before += held.records[set as usize];
        }
        Ok(Blocks {
            stores,
            generation,
            set,
            stored,
            records: before,
        })
    }

    /// Number of blocks.
    pub(crate) fn count(&self) -> usize {
        self.records.div_ceil(BLOCK_RECORDS as u64) as usize
    }

    /// Number of records in a block.
    pub(crate) fn len(&self, block: usize) -> usize {
        (self.end(block) - self.start(block)) as usize
    }

    /// Appends the records of a block.
    pub(crate) fn read<R: Row>(
        &self,
        block: usize,
        records: &mut Vec<R>,
    ) -> Result<(), StoreError> {
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

    /// Returns bounds on a block's first key; a single key if the block begins at a stored one.
    pub(crate) fn begins_within(&self, block: usize) -> RangeInclusive<u64> {
        let start = self.start(block);
        let index = self.holding(start);
        let Stored { key, before, .. } = self.stored[index];
        let next = self.stored.get(index + 1);
        let last = next.map_or(u64::MAX, |stored| stored.key.first);
        key.first..=if before == start { key.first } else { last }
    }

    /// Index, in the set, of a block's first record.
    fn start(&self, block: usize) -> u64 {
        block as u64 * BLOCK_RECORDS as u64
    }

    fn end(&self, block: usize) -> u64 {
        self.start(block + 1).min(self.records)
    }

    /// Returns the index of the stored block that holds a record.
    fn holding(&self, record: u64) -> usize {
        self.stored
            .partition_point(|stored| stored.before <= record)
            - 1
    }

    fn end_of_stored(&self, index: usize) -> u64 {
        let next = self.stored.get(index + 1);
        next.map_or(self.records, |stored| stored.before)
    }

    fn read_stored<R: Row>(&self, index: usize, records: &mut Vec<R>) -> Result<(), StoreError> {
        let Stored { store, key, .. } = self.stored[index];
        let Holding { store, .. } = &self.stores[store as usize];
        store.read_block(self.set, self.generation, key, records)
    }

    fn torn(&self, index: usize) -> StoreError {
        let Stored { store, key, .. } = &self.stored[index];
        let Holding { store, .. } = &self.stores[*store as usize];
        let family = self.set.family(self.generation);
        store.corrupt(format!(
            "{family}: block {} has too few records",
            key.number
        ))
    }
}
