//! Builder of a dataset: an external merge sort by position.
//!
//! Records are collected in memory. Each million is sorted and appended to the spill file as a run;
//! then one atomic write commits the progress of the sources, from which an interrupted build
//! resumes. At the end the runs and the sealed blocks are merged, one key range after another, into
//! a new generation of blocks, which one atomic write makes current. Until then the old generation
//! stays valid.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use host::ExitCode;
use host::archive::changes;
use rayon::prelude::*;

use crate::Error;
use crate::reading::{Batch, Finished, Reading, resume};
use crate::source::{DigestTree, PartOf, Source, SourceError, granules_of, identity};
use crate::store::build_progress::{BuildProgress, SourceFailure};
use crate::store::database::{SealedSet, SetWriter, Store};
use crate::store::merge::{Merged, Runs, merge};
use crate::store::ranges::{self, RANGES};
use crate::store::set::Set;
use crate::store::sources;
use crate::store::spill::{Run, Sorted, SpillFile};
use crate::store::{Dataset, Manifest, Shard, SourceEntry, StoreError};
use records::position::{BLOCK_RECORDS, Record, Row};
use records::selection::{Filters, SourceCounts};

/// Records held in memory before a run is spilled: 32 MiB, and less in tests, which interrupt
/// builds behind a spill: in unit tests, and in programs with assertions.
const SPILL_RECORDS: usize = match (cfg!(test), cfg!(debug_assertions)) {
    (true, _) => 1 << 10,
    (false, true) => 1 << 17,
    (false, false) => 1 << 20,
};

/// Maximum time between spills, which limits the work lost by an interruption.
const SPILL_INTERVAL: Duration = Duration::from_secs(5);

/// Minimum records per merge step.
const MERGE_RECORDS: u64 = 1 << 16;

/// Minimum records per merge step for each sealed set: its blocks that extend across the ends of a
/// step are unpacked twice.
const SEALED_STEP_RECORDS: u64 = 4 * BLOCK_RECORDS as u64;

/// Treatment of another command's unfinished build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// Keep it, and refuse the new build.
    Keep,
    /// Discard it.
    Discard,
}

/// Adds sources to a dataset.
pub struct Builder<R = Record> {
    store: Store,
    path: PathBuf,
    folder: PathBuf,
    spill: SpillFile,
    manifest: Manifest,
    sealed: Option<u64>,
    progress: BuildProgress,
    train: Vec<R>,
    validation: Vec<R>,
    /// Memory for the next records.
    spare: Vec<R>,
    spilling: Option<Spilling<R>>,
    last_spill: Instant,
    forgot: bool,
    /// Whether a sealed source has a new name.
    renamed: bool,
    /// Datasets to merge into this one.
    others: Vec<Dataset<R>>,
    /// The shard of the result to write; `None` for all of it.
    shard: Option<PartOf>,
}

/// A run being written, with the progress to commit after it.
struct Spilling<R> {
    thread: JoinHandle<Result<Spilled<R>, StoreError>>,
    progress: BuildProgress,
}

/// A run that was written.
struct Spilled<R> {
    train: Run,
    validation: Run,
    /// Memory of the records, for reuse.
    buffer: Vec<R>,
}

impl Builder {
    /// Opens a dataset of evaluations to add `sources`, creating it if missing. Resumes an interrupted build of
    /// the same sources.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if another process writes to it, [`StoreError::OtherKind`] if it holds
    /// something else, [`StoreError::OtherFilters`] if it was made with other filters,
    /// [`StoreError::UnfinishedBuild`] if a build of other sources was interrupted.
    pub fn open(path: &Path, filters: Filters, sources: &[PathBuf]) -> Result<Builder, StoreError> {
        Builder::open_part(path, filters, sources, None, Unfinished::Keep)
    }
}

impl<R: Row> Builder<R> {
    /// Variant of [`Builder::open`] for any rows, for one part of each source, and with a choice
    /// for an unfinished build of other sources.
    ///
    /// # Errors
    /// As [`Builder::open`].
    pub fn open_part(
        path: &Path,
        filters: Filters,
        sources: &[PathBuf],
        part: Option<PartOf>,
        other: Unfinished,
    ) -> Result<Builder<R>, StoreError> {
        let names: Vec<String> = sources.iter().map(|source| identity(source)).collect();
        Builder::open_named(path, filters, &names, part, &[], other)
    }

