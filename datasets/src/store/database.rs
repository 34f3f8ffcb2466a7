//! RocksDB storage of a dataset: column families, keys and blocks (format: `docs/dataset.md`).

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use rayon::prelude::*;
use rocksdb::{
    BlockBasedOptions, ColumnFamily, DB, DBCompressionType, IngestExternalFileOptions, LogLevel,
    Options, SstFileWriter, WriteBatch, WriteOptions,
};

use crate::source::{DigestTree, Source};
use crate::store::build_progress::BuildProgress;
use crate::store::folder::{self, Claimed};
use crate::store::ranges::{RangesDigest, range_of};
use crate::store::set::{Set, block_file_name};
use crate::store::{FORMAT_VERSION, Manifest, StoreError};
use records::position::{BLOCK_RECORDS, Keyed, Kind, MoveRecord, Record, Row};

/// Blocks per SST file: about a gigabyte.
const FILE_BLOCKS: u32 = 1 << 14;

/// Attempts to open a dataset that changes meanwhile, and the pause between them.
const OPENINGS: u32 = 100;
const OPENING_PAUSE: Duration = Duration::from_millis(10);

const META: &str = "meta";
const VERSION_KEY: &[u8] = b"format_version";
const MANIFEST_KEY: &[u8] = b"manifest";
const PROGRESS_KEY: &[u8] = b"progress";
/// Text of the game in which the progress checkpoint lies.
const CARRIED_TEXT_KEY: &[u8] = b"progress.text";

/// An open dataset folder.
pub(crate) struct Store {
    db: DB,
    path: PathBuf,
    /// Folders created to open it, innermost first.
    made: Vec<PathBuf>,
}

fn options() -> Options {
    let mut options = Options::default();
    // Blocks are already compressed.
    options.set_compression_type(DBCompressionType::None);
    // A value is a whole block, so a block cache and index inside it are useless.
    let mut table = BlockBasedOptions::default();
    table.disable_cache();
    options.set_block_based_table_factory(&table);
    // Sealed files are written once in key order, so compaction has no use.
    options.set_disable_auto_compactions(true);
    options.set_log_level(LogLevel::Error);
    options.set_keep_log_file_num(1);
    options.set_write_buffer_size(1 << 20);
    options
}

impl Store {
    /// Opens a dataset for writing, creating it in a missing or empty folder. Column families left
    /// by an interrupted build are dropped.
    pub(crate) fn open_to_write(path: &Path) -> Result<Store, StoreError> {
        let made = match folder::claim(path)? {
            Claimed::Unfinished { made } => made,
            Claimed::Database => {
                Store::open_to_read(path).map_err(|error| match error {
                    StoreError::NotADataset { path } => StoreError::Occupied {
                        path,
                        entry: folder::CURRENT.to_string(),
                    },
                    error => error,
                })?;
                Vec::new()
            }
        };
        let mut options = options();
        options.create_if_missing(true);
        options.create_missing_column_families(true);
        let mut families = match folder::has_database(path) {
            true => DB::list_cf(&options, path).map_err(|error| open_error(path, error))?,
            false => Vec::new(),
        };
        families.retain(|family| family != META && family != "default");
        let all = families.iter().map(String::as_str).chain([META]);
        let db = DB::open_cf_with_opts(
            &options,
            path,
            all.map(|f| (f, crate::store::database::options())),
        )
        .map_err(|error| open_error(path, error))?;
        let mut store = Store {
            db,
            path: path.to_path_buf(),
            made,
        };
        if store.get(VERSION_KEY)?.is_none() {
            let mut batch = WriteBatch::default();
            batch.put_cf(store.family(META)?, VERSION_KEY, FORMAT_VERSION.to_string());
            store.write(batch)?;
        }
        store.check_version()?;
        let generation = store.manifest()?.map(|manifest| manifest.generation);
        if generation.is_some() {
            store.unmark()?;
        }
        for family in families {
            let current = Set::ALL
                .iter()
                .any(|s| Some(&family) == generation.map(|g| s.family(g)).as_ref());
            if !current {
                store
                    .db
                    .drop_cf(&family)
                    .map_err(StoreError::unwritable(path))?;
            }
        }
        Ok(store)
    }

