//! Reader of a sealed dataset.

use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use crate::store::blocks::Blocks;
use crate::store::database::Store;
use crate::store::holding::Holding;
use crate::store::set::Set;
use crate::store::{Manifest, StoreError, holding};
use host::archive::changes;
use records::hash::Random;
use records::position::{BLOCK_RECORDS, Kind, MoveRecord, Record, Row};
use records::selection::Split;

/// Blocks per group, whose records are shuffled together: 65,536 records, 2 MiB.
const GROUP_BLOCKS: usize = 16;

/// A sealed dataset open for reading, in one folder or in shards.
pub struct Dataset<R = Record> {
    path: PathBuf,
    /// Folders in key order.
    stores: Vec<Holding>,
    manifest: Manifest,
    rows: PhantomData<fn() -> R>,
}

impl Dataset {
    /// Opens a dataset of evaluations. A folder with all its shards reads the same as the unsharded
    /// dataset.
    ///
    /// # Errors
    /// [`StoreError`] if the folder is missing, not a dataset, of moves, of another format version,
    /// or lacks shards.
    pub fn open(path: &Path) -> Result<Dataset, StoreError> {
        Dataset::open_rows(path)
    }
}

/// An open dataset of either kind.
pub enum AnyDataset {
    /// Dataset of evaluations.
    Evaluations(Dataset),
    /// Dataset of moves.
    Moves(Dataset<MoveRecord>),
}

impl AnyDataset {
    /// Opens a dataset of either kind.
    ///
    /// # Errors
    /// As [`Dataset::open`], but for the kind.
    pub fn open(path: &Path) -> Result<AnyDataset, StoreError> {
        let (stores, manifest) = open_folders(path)?;
        Ok(match manifest.kind {
            Kind::Evaluations => AnyDataset::Evaluations(Dataset::of(path, stores, manifest)),
            Kind::Moves => AnyDataset::Moves(Dataset::of(path, stores, manifest)),
        })
    }
}

/// Opens the folders of a dataset of any kind, with its manifest.
fn open_folders(path: &Path) -> Result<(Vec<Holding>, Manifest), StoreError> {
    let folders = holding::folders_in(path);
    if !folders.is_empty() {
        return holding::open_shards(path, &folders);
    }
    let (store, manifest) = holding::open_folder(path)?;
    if let Some(shard) = &manifest.shard {
        return Err(StoreError::LoneShard {
            path: path.to_path_buf(),
            part: shard.part,
        });
    }
    let records = manifest.set_records();
    Ok((vec![Holding { store, records }], manifest))
}

impl<R: Row> Dataset<R> {
    /// Opens a dataset of such rows, as [`Dataset::open`] does one of evaluations.
    ///
    /// # Errors
    /// As [`Dataset::open`]; [`StoreError::OtherKind`].
    pub fn open_rows(path: &Path) -> Result<Dataset<R>, StoreError> {
        let (stores, manifest) = open_folders(path)?;
        manifest.check_kind(R::KIND, path)?;
        Ok(Dataset::of(path, stores, manifest))
    }

    fn of(path: &Path, stores: Vec<Holding>, manifest: Manifest) -> Dataset<R> {
        Dataset {
            path: path.to_path_buf(),
            stores,
            manifest,
            rows: PhantomData,
        }
    }

    /// Manifest of the whole dataset.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// SHA-256 over its records: equal data has an equal fingerprint.
    pub fn fingerprint(&self) -> &str {
        &self.manifest.fingerprint
    }

    /// Returns each store with its sealed generation.
    pub(crate) fn sealed(&self) -> impl Iterator<Item = (&Store, u64)> {
        let generation = self.manifest.generation;
        (self.stores.iter()).map(move |held| (&held.store, generation))
    }

    /// Checks that it can be merged with another dataset.
    pub(crate) fn check_like(&self, other: &Dataset<R>) -> Result<(), StoreError> {
        if self.manifest.filters == other.manifest.filters {
            return Ok(());
        }
        Err(StoreError::UnlikeFilters {
            path: self.path.clone(),
            other: other.path.clone(),
            changes: changes(&other.manifest.filters, &self.manifest.filters),
        })
    }

    /// Path it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the blocks of a set in key order.
    pub(crate) fn set_blocks(&self, set: Set) -> Result<Blocks<'_>, StoreError> {
        Blocks::new(&self.stores, self.manifest.generation, set)
    }

    /// Number of positions on one side of the split.
    pub fn len(&self, split: Split) -> u64 {
        match split {
            Split::Train => self.manifest.counts.positions_train,
            Split::Validation => self.manifest.counts.positions_validation,
        }
    }

    /// Returns all records of one side in key order, in blocks.
    ///
    /// # Errors
    /// The iterator yields [`StoreError::Corrupt`] for an unreadable block.
    pub fn blocks(
        &self,
        split: Split,
    ) -> Result<impl Iterator<Item = Result<Vec<R>, StoreError>> + '_, StoreError> {
        let blocks = self.set_blocks(split.into())?;
        Ok((0..blocks.count()).map(move |block| {
            let mut records = Vec::with_capacity(blocks.len(block));
            blocks.read(block, &mut records)?;
            Ok(records)
        }))
    }

    /// Returns each record of one side once, shuffled, in groups of up to 65,536. Seed and epoch
    /// determine the order.
    ///
    /// Keys are hashes, so each block is already a random sample of the dataset. An epoch permutes
    /// the blocks and shuffles the records of sixteen at a time. Groups are independent: they can
    /// be read in sequence or on all cores ([`Shuffled::group`]).
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if the index cannot be read.
    pub fn shuffled(
        &self,
        split: Split,
        seed: u64,
        epoch: u64,
    ) -> Result<Shuffled<'_, R>, StoreError> {
        let blocks = self.set_blocks(split.into())?;
        let mut order: Vec<u32> = (0..blocks.count() as u32).collect();
        Random::new([seed, epoch, 0]).shuffle(&mut order);
        Ok(Shuffled {
            blocks,
            seed,
            epoch,
            order,
            next: 0,
            rows: PhantomData,
        })
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

/// Records of an epoch in shuffled order. See [`Dataset::shuffled`].
pub struct Shuffled<'a, R = Record> {
    blocks: Blocks<'a>,
    seed: u64,
    epoch: u64,
    /// Block numbers in shuffled order.
    order: Vec<u32>,
    next: usize,
    rows: PhantomData<fn() -> R>,
}

impl<R: Row> Shuffled<'_, R> {
    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.order.len().div_ceil(GROUP_BLOCKS)
    }

    /// Returns the number of records in a group, without reading it.
    ///
    /// # Panics
    /// If `group` is out of range.
    pub fn group_len(&self, group: usize) -> usize {
        let blocks = self.group_blocks(group);
        blocks.map(|block| self.blocks.len(block)).sum()
    }

    /// Returns the records of a group in shuffled order.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if a block cannot be read.
    ///
    /// # Panics
    /// If `group` is out of range.
    pub fn group(&self, group: usize) -> Result<Vec<R>, StoreError> {
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

impl<R: Row> Iterator for Shuffled<'_, R> {
    type Item = Result<Vec<R>, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let group = self.next;
        (group < self.groups()).then(|| {
            self.next += 1;
            self.group(group)
        })
    }
}
