//! Making a dataset, or adding to one: an external sort by position.
//!
//! Records gather in memory. Each million is sorted and appended to the spill
//! file as a run, and then one atomic write commits how far the sources have
//! been read: from there an interrupted build goes on. At the end the runs and
//! what was sealed before are merged, range of keys by range of keys, into a
//! new generation of blocks, which one atomic write makes the sealed one.
//! Until then the old generation stands.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use host::ExitCode;
use host::archive::changes;
use rayon::prelude::*;

use crate::Error;
use crate::input::{PartOf, Source, Tree, granules_of, identity};
use crate::reading::{Batch, Finished, Reading, resume};
use crate::store::build_progress::{BuildProgress, SourceFailure};
use crate::store::database::{SealedSet, SetWriter, Store};
use crate::store::merge::{Merged, Runs, merge};
use crate::store::ranges::{self, RANGES};
use crate::store::set::Set;
use crate::store::sources;
use crate::store::spill::{Run, Sorted, SpillFile};
use crate::store::{Dataset, FORMAT_VERSION, Manifest, Shard, SourceEntry};
use records::position::{BLOCK_RECORDS, Record};
use records::selection::{Filters, SourceCounts};

/// Records held in memory before a run is spilled: 32 MiB.
const SPILL_RECORDS: usize = if cfg!(test) { 1 << 10 } else { 1 << 20 };

/// A run is spilled at the latest after this time, so that little is lost with
/// a build that is interrupted.
const SPILL_INTERVAL: Duration = Duration::from_secs(5);

/// Records that are merged in one go.
const MERGE_RECORDS: u64 = 1 << 16;

/// Or so many for each sealed set that is merged: of each, blocks are unpacked which
/// reach into what comes before and behind.
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
pub struct Builder {
    store: Store,
    path: PathBuf,
    folder: PathBuf,
    spill: SpillFile,
    manifest: Manifest,
    sealed: Option<u64>,
    progress: BuildProgress,
    train: Vec<Record>,
    validation: Vec<Record>,
    /// Memory to gather in next.
    spare: Vec<Record>,
    spilling: Option<Spilling>,
    last_spill: Instant,
    forgot: bool,
    /// Whether a sealed source has got another name.
    renamed: bool,
    /// Datasets to be merged with it.
    others: Vec<Dataset>,
    /// Which shard of the outcome is made, if not all.
    shard: Option<PartOf>,
}

/// A run that is being written, with what is committed then.
struct Spilling {
    thread: JoinHandle<Result<Spilled, Error>>,
    progress: BuildProgress,
}

/// A run that was written.
struct Spilled {
    train: Run,
    validation: Run,
    /// The memory that the records were in.
    buffer: Vec<Record>,
}

impl Builder {
    /// Opens a dataset to add `sources` to it, or makes a new one. Where the
    /// last build of the same sources was interrupted, this one goes on with
    /// it.
    ///
    /// # Errors
    /// [`Error::Locked`] if another process writes to it,
    /// [`Error::OtherFilters`] if it was made with other filters,
    /// [`Error::UnfinishedBuild`] if a build of other sources was interrupted.
    pub fn open(path: &Path, filters: Filters, sources: &[PathBuf]) -> Result<Builder, Error> {
        Builder::open_part(path, filters, sources, None, Unfinished::Keep)
    }

    /// The same, to add only a part of each source, and with what is to be done with an
    /// unfinished build of other sources.
    ///
    /// # Errors
    /// As [`Builder::open`].
    pub fn open_part(
        path: &Path,
        filters: Filters,
        sources: &[PathBuf],
        part: Option<PartOf>,
        other: Unfinished,
    ) -> Result<Builder, Error> {
        let names: Vec<String> = sources.iter().map(|source| identity(source)).collect();
        Builder::open_named(path, filters, &names, part, other)
    }