    /// Opens a dataset for reading, without disturbing a process that writes to it. Retries if the
    /// files change during the opening.
    pub(crate) fn open_to_read(path: &Path) -> Result<Store, StoreError> {
        for _ in 0..OPENINGS {
            let before = folder::sizes(path);
            match Store::try_to_read(path) {
                // The files were read at two different moments.
                Err(StoreError::Corrupt { .. } | StoreError::Inaccessible { .. })
                    if folder::sizes(path) != before =>
                {
                    thread::sleep(OPENING_PAUSE);
                }
                opened => return opened,
            }
        }
        Store::try_to_read(path)
    }

    fn try_to_read(path: &Path) -> Result<Store, StoreError> {
        let not_a_dataset = || folder::no_dataset(path, None);
        std::fs::metadata(path).map_err(|error| match Source::is_url(path) {
            true => StoreError::NotLocal {
                path: Source::shown(path),
            },
            false => StoreError::unreadable(path)(error),
        })?;
        if !folder::has_database(path) {
            return Err(not_a_dataset());
        }
        let options = options();
        let families = DB::list_cf(&options, path).map_err(|error| open_error(path, error))?;
        if !families.iter().any(|family| family == META) {
            return Err(not_a_dataset());
        }
        let db = DB::open_cf_for_read_only(&options, path, families, false)
            .map_err(|error| open_error(path, error))?;
        let store = Store {
            db,
            path: path.to_path_buf(),
            made: Vec::new(),
        };
        store.check_version()?;
        store.check_sets()?;
        Ok(store)
    }

