//! Reading a sealed dataset.

use std::path::Path;

use crate::hash::Random;
use crate::store::{BlockKey, Set, Store};
use crate::{Error, Manifest, Record, Split};

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
    /// at a time.
    ///
    /// # Errors
    /// The iterator yields [`Error::Corrupt`] where a block cannot be read.
    pub fn shuffled(&self, split: Split, seed: u64, epoch: u64) -> Result<Shuffled<'_>, Error> {
        let mut keys = self
            .store
            .block_keys(split.into(), self.manifest.generation)?;
        let mut random = Random::new(seed, epoch);
        random.shuffle(&mut keys);
        Ok(Shuffled {
            dataset: self,
            split,
            keys,
            next: 0,
            random,
        })
    }

    fn read(&self, split: Split, keys: &[BlockKey]) -> Result<Vec<Record>, Error> {
        let mut records = Vec::with_capacity(keys.len() * crate::store::BLOCK_RECORDS);
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
    keys: Vec<BlockKey>,
    next: usize,
    random: Random,
}

impl Iterator for Shuffled<'_> {
    type Item = Result<Vec<Record>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let group = self.keys.get(self.next..)?;
        let group = &group[..group.len().min(GROUP_BLOCKS)];
        if group.is_empty() {
            return None;
        }
        self.next += group.len();
        let mut records = match self.dataset.read(self.split, group) {
            Ok(records) => records,
            Err(error) => return Some(Err(error)),
        };
        self.random.shuffle(&mut records);
        Some(Ok(records))
    }
}