    /// Variant of [`Builder::open_part`] by the identities of the sources. Before an unfinished
    /// build is discarded, it checks that the entries `added` fit the sealed sources.
    fn open_named(
        path: &Path,
        filters: Filters,
        names: &[String],
        part: Option<PartOf>,
        added: &[SourceEntry],
        other: Unfinished,
    ) -> Result<Builder<R>, StoreError> {
        let store = Store::open_to_write(path)?;
        let sealed = store.manifest()?;
        let generation = sealed.as_ref().map(|manifest| manifest.generation);
        let manifest = sealed.unwrap_or_else(|| Manifest::new(R::KIND, filters.clone()));
        manifest.check_kind(R::KIND, path)?;
        if let Some(shard) = &manifest.shard {
            return Err(StoreError::LoneShard {
                path: path.to_path_buf(),
                part: shard.part,
            });
        }
        if manifest.filters != filters {
            return Err(StoreError::OtherFilters {
                path: path.to_path_buf(),
                changes: changes(&manifest.filters, &filters),
            });
        }
        if !added.is_empty() {
            manifest.clone().add_sources(added.iter().cloned())?;
        }
        let fresh = BuildProgress::new(R::KIND, filters, names, part);
        let folder = path.join("spill");
        let mut forgot = false;
        let stored = store.progress()?;
        let is_whole = |stored: &BuildProgress| SpillFile::holds(&folder, stored.spilled_bytes());
        let progress = match stored {
            None => fresh,
            Some(stored) if stored.is_of_same_command(&fresh) && is_whole(&stored) => stored,
            Some(stored) if other == Unfinished::Keep && stored.has_work() && is_whole(&stored) => {
                return Err(StoreError::UnfinishedBuild {
                    path: path.to_path_buf(),
                    sources: stored.source_list(),
                });
            }
            Some(_) => {
                store.forget_progress()?;
                forgot = true;
                fresh
            }
        };
        Ok(Builder {
            spill: SpillFile::open(&folder, progress.spilled_bytes())?,
            store,
            path: path.to_path_buf(),
            folder,
            manifest,
            sealed: generation,
            progress,
            train: Vec::new(),
            validation: Vec::new(),
            spare: Vec::new(),
            spilling: None,
            last_spill: Instant::now(),
            forgot,
            renamed: false,
            others: Vec::new(),
            shard: None,
        })
    }

    /// Opens a dataset to merge others into it, creating it if missing. Datasets without any new
    /// source are dropped.
    ///
    /// # Errors
    /// As [`Builder::open`]; [`StoreError::UnlikeFilters`] if their filters differ;
    /// [`StoreError::UnfitParts`].
    pub fn to_merge(
        path: &Path,
        datasets: Vec<Dataset<R>>,
        other: Unfinished,
    ) -> Result<Builder<R>, StoreError> {
        // Fails before the folder is made if the datasets do not fit each other.
        let Manifest { filters, .. } = Builder::merged_manifest(&datasets)?;
        let sources = |dataset: &Dataset<R>| dataset.manifest().sources.clone();
        let added: Vec<SourceEntry> = datasets.iter().flat_map(sources).collect();
        let mut builder = Builder::open_named(path, filters, &[], None, &added, other)?;
        for dataset in datasets {
            let known = |entry| sources::with_content(builder.entries(), entry).is_some();
            let sources = sources(&dataset);
            if sources.iter().all(known) {
                sources.iter().for_each(|entry| builder.name(entry));
            } else {
                builder.progress.entries.extend(sources);
                builder.others.push(dataset);
            }
        }
        Ok(builder)
    }

    /// Returns the common filters of the datasets.
    fn common_filters(datasets: &[Dataset<R>]) -> Result<Filters, StoreError> {
        for dataset in datasets {
            dataset.check_like(&datasets[0])?;
        }
        let first = datasets.first();
        Ok(first.map_or_else(Filters::default, |first| first.manifest().filters.clone()))
    }