    /// Checks that the sets of the manifest exist, with the expected number of blocks.
    fn check_sets(&self) -> Result<(), StoreError> {
        let Some(manifest) = self.manifest()? else {
            return Ok(());
        };
        for (set, records) in Set::ALL.into_iter().zip(manifest.set_records()) {
            let keys = self.block_keys(set, manifest.generation)?;
            if keys.len() as u64 != records.div_ceil(BLOCK_RECORDS as u64) {
                let family = set.family(manifest.generation);
                return Err(self.corrupt(format!("{family}: wrong number of blocks")));
            }
            if let Some(&last) = keys.last() {
                let generation = manifest.generation;
                match manifest.kind {
                    Kind::Evaluations => {
                        self.read_block::<Record>(set, generation, last, &mut Vec::new())?;
                    }
                    Kind::Moves => {
                        self.read_block::<MoveRecord>(set, generation, last, &mut Vec::new())?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Closes a store in which nothing was sealed, and removes the files created for it.
    pub(crate) fn abandon(self) -> Result<(), StoreError> {
        let Store { db, path, made } = self;
        drop(db);
        // Without a marker, files of a build cannot be distinguished from others: keep all.
        if !folder::is_marked(&path) {
            return Ok(());
        }
        folder::abandon(&path, &made).map_err(StoreError::unwritable(&path))
    }

    fn unmark(&self) -> Result<(), StoreError> {
        if !folder::is_marked(&self.path) {
            return Ok(());
        }
        folder::unmark(&self.path).map_err(StoreError::unwritable(&self.path))
    }

    /// Checks that the format version is [`FORMAT_VERSION`].
    fn check_version(&self) -> Result<(), StoreError> {
        let not_a_dataset = || StoreError::NotADataset {
            path: self.path.clone(),
        };
        let version = self.get(VERSION_KEY)?.ok_or_else(not_a_dataset)?;
        let found: u64 = std::str::from_utf8(&version)
            .ok()
            .and_then(|v| v.parse().ok())
            .ok_or_else(not_a_dataset)?;
        match found {
            FORMAT_VERSION => Ok(()),
            _ => Err(StoreError::OtherVersion {
                path: self.path.clone(),
                found,
            }),
        }
    }

    fn family(&self, name: &str) -> Result<&ColumnFamily, StoreError> {
        self.db
            .cf_handle(name)
            .ok_or_else(|| self.corrupt(format!("{name} is missing")))
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let value = self.db.get_cf(self.family(META)?, key);
        value.map_err(|error| self.corrupt(error.to_string()))
    }

    fn write(&self, batch: WriteBatch) -> Result<(), StoreError> {
        let mut options = WriteOptions::default();
        options.set_sync(true);
        self.db
            .write_opt(batch, &options)
            .map_err(StoreError::unwritable(&self.path))
    }

    pub(crate) fn corrupt(&self, what: String) -> StoreError {
        StoreError::Corrupt {
            path: self.path.clone(),
            what,
        }
    }

    /// Returns the manifest, `None` if nothing is sealed yet.
    pub(crate) fn manifest(&self) -> Result<Option<Manifest>, StoreError> {
        let Some(json) = self.get(MANIFEST_KEY)? else {
            return Ok(None);
        };
        let manifest = serde_json::from_slice(&json);
        manifest
            .map(Some)
            .map_err(|error| self.corrupt(format!("manifest: {error}")))
    }

    /// Returns the keys of a set's blocks, in order.
    pub(crate) fn block_keys(
        &self,
        set: Set,
        generation: u64,
    ) -> Result<Vec<BlockKey>, StoreError> {
        let index = self
            .get(set.index_key(generation).as_bytes())?
            .unwrap_or_default();
        let (words, rest) = index.as_chunks::<8>();
        if !rest.is_empty() {
            return Err(self.corrupt(format!("index of {}", set.family(generation))));
        }
        let first = words.iter().map(|word| u64::from_be_bytes(*word));
        Ok(first
            .zip(0..)
            .map(|(first, number)| BlockKey { first, number })
            .collect())
    }

    /// Returns a sealed set.
    pub(crate) fn sealed(&self, set: Set, generation: u64) -> Result<SealedSet<'_>, StoreError> {
        Ok(SealedSet {
            store: self,
            set,
            generation,
            blocks: self.block_keys(set, generation)?,
        })
    }

    /// Returns the progress of an interrupted build, `None` if there is none.
    pub(crate) fn progress(&self) -> Result<Option<BuildProgress>, StoreError> {
        let Some(json) = self.get(PROGRESS_KEY)? else {
            return Ok(None);
        };
        let mut progress: BuildProgress = serde_json::from_slice(&json)
            .map_err(|error| self.corrupt(format!("progress: {error}")))?;
        let text = self.get(CARRIED_TEXT_KEY)?.unwrap_or_default();
        if let Some(checkpoint) = progress.checkpoint_mut() {
            checkpoint.set_carried_text(text);
        }
        Ok(Some(progress))
    }

    /// Commits the progress of a build.
    pub(crate) fn set_progress(&self, progress: &BuildProgress) -> Result<(), StoreError> {
        let json = serde_json::to_vec(progress).map_err(StoreError::unwritable(&self.path))?;
        let mut batch = WriteBatch::default();
        batch.put_cf(self.family(META)?, PROGRESS_KEY, json);
        batch.put_cf(
            self.family(META)?,
            CARRIED_TEXT_KEY,
            progress.carried_text(),
        );
        self.write(batch)
    }

    /// Deletes the progress of an interrupted build.
    pub(crate) fn forget_progress(&self) -> Result<(), StoreError> {
        let mut batch = WriteBatch::default();
        self.delete_progress(&mut batch)?;
        self.write(batch)
    }

    fn delete_progress(&self, batch: &mut WriteBatch) -> Result<(), StoreError> {
        for key in [PROGRESS_KEY, CARRIED_TEXT_KEY] {
            batch.delete_cf(self.family(META)?, key);
        }
        Ok(())
    }

    /// Appends the records of a block to `records`.
    pub(crate) fn read_block<R: Row>(
        &self,
        set: Set,
        generation: u64,
        key: BlockKey,
        records: &mut Vec<R>,
    ) -> Result<(), StoreError> {
        let family = set.family(generation);
        let block = self.db.get_pinned_cf(self.family(&family)?, key.to_bytes());
        let block = block
            .map_err(|error| self.corrupt(format!("{family}: {error}")))?
            .ok_or_else(|| self.corrupt(format!("{family}: block {} is missing", key.number)))?;
        R::unpack(&block, records)
            .map_err(|error| self.corrupt(format!("{family}: block {}: {error}", key.number)))
    }

    /// Replaces the manifest, and deletes the progress of an unfinished build.
    pub(crate) fn commit_manifest(&self, manifest: &Manifest) -> Result<(), StoreError> {
        let mut batch = WriteBatch::default();
        let json = serde_json::to_vec(manifest).map_err(StoreError::unwritable(&self.path))?;
        batch.put_cf(self.family(META)?, MANIFEST_KEY, json);
        self.delete_progress(&mut batch)?;
        self.write(batch)
    }

    /// Commits a new generation of sets in one atomic write, then drops the old one.
    pub(crate) fn commit(
        &mut self,
        manifest: &Manifest,
        sets: Vec<WrittenSet>,
    ) -> Result<(), StoreError> {
        let unwritable = || StoreError::unwritable(&self.path);
        let mut batch = WriteBatch::default();
        for sealed in sets {
            let family = sealed.set.family(manifest.generation);
            self.db
                .create_cf(&family, &options())
                .map_err(unwritable())?;
            if !sealed.files.is_empty() {
                let mut ingest = IngestExternalFileOptions::default();
                ingest.set_move_files(true);
                let handle = self
                    .db
                    .cf_handle(&family)
                    .ok_or_else(|| self.corrupt(family.clone()))?;
                self.db
                    .ingest_external_file_cf_opts(handle, &ingest, sealed.files)
                    .map_err(unwritable())?;
            }
            let key = sealed.set.index_key(manifest.generation);
            batch.put_cf(self.family(META)?, key, sealed.index);
        }
        let json = serde_json::to_vec(manifest).map_err(StoreError::unwritable(&self.path))?;
        batch.put_cf(self.family(META)?, MANIFEST_KEY, json);
        if let Some(old) = manifest.generation.checked_sub(1) {
            for set in Set::ALL {
                batch.delete_cf(self.family(META)?, set.index_key(old));
            }
        }
        self.delete_progress(&mut batch)?;
        self.write(batch)?;
        self.unmark()?;
        if let Some(old) = manifest.generation.checked_sub(1) {
            for family in Set::ALL.map(|set| set.family(old)) {
                if self.db.cf_handle(&family).is_some() {
                    self.db
                        .drop_cf(&family)
                        .map_err(StoreError::unwritable(&self.path))?;
                }
            }
        }
        self.db
            .flush_cf(self.family(META)?)
            .map_err(StoreError::unwritable(&self.path))
    }
}

/// Classifies an error of RocksDB by its text, which names the cause only after the path.
fn open_error(path: &Path, error: rocksdb::Error) -> StoreError {
    let text = error.to_string().replace(&*path.to_string_lossy(), "");
    // The message repeats itself and ends with a guess.
    let text = text.split("  The file ").next().unwrap_or_default();
    let text = text.trim_start_matches("Corruption: ").to_string();
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if says(&["lock hold by", "While lock file"]) && !says(&["Permission denied"]) {
        StoreError::Locked {
            path: path.to_path_buf(),
        }
    } else if error.kind() == rocksdb::ErrorKind::Corruption
        || says(&["No such file", "Column family not found"])
    {
        StoreError::Corrupt {
            path: path.to_path_buf(),
            what: text,
        }
    } else {
        StoreError::inaccessible(path)(text)
    }
}

/// Database key of a block: the key of its first record, and the block's number, which
/// distinguishes blocks with the same first key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockKey {
    pub(crate) first: u64,
    pub(crate) number: u32,
}

impl BlockKey {
    fn to_bytes(self) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&self.first.to_be_bytes());
        bytes[8..].copy_from_slice(&self.number.to_be_bytes());
        bytes
    }
}

/// A set written to SST files and not yet committed.
pub(crate) struct WrittenSet {
    set: Set,
    files: Vec<PathBuf>,
    index: Vec<u8>,
    /// Number of records.
    pub(crate) records: u64,
    /// Digest of the records.
    pub(crate) tree: DigestTree,
}

/// Writer of a set: packs records, which must come in key order, into blocks in SST files.
pub(crate) struct SetWriter<R> {
    set: Set,
    folder: PathBuf,
    writer: Option<SstFileWriter<'static>>,
    files: Vec<PathBuf>,
    /// Records not yet written.
    rest: Vec<R>,
    index: Vec<u8>,
    records: u64,
    digest: RangesDigest,
}

/// A packed block with its first key.
struct Packed {
    first: u64,
    block: Vec<u8>,
}

impl Packed {
    fn new<R: Row>(records: &[R]) -> Packed {
        Packed {
            first: Keyed::new(records[0]).key,
            block: R::pack(records),
        }
    }
}

impl<R: Row> SetWriter<R> {
    /// Creates a writer for the part of a set in some key ranges.
    pub(crate) fn new(set: Set, folder: &Path, ranges: Range<usize>) -> SetWriter<R> {
        SetWriter {
            set,
            folder: folder.to_path_buf(),
            writer: None,
            files: Vec::new(),
            rest: Vec::new(),
            index: Vec::new(),
            records: 0,
            digest: RangesDigest::over(ranges),
        }
    }

