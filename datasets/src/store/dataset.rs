//! Reading a sealed dataset.

use std::path::{Path, PathBuf};

use crate::Error;
use crate::store::blocks::Blocks;
use crate::store::database::Store;
use crate::store::set::Set;
use crate::store::{ADDED_VERSION, Manifest, folder, shards};
use host::archive::changes;
use records::hash::Random;
use records::position::{BLOCK_RECORDS, Record};
use records::selection::Split;

/// Blocks that are read together, so that their records mix: 65,536 records,
/// 2 MiB.
const GROUP_BLOCKS: usize = 16;

/// A sealed dataset, open to read: in one folder, or in shards.
pub struct Dataset {
    path: PathBuf,
    /// What holds it, in the order of the keys.
    stores: Vec<Holding>,
    manifest: Manifest,
}

/// A folder of a dataset.
pub(super) struct Holding {
    pub(super) store: Store,
    /// Records that it has of each set, in the order of `Set::ALL`.
    pub(super) records: [u64; 3],
}

impl Dataset {
    /// Opens a dataset. A folder of all shards of one is read as it was before it was cut.
    ///
    /// # Errors
    /// [`Error`] if the folder is missing, holds no dataset, one of another
    /// format version, or not all shards of one.
    pub fn open(path: &Path) -> Result<Dataset, Error> {
        let folders = shards::folders_in(path);
        let (stores, manifest) = match &folders[..] {
            [] => {
                let (store, manifest) = open_folder(path)?;
                if let Some(shard) = &manifest.shard {
                    return Err(Error::LoneShard {
                        path: path.to_path_buf(),
                        part: shard.part,
                    });
                }
                let records = manifest.set_records();
                (vec![Holding { store, records }], manifest)
            }
            folders => shards::open(path, folders)?,
        };
        Ok(Dataset {
            path: path.to_path_buf(),
            stores,
            manifest,
        })
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
    pub(crate) fn sealed(&self) -> impl Iterator<Item = (&Store, u64)> {
        (0..self.stores.len()).map(move |store| self.sealed_at(store))
    }

    /// One of them.
    pub(super) fn sealed_at(&self, store: usize) -> (&Store, u64) {
        (&self.stores[store].store, self.manifest.generation)
    }

    /// Whether it can be merged with another.
    pub(crate) fn check_like(&self, other: &Dataset) -> Result<(), Error> {
        self.check_version()?;
        if self.manifest.filters == other.manifest.filters {
            return Ok(());
        }
        Err(Error::UnlikeFilters {
            path: self.path.clone(),
            other: other.path.clone(),
            changes: changes(&other.manifest.filters, &self.manifest.filters),
        })
    }

    /// Whether it is of a version that is added to.
    pub(crate) fn check_version(&self) -> Result<(), Error> {
        let mut sealed = self.sealed();
        sealed.try_for_each(|(store, _)| store.check_version(ADDED_VERSION))
    }

    /// The folder that it was opened in.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The blocks of a set, in the order of their keys.
    pub(crate) fn set_blocks(&self, set: Set) -> Result<Blocks<'_>, Error> {
        let records = self.stores.iter().map(|held| held.records[set as usize]);
        Blocks::new(self, set, records)
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
        let blocks = self.set_blocks(split.into())?;
        Ok((0..blocks.count()).map(move |block| {
            let mut records = Vec::with_capacity(blocks.len(block));
            blocks.read(block, &mut records)?;
            Ok(records)
        }))
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
        let blocks = self.set_blocks(split.into())?;
        let mut order: Vec<u32> = (0..blocks.count() as u32).collect();
        Random::new([seed, epoch, 0]).shuffle(&mut order);
        Ok(Shuffled {
            blocks,
            seed,
            epoch,
            order,
            next: 0,
        })
    }
}

/// Opens what a folder holds: a dataset, or a shard of one.
pub(crate) fn open_folder(path: &Path) -> Result<(Store, Manifest), Error> {
    let store = Store::open_to_read(path)?;
    let Some(manifest) = store.manifest()? else {
        let sources = store.progress()?.map(|progress| progress.told());
        return Err(folder::no_dataset(path, sources));
    };
    Ok((store, manifest))
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
    blocks: Blocks<'a>,
    seed: u64,
    epoch: u64,
    /// The blocks by their numbers.
    order: Vec<u32>,
    next: usize,
}

impl Shuffled<'_> {
    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.order.len().div_ceil(GROUP_BLOCKS)
    }

    /// How many records a group has, without reading it.
    ///
    /// # Panics
    /// If there is no such group.
    pub fn group_len(&self, group: usize) -> usize {
        let blocks = self.group_blocks(group);
        blocks.map(|block| self.blocks.len(block)).sum()
    }

    /// The records of one group, in the order of the epoch.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if a block cannot be read.
    ///
    /// # Panics
    /// If there is no such group.
    pub fn group(&self, group: usize) -> Result<Vec<Record>, Error> {
        let mut records = Vec::with_capacity(GROUP_BLOCKS * BLOCK_RECORDS);
        for block in self.group_blocks(group) {
            self.blocks.read(block, &mut records)?;
        }
        Random::new([self.seed, self.epoch, group as u64 + 1]).shuffle(&mut records);
        Ok(records)
    }

    fn group_blocks(&self, group: usize) -> impl Iterator<Item = usize> {
        let blocks = self.order.chunks(GROUP_BLOCKS).nth(group);
        let blocks = blocks.expect("a group below groups()");
        blocks.iter().map(|&block| block as usize)
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