    /// Returns the manifest of a merge without counts and fingerprint.
    pub(super) fn merged_manifest(datasets: &[Dataset<R>]) -> Result<Manifest, StoreError> {
        let mut manifest = Manifest::new(R::KIND, Builder::common_filters(datasets)?);
        let sources = |dataset: &Dataset<R>| dataset.manifest().sources.clone();
        manifest.add_sources(datasets.iter().flat_map(sources))?;
        Ok(manifest)
    }

    /// Restricts the merge to one shard of the result.
    pub(super) fn for_shard(self, part: PartOf) -> Builder<R> {
        Builder {
            shard: Some(part),
            ..self
        }
    }

    /// Number of datasets that will be merged in.
    pub fn others(&self) -> usize {
        self.others.len()
    }

    /// Returns whether an unfinished build was discarded: its sources or filters differ, or its
    /// runs are lost.
    pub fn forgot(&self) -> bool {
        self.forgot
    }

    /// Index of the next source to read.
    pub fn next_source(&self) -> usize {
        self.progress.done
    }

    /// Filters of the dataset.
    pub fn filters(&self) -> &Filters {
        &self.manifest.filters
    }

    /// Counts of the next source, if an interrupted build had begun it.
    pub fn resumed(&self) -> Option<&SourceCounts> {
        self.progress
            .checkpoint
            .as_ref()
            .map(|_| &self.progress.tally)
    }

    /// Opens the next source at the point where the interrupted build stopped.
    ///
    /// # Errors
    /// As [`Source::open`]; [`SourceError::OtherSource`] if it has changed.
    pub fn open_source(&self, path: &Path) -> Result<Reading, SourceError> {
        self.opener(path)()
    }