    /// Appends records; full blocks are packed on all cores.
    pub(crate) fn push(&mut self, records: &[R]) -> Result<(), StoreError> {
        self.records += records.len() as u64;
        self.rest.extend_from_slice(records);
        let full = self.rest.len() - self.rest.len() % BLOCK_RECORDS;
        self.write(full)
    }

    /// Writes the first `count` pending records.
    fn write(&mut self, count: usize) -> Result<(), StoreError> {
        let records = &self.rest[..count];
        let (packed, ()) = rayon::join(
            || {
                let blocks = records.par_chunks(BLOCK_RECORDS);
                blocks.map(Packed::new::<R>).collect::<Vec<Packed>>()
            },
            || self.digest.update(records),
        );
        self.rest.drain(..count);
        packed.iter().try_for_each(|packed| self.put(packed))
    }

    fn put(&mut self, packed: &Packed) -> Result<(), StoreError> {
        let number = (self.index.len() / 8) as u32;
        if number.is_multiple_of(FILE_BLOCKS) {
            self.finish_file()?;
            let file = self
                .folder
                .join(block_file_name(self.set, self.files.len()));
            let writer = SstFileWriter::create(sst_options());
            writer.open(&file).map_err(StoreError::unwritable(&file))?;
            self.files.push(file);
            self.writer = Some(writer);
        }
        let key = BlockKey {
            first: packed.first,
            number,
        };
        if let Some(writer) = &mut self.writer {
            writer
                .put(key.to_bytes(), &packed.block)
                .map_err(StoreError::unwritable(&self.folder))?;
        }
        self.index.extend_from_slice(&packed.first.to_be_bytes());
        Ok(())
    }

