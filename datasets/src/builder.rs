//! Making a dataset, or adding to one: an external merge sort by position.
//!
//! Records gather in memory, are sorted, and are spilled as runs. At the end
//! the runs and what was sealed before are merged into a new generation of
//! blocks, which one atomic write makes the sealed one. Until then the old
//! generation stands: a crash at any moment leaves the dataset as it was.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::merge::{Merged, Run, Side, Sides, sort_and_join};
use crate::source::hex;
use crate::store::{BlockWriter, Set, Store, sst_options};
use crate::{Counts, Error, Filters, Keyed, Manifest, Record, SourceEntry, Split};

/// Records held in memory before a run is spilled: 40 MiB.
const SPILL_RECORDS: usize = 1 << 20;

/// Runs of a tier that are merged into one of the next.
const TIER_RUNS: usize = 64;

/// A run's entry: the key, then the record.
const ENTRY_BYTES: usize = 8 + Record::BYTES;

/// Adds records to a dataset.
pub struct Builder {
    store: Store,
    path: PathBuf,
    spill: PathBuf,
    manifest: Manifest,
    sealed: Option<u64>,
    train: Pending,
    validation: Pending,
    /// Whether anything came in since the builder was opened.
    changed: bool,
}

/// One side's records that are not sealed yet.
#[derive(Default)]
struct Pending {
    records: Vec<Keyed>,
    runs: Vec<SpilledRun>,
    /// Runs written so far, which number their files.
    spilled: usize,
}

/// A sorted run in a file.
struct SpilledRun {
    file: PathBuf,
    /// 0 from memory, 1 from 64 of those, and so on.
    tier: u32,
}

impl Builder {
    /// Opens a dataset to add to it, or makes a new one.
    ///
    /// # Errors
    /// [`Error::Locked`] if another process writes to it,
    /// [`Error::OtherFilters`] if it was made with other filters.
    pub fn open(path: &Path, filters: Filters) -> Result<Builder, Error> {
        let store = Store::open_to_write(path)?;
        let sealed = store.manifest()?;
        let generation = sealed.as_ref().map(|manifest| manifest.generation);
        let manifest = sealed.unwrap_or_else(|| Manifest::new(filters));
        if manifest.filters != filters {
            let json = |filters| serde_json::to_string(filters).unwrap_or_default();
            return Err(Error::OtherFilters {
                path: path.to_path_buf(),
                found: json(&manifest.filters),
                wanted: json(&filters),
            });
        }
        let spill = path.join("spill");
        if spill.exists() {
            std::fs::remove_dir_all(&spill).map_err(Error::unwritable(&spill))?;
        }
        std::fs::create_dir(&spill).map_err(Error::unwritable(&spill))?;
        Ok(Builder {
            store,
            path: path.to_path_buf(),
            spill,
            manifest,
            sealed: generation,
            train: Pending::default(),
            validation: Pending::default(),
            changed: false,
        })
    }

    /// The source with this digest, if it was taken in whole before.
    pub fn known_source(&self, sha256: &str) -> Option<&SourceEntry> {
        self.manifest
            .sources
            .iter()
            .find(|s| s.sha256 == sha256 && s.damage.is_none())
    }

    /// Whether some source of this size was taken in before: if not, there is
    /// no need to digest a file to know that it is new.
    pub fn knows_size(&self, bytes: u64) -> bool {
        self.manifest
            .sources
            .iter()
            .any(|source| source.bytes == bytes)
    }

    /// Adds records to one side.
    ///
    /// # Errors
    /// [`Error::Unwritable`] if a run cannot be spilled.
    pub fn add(
        &mut self,
        split: Split,
        records: impl IntoIterator<Item = Record>,
    ) -> Result<(), Error> {
        self.pending(split)
            .records
            .extend(records.into_iter().map(Keyed::new));
        if self.train.records.len() + self.validation.records.len() >= SPILL_RECORDS {
            self.spill(Split::Train)?;
            self.spill(Split::Validation)?;
        }
        Ok(())
    }

    /// Notes where the records added so far came from.
    pub fn add_source(&mut self, entry: SourceEntry) {
        self.changed = true;
        self.manifest.add_source(entry);
    }

    fn pending(&mut self, split: Split) -> &mut Pending {
        match split {
            Split::Train => &mut self.train,
            Split::Validation => &mut self.validation,
        }
    }

    fn spill(&mut self, split: Split) -> Result<(), Error> {
        let folder = self.spill.clone();
        let pending = self.pending(split);
        if pending.records.is_empty() {
            return Ok(());
        }
        sort_and_join(&mut pending.records);
        let records = pending.records.iter().copied().map(Ok);
        let mut run = SpilledRun::write(&folder, split, pending.spilled, 0, records)?;
        pending.spilled += 1;
        pending.records.clear();
        // Sixty-four runs of a tier become one of the next, so that the files
        // open at the end stay few.
        while pending.runs.iter().filter(|r| r.tier == run.tier).count() + 1 == TIER_RUNS {
            let tier = run.tier;
            pending.runs.push(run);
            let full: Vec<SpilledRun> = pending.runs.extract_if(.., |r| r.tier == tier).collect();
            let merged = Merged::new(
                full.iter()
                    .map(SpilledRun::read)
                    .collect::<Result<_, _>>()?,
            )?;
            run = SpilledRun::write(&folder, split, pending.spilled, tier + 1, merged)?;
            pending.spilled += 1;
            for old in full {
                std::fs::remove_file(&old.file).map_err(Error::unwritable(&old.file))?;
            }
        }
        pending.runs.push(run);
        Ok(())
    }

