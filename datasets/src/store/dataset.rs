//! Reading a sealed dataset.

use std::path::Path;

use crate::Error;
use crate::store::database::{BlockKey, Store};
use crate::store::set::Set;
use crate::store::{FORMAT_VERSION, Manifest};
use host::archive::changes;
use records::hash::Random;
use records::position::{BLOCK_RECORDS, Record};
use records::selection::Split;

/// Blocks that are read together, so that their records mix: 65,536 records,
/// 2 MiB.
const GROUP_BLOCKS: usize = 16;

/// A sealed dataset, open to read.
pub struct Dataset {
    store: Store,
    manifest: Manifest,
}

impl Dataset {
    /// Opens a dataset.
    ///
    /// # Errors
    /// [`Error`] if the folder is missing, holds no dataset, or one of another
    /// format version.
    pub fn open(path: &Path) -> Result<Dataset, Error> {
        let store = Store::open_to_read(path)?;
        let manifest = store.manifest()?.ok_or_else(|| Error::NotADataset {
            path: path.to_path_buf(),
        })?;
        Ok(Dataset { store, manifest })
    }

    /// What the dataset says about itself.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// SHA-256 over its records: equal data, equal fingerprint.
    pub fn fingerprint(&self) -> &str {
        &self.manifest.fingerprint
    }

    /// Where its sealed sets are, by their generation.
    pub(crate) fn sealed(&self) -> (&Store, u64) {
        (&self.store, self.manifest.generation)
    }

    /// Whether it can be merged with another.
    pub(crate) fn check_like(&self, other: &Dataset) -> Result<(), Error> {
        self.store.check_version(FORMAT_VERSION)?;
        if self.manifest.filters == other.manifest.filters {
            return Ok(());
        }
        Err(Error::UnlikeFilters {
            path: self.store.path().to_path_buf(),
            other: other.store.path().to_path_buf(),
            changes: changes(&other.manifest.filters, &self.manifest.filters),
        })
    }

    /// Number of positions on one side of the split.
    pub fn len(&self, split: Split) -> u64 {
        match split {
            Split::Train => self.manifest.counts.positions_train,
            Split::Validation => self.manifest.counts.positions_validation,
        }
    }

    /// Every record of one side, in key order, in blocks.
    ///
    /// # Errors
    /// The iterator yields [`Error::Corrupt`] where a block cannot be read.
    pub fn blocks(
        &self,
        split: Split,
    ) -> Result<impl Iterator<Item = Result<Vec<Record>, Error>> + '_, Error> {
        let keys = self
            .store
            .block_keys(split.into(), self.manifest.generation)?;
        Ok(keys.into_iter().map(move |key| self.read(split, &[key])))
    }

    /// Every record of one side once, shuffled, in groups of up to 65,536.
    /// The same seed and epoch give the same order; another epoch, another.
    ///
    /// Keys are hashes, so that each block already is a random sample of the
    /// dataset. An epoch permutes the blocks, and mixes the records of sixteen
    /// at a time. Groups do not depend on each other: they may be read one
    /// after the other, or on all cores ([`Shuffled::group`]).
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the index cannot be read.
    pub fn shuffled(&self, split: Split, seed: u64, epoch: u64) -> Result<Shuffled<'_>, Error> {
        let mut keys = self
            .store
            .block_keys(split.into(), self.manifest.generation)?;
        Random::new([seed, epoch, 0]).shuffle(&mut keys);
        Ok(Shuffled {
            dataset: self,
            split,
            seed,
            epoch,
            keys,
            next: 0,
        })
    }

    fn read(&self, split: Split, keys: &[BlockKey]) -> Result<Vec<Record>, Error> {
        let mut records = Vec::with_capacity(keys.len() * BLOCK_RECORDS);
        for &key in keys {
            self.store
                .read_block(split.into(), self.manifest.generation, key, &mut records)?;
        }
        Ok(records)
    }
}

impl From<Split> for Set {
    fn from(split: Split) -> Set {
        match split {
            Split::Train => Set::Train,
            Split::Validation => Set::Validation,
        }
    }
}

/// An epoch's records in shuffled order. See [`Dataset::shuffled`].
pub struct Shuffled<'a> {
    dataset: &'a Dataset,
    split: Split,
    seed: u64,
    epoch: u64,
    keys: Vec<BlockKey>,
    next: usize,
}

impl Shuffled<'_> {
    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.keys.len().div_ceil(GROUP_BLOCKS)
    }

    /// How many records a group has, without reading it.
    ///
    /// # Panics
    /// If there is no such group.
    pub fn group_len(&self, group: usize) -> usize {
        let keys = self.group_keys(group);
        let full = keys.len() * BLOCK_RECORDS;
        // All blocks are full but the one that was written last.
        let last = self.keys.len() - 1;
        if keys.iter().any(|key| key.number as usize == last) {
            let missing = self.keys.len() * BLOCK_RECORDS - self.dataset.len(self.split) as usize;
            full - missing
        } else {
            full
        }
    }

    /// The records of one group, in the order of the epoch.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if a block cannot be read.
    ///
    /// # Panics
    /// If there is no such group.
    pub fn group(&self, group: usize) -> Result<Vec<Record>, Error> {
        let mut records = self.dataset.read(self.split, self.group_keys(group))?;
        Random::new([self.seed, self.epoch, group as u64 + 1]).shuffle(&mut records);
        Ok(records)
    }

    fn group_keys(&self, group: usize) -> &[BlockKey] {
        let keys = self.keys.chunks(GROUP_BLOCKS).nth(group);
        keys.expect("a group below groups()")
    }
}

impl Iterator for Shuffled<'_> {
    type Item = Result<Vec<Record>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let group = self.next;
        (group < self.groups()).then(|| {
            self.next += 1;
            self.group(group)
        })
    }
}