    fn finish_file(&mut self) -> Result<(), StoreError> {
        match self.writer.take() {
            Some(mut writer) => writer
                .finish()
                .map_err(StoreError::unwritable(&self.folder)),
            None => Ok(()),
        }
    }

    pub(crate) fn finish(mut self) -> Result<WrittenSet, StoreError> {
        self.write(self.rest.len())?;
        self.finish_file()?;
        Ok(WrittenSet {
            set: self.set,
            files: self.files,
            index: self.index,
            records: self.records,
            tree: self.digest.into_tree(),
        })
    }
}

/// Returns the options of SST files.
fn sst_options() -> &'static Options {
    static OPTIONS: LazyLock<Options> = LazyLock::new(options);
    &OPTIONS
}

/// A sealed set as input of a merge.
pub(crate) struct SealedSet<'a> {
    store: &'a Store,
    set: Set,
    generation: u64,
    blocks: Vec<BlockKey>,
}

impl SealedSet<'_> {
    /// Upper bound on the number of records.
    pub(crate) fn len(&self) -> u64 {
        (self.blocks.len() * BLOCK_RECORDS) as u64
    }

    /// Appends the records with keys in the ranges.
    pub(crate) fn read<R: Row>(
        &self,
        ranges: &Range<usize>,
        records: &mut Vec<R>,
    ) -> Result<(), StoreError> {
        // The block before the first that begins in the ranges may extend into them.
        let begins_before = |range| {
            self.blocks
                .partition_point(|block| range_of(block.first) < range)
        };
        let first = begins_before(ranges.start).saturating_sub(1);
        let mut block = Vec::new();
        for &key in &self.blocks[first..begins_before(ranges.end)] {
            block.clear();
            self.store
                .read_block(self.set, self.generation, key, &mut block)?;
            let within = |record: &&R| ranges.contains(&range_of(Keyed::new(**record).key));
            records.extend(block.iter().filter(within));
        }
        Ok(())
    }
}