    /// Returns [`Builder::open_source`] as a closure for another thread: it reads the finished part
    /// of the source again, and may block on a pipe.
    pub fn opener(
        &self,
        path: &Path,
    ) -> impl FnOnce() -> Result<Reading, SourceError> + Send + use<R> + 'static {
        let (path, checkpoint) = (path.to_path_buf(), self.progress.checkpoint.clone());
        let part = self.progress.part;
        move || match (checkpoint, part) {
            (Some(checkpoint), _) => resume(&path, checkpoint, part),
            (None, Some(part)) => Ok(Source::open_part(&path, part)?.into()),
            (None, None) => Ok(Source::open(&path)?.into()),
        }
    }

    /// Returns the known source with this digest, damaged or not.
    pub fn known_source(&self, digest: &str) -> Option<&SourceEntry> {
        sources::with_digest(self.entries(), digest)
    }

    /// Looks up an open part of a source among the known parts and sources; `None` if it is
    /// certainly new. Otherwise the returned closure digests the part, which may take a while, and
    /// completes the lookup.
    ///
    /// # Errors
    /// [`StoreError::UnfitParts`] if a known part overlaps with it.
    pub fn known_part(
        &self,
        source: &Source,
    ) -> Result<
        Option<impl FnOnce() -> Result<Option<SourceEntry>, SourceError> + Send + use<R> + 'static>,
        StoreError,
    > {
        let (Some(range), Some(bytes)) = (source.range(), source.size()) else {
            return Ok(None);
        };
        let of = (bytes, source.head());
        let candidates = sources::that_may_have(self.entries(), of, &range)?;
        let candidates: Vec<SourceEntry> = candidates.into_iter().cloned().collect();
        let path = source.path().to_path_buf();
        Ok((!candidates.is_empty()).then_some(move || {
            let granules = granules_of(&path, range.clone(), bytes)?;
            let mut candidates = candidates.into_iter();
            Ok(candidates.find(|entry| entry.has_granules(&range, &granules)))
        }))
    }

    /// Returns whether any known source has this size; otherwise a file is certainly new.
    pub fn knows_size(&self, bytes: u64) -> bool {
        self.entries().any(|source| source.bytes == bytes)
    }

    fn entries(&self) -> impl Iterator<Item = &SourceEntry> {
        self.manifest.sources.iter().chain(&self.progress.entries)
    }

    /// Adds a batch of the current source.
    ///
    /// # Errors
    /// [`StoreError::Unwritable`] if a run cannot be spilled.
    pub fn add(&mut self, batch: Batch<R>) -> Result<(), Error> {
        self.train.extend(batch.train);
        self.validation.extend(batch.validation);
        self.progress.tally.add(&batch.tally);
        if let Some(checkpoint) = batch.checkpoint {
            let full = self.train.len() + self.validation.len() >= SPILL_RECORDS;
            if full || self.last_spill.elapsed() >= SPILL_INTERVAL {
                self.progress.checkpoint = Some(checkpoint);
                self.spill()?;
            }
        }
        if self
            .spilling
            .as_ref()
            .is_some_and(|spilling| spilling.thread.is_finished())
        {
            self.commit_spill()?;
        }
        Ok(())
    }

    /// Counts of the current source so far.
    pub fn tally(&self) -> &SourceCounts {
        &self.progress.tally
    }

    /// Ends the current source. Returns the existing entry, and adds none, if the content is known.
    pub fn end_source(&mut self, name: &str, finished: Finished) -> Option<SourceEntry> {
        let tally = std::mem::take(&mut self.progress.tally);
        let entry = SourceEntry::new(name, finished, tally);
        let known = sources::with_content(self.entries(), &entry).cloned();
        match &known {
            None => self.progress.entries.push(entry),
            Some(_) => self.name(&entry),
        }
        self.skip_source();
        known
    }

    /// Skips the current source, which is known as `known` under another name.
    pub fn skip_known(&mut self, known: &SourceEntry, name: &str) {
        let name = name.to_string();
        self.name(&SourceEntry {
            name,
            ..known.clone()
        });
        self.skip_source();
    }

    /// Gives known sources with this entry's content its name if that is smaller, which makes names
    /// independent of the order of sources.
    fn name(&mut self, entry: &SourceEntry) {
        let Manifest { sources, .. } = &mut self.manifest;
        for known in sources.iter_mut().chain(&mut self.progress.entries) {
            let is_first = sources::name_rank(&entry.name) < sources::name_rank(&known.name);
            if is_first && (known.is_same(entry) || known.has(entry)) {
                known.name.clone_from(&entry.name);
                self.renamed = true;
            }
        }
    }

    /// Skips the current source: it is known or unreadable.
    pub fn skip_source(&mut self) {
        self.progress.done += 1;
        self.progress.checkpoint = None;
        self.progress.tally = SourceCounts::default();
    }

    /// Records that a source failed or was incomplete. The first error is kept in the progress, so
    /// that an interruption does not hide it.
    pub fn note_failure(&mut self, error: &Error) {
        self.progress.failure.get_or_insert_with(|| SourceFailure {
            message: error.to_string(),
            exit_code: error.exit_code() as u8,
        });
    }

    /// Returns the first recorded error, also from before an interruption.
    pub fn failure(&self) -> Option<Error> {
        let SourceFailure { message, exit_code } = self.progress.failure.clone()?;
        let exit_code = ExitCode::of(exit_code).unwrap_or(ExitCode::Other);
        Some(Error::Noted { message, exit_code })
    }

    /// Discards everything since the last sealing.
    ///
    /// # Errors
    /// [`StoreError::Unwritable`].
    pub fn restart(mut self) -> Result<Builder<R>, StoreError> {
        // The spill thread must not write to the file that the new builder truncates.
        self.commit_spill()?;
        let Builder {
            store,
            path,
            progress,
            ..
        } = self;
        store.forget_progress()?;
        drop(store);
        let BuildProgress {
            filters,
            names,
            part,
            ..
        } = progress;
        Builder::open_named(&path, filters, &names, part, &[], Unfinished::Keep)
    }

    /// Starts writing the records in memory.
    fn spill(&mut self) -> Result<(), StoreError> {
        self.commit_spill()?;
        self.last_spill = Instant::now();
        if self.train.is_empty() && self.validation.is_empty() {
            return self.store.set_progress(&self.progress);
        }
        let train = std::mem::replace(&mut self.train, std::mem::take(&mut self.spare));
        let validation = std::mem::take(&mut self.validation);
        let (spill, offset) = (self.spill.clone(), self.progress.spilled_bytes());
        self.spilling = Some(Spilling {
            thread: std::thread::spawn(move || {
                let sorted = (Sorted::new(train), Sorted::new(validation));
                let [train, validation] = spill.append(offset, [&sorted.0, &sorted.1])?;
                Ok(Spilled {
                    train,
                    validation,
                    buffer: sorted.0.into_buffer(),
                })
            }),
            progress: self.progress.clone(),
        });
        Ok(())
    }

    /// Waits for the run being written, and commits it.
    fn commit_spill(&mut self) -> Result<(), StoreError> {
        let Some(Spilling {
            thread,
            mut progress,
        }) = self.spilling.take()
        else {
            return Ok(());
        };
        let spilled = thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        self.spare = spilled.buffer;
        self.spare.clear();
        for progress in [&mut progress, &mut self.progress] {
            progress.train.push(spilled.train);
            progress.validation.push(spilled.validation);
        }
        self.store.set_progress(&progress)
    }

    /// Keeps the spilled runs for a later build.
    ///
    /// # Errors
    /// [`StoreError::Unwritable`].
    pub fn pause(mut self) -> Result<(), StoreError> {
        self.commit_spill()
    }

    /// Returns whether nothing is sealed and no source was added.
    pub fn is_empty(&self) -> bool {
        self.sealed.is_none() && self.progress.entries.is_empty()
    }

    /// Removes the files of a dataset without sources, and the folder if this builder created it.
    ///
    /// # Errors
    /// [`StoreError::Unwritable`] if something cannot be removed.
    pub fn abandon(mut self) -> Result<(), StoreError> {
        // The spill thread must not write to the file that is removed.
        self.commit_spill()?;
        if self.is_empty() {
            SpillFile::remove(&self.folder)?;
            self.store.abandon()?;
        }
        Ok(())
    }

    /// Merges everything into a new generation of sealed blocks and commits it. A dataset without
    /// new sources is unchanged. Returns the final manifest.
    ///
    /// # Errors
    /// [`StoreError::Unwritable`], for instance on a full disk; the dataset is then unchanged.
    pub fn finish(self) -> Result<Manifest, Error> {
        self.finish_unless_stopped(&AtomicBool::new(false))
    }

    /// Variant of [`Builder::finish`] that stops when `stop` is set; the dataset is then unchanged,
    /// and the next builder resumes after the last spilled run.
    ///
    /// # Errors
    /// As [`Builder::finish`]; [`Error::Stopped`].
    pub fn finish_unless_stopped(mut self, stop: &AtomicBool) -> Result<Manifest, Error> {
        self.commit_spill()?;
        if self.sealed.is_none() || !self.progress.entries.is_empty() {
            self.seal(stop)?;
        } else if self.renamed {
            self.store.commit_manifest(&self.manifest)?;
        } else {
            self.store.forget_progress()?;
        }
        SpillFile::remove(&self.folder)?;
        Ok(self.manifest)
    }

    fn seal(&mut self, stop: &AtomicBool) -> Result<(), Error> {
        self.spare = Vec::new();
        let train = Sorted::new(std::mem::take(&mut self.train));
        let validation = Sorted::new(std::mem::take(&mut self.validation));
        let entries = std::mem::take(&mut self.progress.entries);
        self.manifest.add_sources(entries)?;
        let train = self.side(&train, &self.progress.train, &[Set::Train])?;
        let held_out = [Set::Validation, Set::Shadowed];
        let validation = self.side(&validation, &self.progress.validation, &held_out)?;
        let ranges = self.shard.map_or(0..RANGES, ranges::of_shard);
        let mut sets = Set::ALL.map(|set| SetWriter::new(set, &self.folder, ranges.clone()));
        let room = self.manifest.filters.max_positions;
        write(&train, &validation, ranges, room, stop, &mut sets)?;
        let [train, validation, shadowed] = sets;
        let sets = vec![train.finish()?, validation.finish()?, shadowed.finish()?];
        let each = [&sets[0], &sets[1], &sets[2]];
        let (records, trees) = (
            each.map(|set| set.records),
            each.map(|set| set.tree.clone()),
        );
        match self.shard {
            Some(part) => {
                let nodes = Some(trees.map(DigestTree::into_nodes));
                self.manifest.shard = Some(Shard {
                    part,
                    records,
                    nodes,
                });
            }
            None => {
                let sealed = self
                    .manifest
                    .seal(records, &trees.map(DigestTree::into_root));
                let more = || "it has more positions than labels".to_string();
                sealed.ok_or_else(|| self.store.corrupt(more()))?;
            }
        }
        self.manifest.tool = Manifest::this_tool();
        self.manifest.generation = self.sealed.map_or(0, |generation| generation + 1);
        Ok(self.store.commit(&self.manifest, sets)?)
    }

    /// Collects all runs of one side of the split.
    fn side<'a>(
        &'a self,
        memory: &'a Sorted<R>,
        spilled: &'a [Run],
        sealed: &[Set],
    ) -> Result<SideRuns<'a, R>, StoreError> {
        let own = self.sealed.map(|generation| (&self.store, generation));
        let others = self.others.iter().flat_map(Dataset::sealed);
        let sealed = own
            .into_iter()
            .chain(others)
            .flat_map(|(store, generation)| {
                let sets = sealed.iter();
                sets.map(move |&set| store.sealed(set, generation))
            });
        Ok(SideRuns {
            memory,
            spill: &self.spill,
            spilled,
            sealed: sealed.collect::<Result<_, _>>()?,
        })
    }
}

