//! A dataset cut by ranges of keys into shards, each in a folder of its own.
//!
//! It is cut between sealed blocks. So all shards together have the blocks of the whole
//! dataset, in the same order, and are read and shuffled as it is.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Error;
use crate::input::PartOf;
use crate::store::database::{SetWriter, Store, WrittenSet};
use crate::store::dataset::{Dataset, open_folder};
use crate::store::folder;
use crate::store::manifest::{Manifest, Shard};
use crate::store::set::Set;
use crate::store::spill::SpillFile;

/// The folders in a folder that hold databases, by name; none if it is a database itself.
pub(super) fn folders_in(path: &Path) -> Vec<PathBuf> {
    if folder::has_database(path) {
        return Vec::new();
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let mut folders: Vec<PathBuf> = paths.filter(|path| folder::has_database(path)).collect();
    folders.sort();
    folders
}

/// Opens the shards in a folder, in their order. Gives the whole dataset's manifest.
///
/// # Errors
/// [`Error::UnfitShards`] if they are not all those of one dataset.
pub(super) fn open(path: &Path, folders: &[PathBuf]) -> Result<(Vec<Store>, Manifest), Error> {
    let unfit = |path: &Path, why: String| Error::UnfitShards {
        path: path.to_path_buf(),
        why,
    };
    let opened = folders.iter().map(|folder| open_folder(folder));
    let opened: Vec<(Store, Manifest)> = opened.collect::<Result<_, Error>>()?;
    let mut manifests = opened.iter().map(|(_, manifest)| manifest);
    let first = manifests.find_map(|manifest| Some((manifest, manifest.shard?)));
    let Some((manifest, Shard { part: some, .. })) = first else {
        return Err(Error::NotADataset {
            path: path.to_path_buf(),
        });
    };
    let whole = Manifest {
        shard: None,
        ..manifest.clone()
    };
    let mut shards: Vec<(PartOf, &Path, Store)> = Vec::new();
    for (folder, (store, mut manifest)) in folders.iter().zip(opened) {
        let Some(Shard { part, .. }) = manifest.shard.take() else {
            let why = "a dataset, not a shard of one; give it by itself";
            return Err(unfit(folder, why.to_string()));
        };
        if manifest != whole {
            let why = format!("shard of another dataset than {}", folders[0].display());
            return Err(unfit(folder, why));
        }
        if let Some((other, name, _)) = shards
            .iter()
            .find(|(other, ..)| *other == part || other.of() != part.of())
        {
            let why = format!("shard {part}, but {} is shard {other}", name.display());
            return Err(unfit(folder, why));
        }
        shards.push((part, folder, store));
    }
    shards.sort_by_key(|(part, ..)| *part);
    let has = |part: &PartOf| shards.iter().any(|(other, ..)| other == part);
    let missing: Vec<String> = some
        .all()
        .filter(|part| !has(part))
        .map(|part| part.to_string())
        .collect();
    if !missing.is_empty() {
        return Err(unfit(
            path,
            format!("shards are missing: {}", missing.join(", ")),
        ));
    }
    let stores = shards.into_iter().map(|(.., store)| store).collect();
    Ok((stores, whole))
}

/// Cuts a dataset into shards of about the same size, in folders of `folder`. One that
/// is there already stays. Gives their paths.
///
/// # Errors
/// [`Error::UnfitShards`] if other datasets are there, [`Error::OtherVersion`],
/// [`Error::Unwritable`], [`Error::Stopped`]: begun again, it goes on with the shard that
/// it was at.
pub fn shard(
    dataset: &Dataset,
    folder: &Path,
    cut: PartOf,
    stop: &AtomicBool,
) -> Result<Vec<PathBuf>, Error> {
    dataset.check_version()?;
    if folder::has_database(folder) {
        return Err(Error::Occupied {
            path: folder.to_path_buf(),
            entry: folder::CURRENT.to_string(),
        });
    }
    let digits = cut.of().to_string().len();
    let name = |part: PartOf| folder.join(format!("{:0digits$}.dataset", part.index()));
    let paths: Vec<PathBuf> = cut.all().map(name).collect();
    for found in folders_in(folder) {
        let part = paths
            .iter()
            .zip(cut.all())
            .find(|(path, _)| **path == found);
        let ours = match part {
            None => false,
            Some(_) if folder::is_marked(&found) => true,
            Some((_, part)) => is_shard(&open_folder(&found)?.1, dataset, part),
        };
        if !ours {
            return Err(Error::UnfitShards {
                path: found,
                why: "holds something else; give another --out".to_string(),
            });
        }
    }
    for (path, part) in paths.iter().zip(cut.all()) {
        write(dataset, path, part, stop)?;
    }
    Ok(paths)
}

/// Whether a manifest is that of a shard of a dataset.
fn is_shard(manifest: &Manifest, dataset: &Dataset, part: PartOf) -> bool {
    let whole = Manifest {
        generation: 0,
        ..dataset.manifest().clone()
    };
    let shard = manifest.shard;
    let is_part = shard.is_some_and(|shard| shard.part == part);
    is_part && *manifest == Manifest { shard, ..whole }
}

/// Writes a shard, unless it is there.
fn write(dataset: &Dataset, path: &Path, part: PartOf, stop: &AtomicBool) -> Result<(), Error> {
    let mut store = Store::open_to_write(path)?;
    let folder = path.join("spill");
    if store.manifest()?.is_none() {
        SpillFile::open(&folder, 0)?;
        let mut sets = Vec::new();
        for set in Set::ALL {
            sets.push(write_set(dataset, set, part, &folder, stop)?);
        }
        let records = [&sets[0], &sets[1], &sets[2]].map(|set| set.records);
        let manifest = Manifest {
            generation: 0,
            shard: Some(Shard { part, records }),
            ..dataset.manifest().clone()
        };
        store.commit(&manifest, sets)?;
    }
    SpillFile::remove(&folder)
}

/// Writes the blocks of a set that begin in a shard, as they are.
fn write_set(
    dataset: &Dataset,
    set: Set,
    part: PartOf,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<WrittenSet, Error> {
    let mut writer = SetWriter::new(set, folder);
    let places = dataset.places(set)?.into_iter();
    for place in places.filter(|place| part.has_key(place.key.first)) {
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        let mut records = Vec::new();
        dataset.read_block(set, place, &mut records)?;
        writer.push(&records)?;
    }
    writer.finish()
}
