//! Folders of a dataset, opened for reading: its own, or one for each shard.

use std::fs;
use std::path::{Path, PathBuf};

use crate::source::{DigestNode, PartOf, joined};
use crate::store::StoreError;
use crate::store::database::Store;
use crate::store::folder;
use crate::store::manifest::{Manifest, Shard};
use crate::store::ranges::RANGES;
use crate::store::set::Set;

/// Opened folder of a dataset.
pub(super) struct Holding {
    pub(super) store: Store,
    /// Number of records in each set, in the order of `Set::ALL`.
    pub(super) records: [u64; 3],
}

/// Opens a dataset's folder, or a shard's.
pub(super) fn open_folder(path: &Path) -> Result<(Store, Manifest), StoreError> {
    let store = Store::open_to_read(path)?;
    let Some(manifest) = store.manifest()? else {
        let sources = store.progress()?.map(|progress| progress.source_list());
        return Err(folder::no_dataset(path, sources));
    };
    Ok((store, manifest))
}

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
pub(super) fn sealed_in(folder: &Path) -> Result<Option<(Store, Manifest)>, StoreError> {
    match open_folder(folder) {
        Err(_) if folder::is_marked(folder) => Ok(None),
        opened => opened.map(Some),
    }
}

/// An opened shard.
struct OpenedShard<'a> {
    part: PartOf,
    folder: &'a Path,
    held: Holding,
    nodes: Option<[Vec<DigestNode>; 3]>,
}

/// Opens the shards in a folder, in order. Returns the manifest of the whole dataset too.
///
/// # Errors
/// [`StoreError::UnfitShards`] if they are not the complete set of one dataset.
pub(super) fn open_shards(
    path: &Path,
    folders: &[PathBuf],
) -> Result<(Vec<Holding>, Manifest), StoreError> {
    let unfit = |path: &Path, why: String| StoreError::UnfitShards {
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
    let mut shards: Vec<OpenedShard> = Vec::new();
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
        shards.push(OpenedShard {
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
fn seal(whole: &mut Manifest, shards: &[OpenedShard]) -> Option<()> {
    let (mut records, mut digests) = ([0; 3], [const { String::new() }; 3]);
    for set in 0..Set::ALL.len() {
        records[set] = shards.iter().map(|shard| shard.held.records[set]).sum();
        let nodes: Option<Vec<&[Vec<DigestNode>; 3]>> =
            shards.iter().map(|s| s.nodes.as_ref()).collect();
        let nodes = nodes?;
        digests[set] = joined(nodes.iter().flat_map(|nodes| &nodes[set]), RANGES as u64)?;
    }
    whole.seal(records, &digests)
}