/// All runs of one side of the split: in memory, spilled and sealed.
struct SideRuns<'a, R> {
    memory: &'a Sorted<R>,
    spill: &'a SpillFile,
    spilled: &'a [Run],
    sealed: Vec<SealedSet<'a>>,
}

impl<R: Row> Runs<R> for SideRuns<'_, R> {
    fn least_step(&self) -> u64 {
        SEALED_STEP_RECORDS * self.sealed.len() as u64
    }

    fn len(&self) -> u64 {
        let spilled: u64 = self.spilled.iter().map(Run::len).sum();
        let sealed: u64 = self.sealed.iter().map(SealedSet::len).sum();
        self.memory.len() as u64 + spilled + sealed
    }

    fn read(&self, ranges: &Range<usize>, records: &mut Vec<R>) -> Result<(), StoreError> {
        for set in &self.sealed {
            set.read(ranges, records)?;
        }
        for run in self.spilled {
            self.spill.read(run, ranges, records)?;
        }
        records.extend(self.memory.within(ranges));
        Ok(())
    }
}

/// Merges the ranges in key order, up to `room` positions, and writes the sets of [`Set::ALL`].
fn write<R: Row>(
    train: &impl Runs<R>,
    validation: &impl Runs<R>,
    ranges: Range<usize>,
    mut room: Option<u64>,
    stop: &AtomicBool,
    sets: &mut [SetWriter<R>; 3],
) -> Result<(), Error> {
    let records = (train.len() + validation.len()).max(1);
    let least = train.least_step() + validation.least_step();
    let step = RANGES as u64 * least.max(MERGE_RECORDS) / records;
    let step = step.clamp(1, RANGES as u64) as usize;
    let starts: Vec<usize> = ranges.clone().step_by(step).collect();
    let merge_all = |starts: &[usize]| {
        let merged = starts.par_iter().map(|&start| {
            let end = (start + step).min(ranges.end);
            merge(train, validation, &(start..end))
        });
        merged.collect::<Result<Vec<Merged<R>>, StoreError>>()
    };
    let mut put = |merged: Vec<Merged<R>>| {
        merged.into_iter().try_for_each(|mut merged| {
            if let Some(room) = &mut room {
                *room -= merged.truncate(*room);
            }
            let mut pairs = sets.iter_mut().zip(merged.into_sets());
            pairs.try_for_each(|(set, records)| set.push(&records))
        })
    };
    let mut ready = Vec::new();
    for starts in starts.chunks(rayon::current_num_threads()) {
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        // The single-threaded part of `put` overlaps with the next merge.
        let (put, next) = rayon::join(|| put(std::mem::take(&mut ready)), || merge_all(starts));
        put?;
        ready = next?;
    }
    Ok(put(ready)?)
}

#[cfg(test)]
mod tests;
