//! Reading a sealed dataset.

use std::path::{Path, PathBuf};

use crate::Error;
use crate::store::database::{BlockKey, Store};
use crate::store::set::Set;
use crate::store::{FORMAT_VERSION, Manifest, shards};
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
    stores: Vec<Store>,
    manifest: Manifest,
}

/// Where a block is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// The number of the store.
    store: usize,
    pub(crate) key: BlockKey,
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
                if let Some(shard) = manifest.shard {
                    return Err(Error::LoneShard {
                        path: path.to_path_buf(),
                        part: shard.part,
                    });
                }
                (vec![store], manifest)
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
        let generation = self.manifest.generation;
        self.stores.iter().map(move |store| (store, generation))
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

    /// Whether it is of the version that is written.
    pub(crate) fn check_version(&self) -> Result<(), Error> {
        let mut stores = self.stores.iter();
        stores.try_for_each(|store| store.check_version(FORMAT_VERSION))
    }

    /// The blocks of a set, in the order of their keys.
    pub(crate) fn places(&self, set: Set) -> Result<Vec<Place>, Error> {
        let mut places = Vec::new();
        for (store, (sealed, generation)) in self.sealed().enumerate() {
            let keys = sealed.block_keys(set, generation)?.into_iter();
            places.extend(keys.map(|key| Place { store, key }));
        }
        Ok(places)
    }

    /// Appends the records of a block.
    pub(crate) fn read_block(
        &self,
        set: Set,
        place: Place,
        records: &mut Vec<Record>,
    ) -> Result<(), Error> {
        let Place { store, key } = place;
        self.stores[store].read_block(set, self.manifest.generation, key, records)
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
        let places = self.places(split.into())?;
        Ok(places
            .into_iter()
            .map(move |place| self.read(split, &[place])))
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
        let mut places = self.places(split.into())?;
        let last = places.last().copied();
        Random::new([seed, epoch, 0]).shuffle(&mut places);
        Ok(Shuffled {
            dataset: self,
            split,
            seed,
            epoch,
            places,
            last,
            next: 0,
        })
    }

    fn read(&self, split: Split, places: &[Place]) -> Result<Vec<Record>, Error> {
        let mut records = Vec::with_capacity(places.len() * BLOCK_RECORDS);
        for &place in places {
            self.read_block(split.into(), place, &mut records)?;
        }
        Ok(records)
    }
}

/// Opens what a folder holds: a dataset, or a shard of one.
pub(crate) fn open_folder(path: &Path) -> Result<(Store, Manifest), Error> {
    let store = Store::open_to_read(path)?;
    let manifest = store.manifest()?.ok_or_else(|| Error::NotADataset {
        path: path.to_path_buf(),
    })?;
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
    dataset: &'a Dataset,
    split: Split,
    seed: u64,
    epoch: u64,
    places: Vec<Place>,
    /// The block that was written last.
    last: Option<Place>,
    next: usize,
}

impl Shuffled<'_> {
    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.places.len().div_ceil(GROUP_BLOCKS)
    }

    /// How many records a group has, without reading it.
    ///
    /// # Panics
    /// If there is no such group.
    pub fn group_len(&self, group: usize) -> usize {
        let places = self.group_places(group);
        let full = places.len() * BLOCK_RECORDS;
        // All blocks are full but the one that was written last.
        if places.iter().any(|&place| Some(place) == self.last) {
            let missing = self.places.len() * BLOCK_RECORDS - self.dataset.len(self.split) as usize;
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
        let mut records = self.dataset.read(self.split, self.group_places(group))?;
        Random::new([self.seed, self.epoch, group as u64 + 1]).shuffle(&mut records);
        Ok(records)
    }

    fn group_places(&self, group: usize) -> &[Place] {
        let places = self.places.chunks(GROUP_BLOCKS).nth(group);
        places.expect("a group below groups()")
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
