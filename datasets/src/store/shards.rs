//! Shards: a dataset divided by key ranges into several folders.
//!
//! A sealed dataset is cut between its blocks. A merge can also write shards independently, cut
//! between key ranges; their total counts and fingerprint are then computed when all are opened
//! together. Both kinds read and shuffle as the whole dataset does.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Error;
use crate::source::PartOf;
use crate::store::database::{SetWriter, Store, WrittenSet};
use crate::store::dataset::Dataset;
use crate::store::folder;
use crate::store::holding::{folders_in, open_folder, sealed_in};
use crate::store::manifest::{Counts, Manifest, Shard};
use crate::store::ranges::RANGES;
use crate::store::set::Set;
use crate::store::spill::SpillFile;
use crate::store::{Builder, StoreError, Unfinished};
use records::position::{Keyed, Row};

/// Returns the folder of a shard.
fn place(folder: &Path, part: PartOf) -> PathBuf {
    let digits = part.of().to_string().len();
    folder.join(format!("{:0digits$}.dataset", part.index()))
}

fn check_is_no_database(folder: &Path) -> Result<(), StoreError> {
    if folder::has_database(folder) {
        return Err(StoreError::Occupied {
            path: folder.to_path_buf(),
            entry: folder::CURRENT.to_string(),
        });
    }
    Ok(())
}

fn something_else(path: PathBuf) -> StoreError {
    StoreError::UnfitShards {
        path,
        why: "holds something else; give another --out".to_string(),
    }
}

/// Writes one shard of a merge to a subfolder of `folder`: the positions of its key ranges. An
/// existing one is kept. Returns its path, and the manifest with the shard's own position counts.
///
/// # Errors
/// As [`Builder::to_merge`]; [`StoreError::CappedShard`]; [`StoreError::UnfitShards`] if another
/// dataset is there; [`Error::Stopped`], after which the shard starts anew.
pub fn merge_shard<R: Row>(
    datasets: Vec<Dataset<R>>,
    folder: &Path,
    part: PartOf,
    stop: &AtomicBool,
) -> Result<(PathBuf, Manifest), Error> {
    let capped = |dataset: &&Dataset<R>| dataset.manifest().filters.max_positions.is_some();
    if let Some(dataset) = datasets.iter().find(capped) {
        let path = dataset.path().to_path_buf();
        return Err(StoreError::CappedShard { path }.into());
    }
    check_is_no_database(folder)?;
    let path = place(folder, part);
    let merged = Builder::merged_manifest(&datasets)?;
    let mut there = None;
    for found in folders_in(folder) {
        let Some((_, manifest)) = sealed_in(&found)? else {
            continue;
        };
        let is_ours = |part| place(folder, part) == found && is_shard(&manifest, &merged, part);
        if !part.all().any(is_ours) {
            return Err(something_else(found).into());
        }
        if found == path {
            there = Some(manifest);
        }
    }
    if let Some(manifest) = there {
        let spill = path.join("spill");
        // Clean up after a kill just after the sealing.
        if folder::is_marked(&path) || spill.exists() {
            drop(Store::open_to_write(&path)?);
            SpillFile::remove(&spill)?;
        }
        return Ok((path, with_own_counts(manifest)));
    }
    let builder = Builder::to_merge(&path, datasets, Unfinished::Keep)?.for_shard(part);
    let manifest = builder.finish_unless_stopped(stop)?;
    Ok((path, with_own_counts(manifest)))
}

fn with_own_counts(manifest: Manifest) -> Manifest {
    let [positions_train, positions_validation, seen_on_both_sides] = manifest.set_records();
    let counts = Counts {
        positions_train,
        positions_validation,
        seen_on_both_sides,
        ..Counts::default()
    };
    Manifest { counts, ..manifest }
}

/// Cuts a dataset into shards of about equal size, in subfolders of `folder`. Existing ones are
/// kept. Returns their paths.
///
/// # Errors
/// [`StoreError::UnfitShards`] if other datasets are there, [`StoreError::Unwritable`],
/// [`Error::Stopped`], after which it resumes at the current shard.
pub fn shard<R: Row>(
    dataset: &Dataset<R>,
    folder: &Path,
    cut: PartOf,
    stop: &AtomicBool,
) -> Result<Vec<PathBuf>, Error> {
    check_is_no_database(folder)?;
    let whole = dataset.manifest().of_one_go();
    let paths: Vec<PathBuf> = cut.all().map(|part| place(folder, part)).collect();
    for found in folders_in(folder) {
        let part = paths
            .iter()
            .zip(cut.all())
            .find(|(path, _)| **path == found);
        let ours = match part {
            None => false,
            Some(_) if folder::is_marked(&found) => true,
            Some((_, part)) => is_shard(&open_folder(&found)?.1, &whole, part),
        };
        if !ours {
            return Err(something_else(found).into());
        }
    }
    for (path, part) in paths.iter().zip(cut.all()) {
        write(dataset, &whole, path, part, stop)?;
    }
    Ok(paths)
}

/// Returns whether `manifest` is of shard `part` of the dataset with manifest `whole`.
fn is_shard(manifest: &Manifest, whole: &Manifest, part: PartOf) -> bool {
    let shard = manifest.shard.clone();
    let is_part = shard.as_ref().is_some_and(|shard| shard.part == part);
    let whole = whole.clone();
    is_part && *manifest == Manifest { shard, ..whole }
}

/// Writes a shard of the dataset with manifest `whole`, unless it exists.
fn write<R: Row>(
    dataset: &Dataset<R>,
    whole: &Manifest,
    path: &Path,
    part: PartOf,
    stop: &AtomicBool,
) -> Result<(), Error> {
    let mut store = Store::open_to_write(path)?;
    let folder = path.join("spill");
    if store.manifest()?.is_none() {
        if store.progress()?.is_some() {
            return Err(something_else(path.to_path_buf()).into());
        }
        SpillFile::open(&folder, 0)?;
        let mut sets = Vec::new();
        for set in Set::ALL {
            sets.push(write_set(dataset, set, part, &folder, stop)?);
        }
        let records = [&sets[0], &sets[1], &sets[2]].map(|set| set.records);
        let manifest = Manifest {
            shard: Some(Shard {
                part,
                records,
                nodes: None,
            }),
            ..whole.clone()
        };
        store.commit(&manifest, sets)?;
    }
    Ok(SpillFile::remove(&folder)?)
}

/// Writes the blocks of a set that begin in a shard, unchanged.
fn write_set<R: Row>(
    dataset: &Dataset<R>,
    set: Set,
    part: PartOf,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<WrittenSet, Error> {
    let mut writer = SetWriter::<R>::new(set, folder, 0..RANGES);
    let blocks = dataset.set_blocks(set)?;
    let mut records = Vec::new();
    for block in 0..blocks.count() {
        if !part.has_some(&blocks.begins_within(block)) {
            continue;
        }
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        records.clear();
        blocks.read(block, &mut records)?;
        let key = Keyed::new(records[0]).key;
        if part.has_some(&(key..=key)) {
            writer.push(&records)?;
        }
    }
    Ok(writer.finish()?)
}