    /// Whether nothing was taken in, and nothing was there before.
    pub fn is_empty(&self) -> bool {
        self.sealed.is_none() && !self.changed
    }

    /// Removes a dataset that [`Builder::open`] made and nothing was added to.
    ///
    /// # Errors
    /// [`Error::Unwritable`] if the folder cannot be removed.
    pub fn abandon(self) -> Result<(), Error> {
        let (path, empty) = (self.path.clone(), self.is_empty());
        drop(self);
        if empty {
            std::fs::remove_dir_all(&path).map_err(Error::unwritable(&path))?;
        }
        Ok(())
    }

    /// Merges everything into a new generation of sealed blocks and makes it
    /// the dataset. Where no source was added, the dataset stays as it is.
    /// Returns the final manifest.
    ///
    /// # Errors
    /// [`Error::Unwritable`], for instance on a full disk; the dataset is then
    /// as it was before this builder.
    pub fn finish(mut self) -> Result<Manifest, Error> {
        if self.changed || self.sealed.is_none() {
            self.seal()?;
        }
        std::fs::remove_dir_all(&self.spill).map_err(Error::unwritable(&self.path))?;
        Ok(self.manifest)
    }

    fn seal(&mut self) -> Result<(), Error> {
        sort_and_join(&mut self.train.records);
        sort_and_join(&mut self.validation.records);
        let options = sst_options();
        let writer = |set| BlockWriter::new(set, &self.spill, &options);
        let [mut train, mut validation, mut shadowed] = Set::ALL.map(writer);
        let sides = Sides::new(
            Merged::new(self.runs(&self.train, &[Set::Train])?)?,
            Merged::new(self.runs(&self.validation, &[Set::Validation, Set::Shadowed])?)?,
        );
        for side in sides {
            match side? {
                Side::Train(record) => train.push(&record)?,
                Side::Validation(record) => validation.push(&record)?,
                Side::Both(record, hidden) => {
                    train.push(&record)?;
                    shadowed.push(&hidden)?;
                }
            }
        }
        let sets = vec![train.finish()?, validation.finish()?, shadowed.finish()?];
        let [train, validation, shadowed] = [&sets[0], &sets[1], &sets[2]].map(|set| set.records);
        self.manifest.counts = Counts {
            positions_train: train,
            positions_validation: validation,
            seen_on_both_sides: shadowed,
            duplicates_merged: self.manifest.tally.labels - train - validation - shadowed,
        };
        let digests: Vec<&str> = sets.iter().map(|set| set.digest.as_str()).collect();
        self.manifest.fingerprint = hex(&Sha256::digest(digests.concat()));
        self.manifest.generation = self.sealed.map_or(0, |generation| generation + 1);
        self.store.commit(&self.manifest, sets)
    }

    /// All sorted runs of one side: spilled, in memory, and sealed before.
    fn runs<'a>(&'a self, pending: &'a Pending, sealed: &[Set]) -> Result<Vec<Run<'a>>, Error> {
        let mut runs: Vec<Run> = Vec::new();
        for run in &pending.runs {
            runs.push(run.read()?);
        }
        runs.push(Box::new(pending.records.iter().copied().map(Ok)));
        if let Some(generation) = self.sealed {
            for &set in sealed {
                let keys = self.store.block_keys(set, generation)?;
                let blocks = keys.into_iter().flat_map(move |key| {
                    let mut records = Vec::new();
                    match self.store.read_block(set, generation, key, &mut records) {
                        Ok(()) => records.into_iter().map(|r| Ok(Keyed::new(r))).collect(),
                        Err(error) => vec![Err(error)],
                    }
                });
                runs.push(Box::new(blocks));
            }
        }
        Ok(runs)
    }
}

impl SpilledRun {
    /// Writes sorted records to a file in `folder`.
    fn write(
        folder: &Path,
        split: Split,
        number: usize,
        tier: u32,
        records: impl Iterator<Item = Result<Keyed, Error>>,
    ) -> Result<SpilledRun, Error> {
        let file = folder.join(format!("{split:?}-{number}.run"));
        let unwritable = || Error::unwritable(&file);
        let created = File::create(&file).map_err(unwritable())?;
        let mut writer = BufWriter::with_capacity(1 << 20, created);
        for keyed in records {
            let keyed = keyed?;
            writer
                .write_all(&keyed.key.to_le_bytes())
                .and_then(|()| writer.write_all(keyed.record.as_bytes()))
                .map_err(unwritable())?;
        }
        writer.flush().map_err(unwritable())?;
        Ok(SpilledRun { file, tier })
    }

    fn read(&self) -> Result<Run<'static>, Error> {
        let path = self.file.clone();
        let file = File::open(&path).map_err(Error::inaccessible(&path))?;
        let bytes = file.metadata().map_err(Error::inaccessible(&path))?.len();
        let mut reader = BufReader::with_capacity(1 << 16, file);
        Ok(Box::new((0..bytes / ENTRY_BYTES as u64).map(move |_| {
            let mut key = [0; 8];
            let mut record = [0; Record::BYTES];
            reader
                .read_exact(&mut key)
                .and_then(|()| reader.read_exact(&mut record))
                .map_err(Error::inaccessible(&path))?;
            Ok(Keyed {
                key: u64::from_le_bytes(key),
                record: Record::from_trusted(record),
            })
        })))
    }
}
