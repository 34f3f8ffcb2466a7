//! Shards: a dataset divided by key ranges into several folders.
//!
//! A sealed dataset is cut between its blocks. A merge can also write shards independently, cut
//! between key ranges; their total counts and fingerprint are then computed when all are opened
//! together. Both kinds read and shuffle as the whole dataset does.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Error;
use crate::source::{Node, PartOf, joined};
use crate::store::database::{SetWriter, Store, WrittenSet};
use crate::store::dataset::{Dataset, Holding, open_folder};
use crate::store::folder;
use crate::store::manifest::{Counts, Manifest, Shard};
use crate::store::ranges::RANGES;
use crate::store::set::Set;
use crate::store::spill::SpillFile;
use crate::store::{Builder, Unfinished};
use records::position::Keyed;

/// Returns the database folders in a folder, by name; empty if the folder itself is a database.
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

/// Opens the database in a folder; `None` if it is an unfinished shard with nothing sealed.
fn sealed_in(folder: &Path) -> Result<Option<(Store, Manifest)>, Error> {
    match open_folder(folder) {
        Err(_) if folder::is_marked(folder) => Ok(None),
        opened => opened.map(Some),
    }
}

/// An opened shard.
struct Opened<'a> {
    part: PartOf,
    folder: &'a Path,
    held: Holding,
    nodes: Option<[Vec<Node>; 3]>,
}

/// Opens the shards in a folder, in order. Returns the manifest of the whole dataset too.
///
/// # Errors
/// [`Error::UnfitShards`] if they are not the complete set of one dataset.
pub(super) fn open(path: &Path, folders: &[PathBuf]) -> Result<(Vec<Holding>, Manifest), Error> {
    let unfit = |path: &Path, why: String| Error::UnfitShards {
        path: path.to_path_buf(),
        why,
    };
    let mut opened = Vec::new();
    for folder in folders {
        // An unfinished shard counts as missing.
        if let Some((store, manifest)) = sealed_in(folder)? {
            opened.push((folder, store, manifest));
        }
    }
    let mut manifests = opened.iter().map(|(_, _, manifest)| manifest);
    let first = manifests.find_map(|manifest| Some((manifest, manifest.shard.as_ref()?.part)));
    let Some((manifest, some)) = first else {
        let unfinished = folders.iter().find(|folder| folder::is_marked(folder));
        return Err(folder::no_dataset(
            unfinished.map_or(path, PathBuf::as_path),
            None,
        ));
    };
    let mut whole = Manifest {
        shard: None,
        ..manifest.clone()
    };
    let mut shards: Vec<Opened> = Vec::new();
    for (folder, store, mut manifest) in opened {
        let records = manifest.set_records();
        let Some(Shard { part, nodes, .. }) = manifest.shard.take() else {
            let why = "a dataset, not a shard of one; give it by itself";
            return Err(unfit(folder, why.to_string()));
        };
        if manifest != whole {
            let why = format!("shard of another dataset than {}", folders[0].display());
            return Err(unfit(folder, why));
        }
        if let Some(other) = shards
            .iter()
            .find(|other| other.part == part || other.part.of() != part.of())
        {
            let (name, other) = (other.folder.display(), other.part);
            let why = format!("shard {part}, but {name} is shard {other}");
            return Err(unfit(folder, why));
        }
        shards.push(Opened {
            part,
            folder,
            held: Holding { store, records },
            nodes,
        });
    }
    shards.sort_by_key(|shard| shard.part);
    let has = |part: &PartOf| shards.iter().any(|shard| shard.part == *part);
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
    if whole.fingerprint.is_empty() {
        let sealed = seal(&mut whole, &shards);
        sealed
            .ok_or_else(|| unfit(path, "their ranges of keys do not fit together".to_string()))?;
    }
    Ok((shards.into_iter().map(|shard| shard.held).collect(), whole))
}

/// Sets counts and fingerprint of a merge from all its shards; `None` if their digests do not cover
/// all key ranges.
fn seal(whole: &mut Manifest, shards: &[Opened]) -> Option<()> {
    let (mut records, mut digests) = ([0; 3], [const { String::new() }; 3]);
    for set in 0..Set::ALL.len() {
        records[set] = shards.iter().map(|shard| shard.held.records[set]).sum();
        let nodes: Option<Vec<&[Vec<Node>; 3]>> = shards.iter().map(|s| s.nodes.as_ref()).collect();
        let nodes = nodes?;
        digests[set] = joined(nodes.iter().flat_map(|nodes| &nodes[set]), RANGES as u64)?;
    }
    whole.seal(records, &digests)
}

/// Returns the folder of a shard.
fn place(folder: &Path, part: PartOf) -> PathBuf {
    let digits = part.of().to_string().len();
    folder.join(format!("{:0digits$}.dataset", part.index()))
}

fn check_is_no_database(folder: &Path) -> Result<(), Error> {
    if folder::has_database(folder) {
        return Err(Error::Occupied {
            path: folder.to_path_buf(),
            entry: folder::CURRENT.to_string(),
        });
    }
    Ok(())
}

fn something_else(path: PathBuf) -> Error {
    Error::UnfitShards {
        path,
        why: "holds something else; give another --out".to_string(),
    }
}

/// Writes one shard of a merge to a subfolder of `folder`: the positions of its key ranges. An
/// existing one is kept. Returns its path, and the manifest with the shard's own position counts.
///
/// # Errors
/// As [`Builder::to_merge`]; [`Error::CappedShard`]; [`Error::UnfitShards`] if another dataset is
/// there; [`Error::Stopped`], after which the shard starts anew.
pub fn merge_shard(
    datasets: Vec<Dataset>,
    folder: &Path,
    part: PartOf,
    stop: &AtomicBool,
) -> Result<(PathBuf, Manifest), Error> {
    let capped = |dataset: &&Dataset| dataset.manifest().filters.max_positions.is_some();
    if let Some(dataset) = datasets.iter().find(capped) {
        return Err(Error::CappedShard {
            path: dataset.path().to_path_buf(),
        });
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
            return Err(something_else(found));
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
/// [`Error::UnfitShards`] if other datasets are there, [`Error::Unwritable`], [`Error::Stopped`],
/// after which it resumes at the current shard.
pub fn shard(
    dataset: &Dataset,
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
            return Err(something_else(found));
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
fn write(
    dataset: &Dataset,
    whole: &Manifest,
    path: &Path,
    part: PartOf,
    stop: &AtomicBool,
) -> Result<(), Error> {
    let mut store = Store::open_to_write(path)?;
    let folder = path.join("spill");
    if store.manifest()?.is_none() {
        if store.progress()?.is_some() {
            return Err(something_else(path.to_path_buf()));
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
    SpillFile::remove(&folder)
}

/// Writes the blocks of a set that begin in a shard, unchanged.
fn write_set(
    dataset: &Dataset,
    set: Set,
    part: PartOf,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<WrittenSet, Error> {
    let mut writer = SetWriter::new(set, folder, 0..RANGES);
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
    writer.finish()
}