    /// The same, with what the sources are known by.
    fn open_named(
        path: &Path,
        filters: Filters,
        names: &[String],
        part: Option<PartOf>,
        other: Unfinished,
    ) -> Result<Builder, Error> {
        let store = Store::open_to_write(path)?;
        let sealed = store.manifest()?;
        let generation = sealed.as_ref().map(|manifest| manifest.generation);
        let manifest = sealed.unwrap_or_else(|| Manifest::new(filters.clone()));
        if let Some(shard) = &manifest.shard {
            return Err(Error::LoneShard {
                path: path.to_path_buf(),
                part: shard.part,
            });
        }
        if manifest.filters != filters {
            return Err(Error::OtherFilters {
                path: path.to_path_buf(),
                changes: changes(&manifest.filters, &filters),
            });
        }
        let fresh = BuildProgress::new(filters, names, part);
        let folder = path.join("spill");
        let mut forgot = false;
        let stored = store.progress()?;
        let is_whole = |stored: &BuildProgress| SpillFile::holds(&folder, stored.spilled_bytes());
        let progress = match stored {
            None => fresh,
            Some(stored) if stored.is_of_same_command(&fresh) && is_whole(&stored) => stored,
            Some(stored) if other == Unfinished::Keep && stored.has_work() && is_whole(&stored) => {
                return Err(Error::UnfinishedBuild {
                    path: path.to_path_buf(),
                    sources: stored.told(),
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

    /// Opens a dataset to merge others with it, or makes a new one. Those whose
    /// sources it has already are dropped.
    ///
    /// # Errors
    /// As [`Builder::open`]; [`Error::OtherVersion`]; [`Error::UnlikeFilters`] if they were
    /// made with different filters, [`Error::UnfitParts`].
    pub fn to_merge(
        path: &Path,
        datasets: Vec<Dataset>,
        other: Unfinished,
    ) -> Result<Builder, Error> {
        let filters = Builder::common_filters(&datasets)?;
        let mut builder = Builder::open_part(path, filters, &[], None, other)?;
        let sources = |dataset: &Dataset| dataset.manifest().sources.clone();
        let mut manifest = builder.manifest.clone();
        if let Err(error) = manifest.add_sources(datasets.iter().flat_map(sources)) {
            builder.abandon()?;
            return Err(error);
        }
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

    /// The filters of datasets that are to be merged.
    fn common_filters(datasets: &[Dataset]) -> Result<Filters, Error> {
        for dataset in datasets {
            dataset.check_like(&datasets[0])?;
        }
        let first = datasets.first();
        Ok(first.map_or_else(Filters::default, |first| first.manifest().filters.clone()))
    }

    /// What is known of the outcome of a merge before its positions are.
    pub(super) fn merged_manifest(datasets: &[Dataset]) -> Result<Manifest, Error> {
        let mut manifest = Manifest::new(Builder::common_filters(datasets)?);
        let sources = |dataset: &Dataset| dataset.manifest().sources.clone();
        manifest.add_sources(datasets.iter().flat_map(sources))?;
        Ok(manifest)
    }

    /// Makes one shard of the outcome only.
    pub(super) fn for_shard(self, part: PartOf) -> Builder {
        Builder {
            shard: Some(part),
            ..self
        }
    }

    /// How many datasets are to be merged with it.
    pub fn others(&self) -> usize {
        self.others.len()
    }

    /// Whether there was an unfinished build, and it was forgotten: it was of
    /// other sources or with other filters, or its runs are gone.
    pub fn forgot(&self) -> bool {
        self.forgot
    }

    /// The source that comes next, by its number; those before are done with.
    pub fn next_source(&self) -> usize {
        self.progress.done
    }

    /// The filters of the dataset.
    pub fn filters(&self) -> &Filters {
        &self.manifest.filters
    }

    /// What has been counted of that source, if it was begun before.
    pub fn resumed(&self) -> Option<&SourceCounts> {
        self.progress
            .checkpoint
            .as_ref()
            .map(|_| &self.progress.tally)
    }

    /// Opens the next source, where the interrupted build left it.
    ///
    /// # Errors
    /// As [`Source::open`]; [`Error::OtherSource`] if it is not as it was.
    pub fn open_source(&self, path: &Path) -> Result<Reading, Error> {
        self.opener(path)()
    }

    /// What [`Builder::open_source`] does, to be done elsewhere: it reads the
    /// part of the source that is behind it again, and may wait for a pipe.
    pub fn opener(
        &self,
        path: &Path,
    ) -> impl FnOnce() -> Result<Reading, Error> + Send + use<> + 'static {
        let (path, checkpoint) = (path.to_path_buf(), self.progress.checkpoint.clone());
        let part = self.progress.part;
        move || match (checkpoint, part) {
            (Some(checkpoint), _) => resume(&path, checkpoint, part),
            (None, Some(part)) => Ok(Source::open_part(&path, part)?.into()),
            (None, None) => Ok(Source::open(&path)?.into()),
        }
    }

    /// The source with this digest, if it was taken in before, damaged or not.
    pub fn known_source(&self, digest: &str) -> Option<&SourceEntry> {
        sources::with_digest(self.entries(), digest)
    }

    /// Finds out whether an open part of a source was taken in before, by itself or with
    /// the whole source; `None` if it was not, for certain. Else the part is to be
    /// digested, by what is returned: that may take a while.
    ///
    /// # Errors
    /// [`Error::UnfitParts`] if a part was taken in that overlaps with it.
    pub fn known_part(
        &self,
        source: &Source,
    ) -> Result<
        Option<impl FnOnce() -> Result<Option<SourceEntry>, Error> + Send + use<> + 'static>,
        Error,
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

    /// Whether some source of this size was taken in before: if not, there is
    /// no need to digest a file to know that it is new.
    pub fn knows_size(&self, bytes: u64) -> bool {
        self.entries().any(|source| source.bytes == bytes)
    }

    fn entries(&self) -> impl Iterator<Item = &SourceEntry> {
        self.manifest.sources.iter().chain(&self.progress.entries)
    }

    /// Adds a batch of the source that is being read.
    ///
    /// # Errors
    /// [`Error::Unwritable`] if a run cannot be spilled.
    pub fn add(&mut self, batch: Batch) -> Result<(), Error> {
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

    /// What was counted so far of the source that is being read.
    pub fn tally(&self) -> &SourceCounts {
        &self.progress.tally
    }

    /// Notes that the source is done with. Returns the entry under which it is
    /// known already, if it is: then it changes nothing.
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

    /// Notes that the source is one that is known already, by the name it has now.
    pub fn skip_known(&mut self, known: &SourceEntry, name: &str) {
        let name = name.to_string();
        self.name(&SourceEntry {
            name,
            ..known.clone()
        });
        self.skip_source();
    }

    /// Gives a source that is known already the name that another entry of it has, if that
    /// is the first of its names: so it does not matter in what order they come.
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

    /// Notes that the source gives nothing: it is known, or cannot be read.
    pub fn skip_source(&mut self) {
        self.progress.done += 1;
        self.progress.checkpoint = None;
        self.progress.tally = SourceCounts::default();
    }

    /// Notes that a source gave nothing, or not all that it has. The first such
    /// error is kept with the progress: an interruption does not hide it.
    pub fn note_failure(&mut self, error: &Error) {
        self.progress.failure.get_or_insert_with(|| SourceFailure {
            message: error.to_string(),
            exit_code: error.exit_code() as u8,
        });
    }

    /// The first error that was noted, by this builder or by the one before
    /// the interruption.
    pub fn failure(&self) -> Option<Error> {
        let SourceFailure { message, exit_code } = self.progress.failure.clone()?;
        let exit_code = ExitCode::of(exit_code).unwrap_or(ExitCode::Other);
        Some(Error::Noted { message, exit_code })
    }

    /// Forgets everything since the dataset was sealed last.
    ///
    /// # Errors
    /// [`Error::Unwritable`].
    pub fn restart(mut self) -> Result<Builder, Error> {
        // It must not write to the file that the new builder empties.
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
        Builder::open_named(&path, filters, &names, part, Unfinished::Keep)
    }

    /// Starts to write what is in memory.
    fn spill(&mut self) -> Result<(), Error> {
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

    /// Waits until the run is written, and commits it.
    fn commit_spill(&mut self) -> Result<(), Error> {
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

    /// Keeps what was spilled, to go on with another time.
    ///
    /// # Errors
    /// [`Error::Unwritable`].
    pub fn pause(mut self) -> Result<(), Error> {
        self.commit_spill()
    }

    /// Whether nothing was taken in, and nothing was there before.
    pub fn is_empty(&self) -> bool {
        self.sealed.is_none() && self.progress.entries.is_empty()
    }

    /// Removes what was made for a dataset that nothing was added to, file by
    /// file, and the folder if [`Builder::open`] made it.
    ///
    /// # Errors
    /// [`Error::Unwritable`] if something cannot be removed.
    pub fn abandon(mut self) -> Result<(), Error> {
        // It must not write to the file that is removed.
        self.commit_spill()?;
        if self.is_empty() {
            SpillFile::remove(&self.folder)?;
            self.store.abandon()?;
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
    pub fn finish(self) -> Result<Manifest, Error> {
        self.finish_unless_stopped(&AtomicBool::new(false))
    }

    /// The same, until `stop` is set: then the dataset is as it was before this
    /// builder, and the next one goes on where the last run was spilled.
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
        let room = self.manifest.filters.max_positions.unwrap_or(u64::MAX);
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
                let nodes = Some(trees.map(Tree::into_nodes));
                self.manifest.shard = Some(Shard {
                    part,
                    records,
                    nodes,
                });
            }
            None => {
                let sealed = self.manifest.seal(records, &trees.map(Tree::into_root));
                let more = || "it has more positions than labels".to_string();
                sealed.ok_or_else(|| self.store.corrupt(more()))?;
            }
        }
        self.manifest.format_version = FORMAT_VERSION;
        self.manifest.tool = Manifest::this_tool();
        self.manifest.generation = self.sealed.map_or(0, |generation| generation + 1);
        self.store.commit(&self.manifest, sets)
    }

    /// Everything there is of one side of the split.
    fn side<'a>(
        &'a self,
        memory: &'a Sorted,
        spilled: &'a [Run],
        sealed: &[Set],
    ) -> Result<SideRuns<'a>, Error> {
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

/// Everything there is of one side of the split: in memory, spilled, and
/// sealed before.
struct SideRuns<'a> {
    memory: &'a Sorted,
    spill: &'a SpillFile,
    spilled: &'a [Run],
    sealed: Vec<SealedSet<'a>>,
}

impl Runs for SideRuns<'_> {
    fn least_step(&self) -> u64 {
        SEALED_STEP_RECORDS * self.sealed.len() as u64
    }

    fn len(&self) -> u64 {
        let spilled: u64 = self.spilled.iter().map(Run::len).sum();
        let sealed: u64 = self.sealed.iter().map(SealedSet::len).sum();
        self.memory.len() as u64 + spilled + sealed
    }

    fn read(&self, ranges: &Range<usize>, records: &mut Vec<Record>) -> Result<(), Error> {
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

/// Merges everything in some ranges in the order of the keys, as long as there is `room`,
/// and writes it to the sets of [`Set::ALL`].
fn write(
    train: &impl Runs,
    validation: &impl Runs,
    ranges: Range<usize>,
    mut room: u64,
    stop: &AtomicBool,
    sets: &mut [SetWriter; 3],
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
        merged.collect::<Result<Vec<Merged>, Error>>()
    };
    let mut put = |merged: Vec<Merged>| {
        merged.into_iter().try_for_each(|mut merged| {
            merged.truncate(room);
            room -= merged.len();
            let mut pairs = sets.iter_mut().zip(merged.into_sets());
            pairs.try_for_each(|(set, records)| set.push(&records))
        })
    };
    let mut ready = Vec::new();
    for starts in starts.chunks(rayon::current_num_threads()) {
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        // What one core alone can do to put the last is hidden behind the next.
        let (put, next) = rayon::join(|| put(std::mem::take(&mut ready)), || merge_all(starts));
        put?;
        ready = next?;
    }
    put(ready)
}

#[cfg(test)]
mod tests;
