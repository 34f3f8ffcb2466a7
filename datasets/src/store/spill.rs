//! Spill file: sorted runs of records on disk while a dataset is being built.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use host::durable;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::store::StoreError;
use crate::store::folder;
use crate::store::ranges::{RANGES, range_of};
use crate::store::set::is_block_file;
use records::position::{Keyed, ROW_BYTES, Row};

/// Rows sorted by key, at most [`Row::MOST`] of a position. Only an index is sorted, which touches
/// less memory than moving the rows.
pub(crate) struct Sorted<R> {
    records: Vec<R>,
    order: Vec<Entry>,
}

/// Sort key and position of a record.
struct Entry {
    key: u64,
    index: u32,
}

impl Entry {
    fn keyed<R: Row>(&self, records: &[R]) -> Keyed<R> {
        Keyed {
            key: self.key,
            record: records[self.index as usize],
        }
    }
}

impl<R: Row> Sorted<R> {
    /// Sorts rows, at most 2^32 - 1, and drops equal ones and those beyond [`Row::MOST`].
    pub(crate) fn new(records: Vec<R>) -> Sorted<R> {
        let entries = records
            .par_iter()
            .enumerate()
            .map(|(index, &record)| Entry {
                key: Keyed::new(record).key,
                index: index as u32,
            });
        let mut order: Vec<Entry> = entries.collect();
        order.par_sort_unstable_by_key(|entry| entry.key);
        for group in order.chunk_by_mut(|a, b| a.key == b.key) {
            if group.len() > 1 {
                group.sort_by_cached_key(|entry| entry.keyed(&records).order_in_key());
            }
        }
        let mut kept = 1;
        order.dedup_by(|next, last| {
            if next.key != last.key {
                kept = 1;
                return false;
            }
            let [next, last] = [next, last].map(|entry| entry.keyed(&records));
            if next.position_order(&last).is_ne() {
                kept = 1;
                return false;
            }
            let drop = kept == R::MOST || next == last;
            kept += usize::from(!drop);
            drop
        });
        Sorted { records, order }
    }

    /// Number of records.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// Returns all records in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Keyed<R>> {
        self.order.iter().map(|entry| entry.keyed(&self.records))
    }

    /// Returns the records with keys in the ranges.
    pub(crate) fn within(&self, ranges: &Range<usize>) -> impl Iterator<Item = R> {
        let entries = &self.order[self.start(ranges.start)..self.start(ranges.end)];
        entries
            .iter()
            .map(|entry| entry.keyed(&self.records).record)
    }

    /// Number of records before a range.
    fn start(&self, range: usize) -> usize {
        self.order
            .partition_point(|entry| range_of(entry.key) < range)
    }

    /// Returns the memory of the records, for reuse.
    pub(crate) fn into_buffer(self) -> Vec<R> {
        self.records
    }
}

/// Location of a sorted run in the spill file: the index, then the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// Byte offset of the run.
    offset: u64,
    /// Number of records.
    records: u64,
}

/// Size of a run's index: the number of records before each range, and in all (u64, little-endian).
const INDEX_BYTES: u64 = 8 * (RANGES as u64 + 1);

impl Run {
    /// Number of records.
    pub(crate) fn len(&self) -> u64 {
        self.records
    }

    /// Offset of the first byte after the run.
    pub(crate) fn end(&self) -> u64 {
        self.offset + INDEX_BYTES + self.records * ROW_BYTES as u64
    }
}

/// Spill file of a dataset being built.
#[derive(Clone)]
pub(crate) struct SpillFile {
    path: PathBuf,
}

/// File name.
const NAME: &str = "runs";

impl SpillFile {
    /// Returns whether the spill file in `folder` has at least `bytes` bytes.
    pub(crate) fn holds(folder: &Path, bytes: u64) -> bool {
        let size = std::fs::metadata(folder.join(NAME)).map_or(0, |metadata| metadata.len());
        size >= bytes
    }

    /// Opens the spill file in `folder`, creating both if missing. Uncommitted bytes after the
    /// first `bytes` are truncated, and block files of an interrupted sealing removed.
    pub(crate) fn open(folder: &Path, bytes: u64) -> Result<SpillFile, StoreError> {
        let path = folder.join(NAME);
        let opened = own_folder(folder)
            .and_then(|()| own_file(&path))
            .and_then(|file| {
                file.set_len(bytes)?;
                // A synced file is lost if its folder entry is not synced.
                durable::sync_folder_of(&path)?;
                durable::sync_folder_of(folder)?;
                folder::remove_files(folder, is_block_file)
            });
        opened.map_err(StoreError::unwritable(&path))?;
        Ok(SpillFile { path })
    }

    /// Removes the spill file, the block files, and the folder unless it holds foreign files.
    pub(crate) fn remove(folder: &Path) -> Result<(), StoreError> {
        folder::remove_files(folder, |name| name == NAME || is_block_file(name))
            .and_then(|()| folder::remove_if_empty(folder))
            .map_err(StoreError::unwritable(folder))?;
        Ok(())
    }

    /// Writes runs at byte `offset` and syncs them.
    pub(crate) fn append<R: Row>(
        &self,
        offset: u64,
        runs: [&Sorted<R>; 2],
    ) -> Result<[Run; 2], StoreError> {
        let mut end = offset;
        let placed = runs.map(|sorted| {
            let run = Run {
                offset: end,
                records: sorted.len() as u64,
            };
            end = run.end();
            run
        });
        self.write(offset, runs)
            .map_err(StoreError::unwritable(&self.path))?;
        Ok(placed)
    }

    fn write<R: Row>(&self, offset: u64, runs: [&Sorted<R>; 2]) -> io::Result<()> {
        let mut file = File::options().write(true).open(&self.path)?;
        file.seek(SeekFrom::Start(offset))?;
        let mut writer = BufWriter::with_capacity(1 << 20, file);
        for sorted in runs {
            for range in 0..=RANGES {
                writer.write_all(&(sorted.start(range) as u64).to_le_bytes())?;
            }
            for keyed in sorted.iter() {
                writer.write_all(keyed.record.as_bytes())?;
            }
        }
        writer
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .sync_data()
    }

    /// Appends the records of a run with keys in the ranges.
    pub(crate) fn read<R: Row>(
        &self,
        run: &Run,
        ranges: &Range<usize>,
        records: &mut Vec<R>,
    ) -> Result<(), StoreError> {
        self.read_within(run, ranges, records)
            .map_err(StoreError::inaccessible(&self.path))
    }

    fn read_within<R: Row>(
        &self,
        run: &Run,
        ranges: &Range<usize>,
        records: &mut Vec<R>,
    ) -> io::Result<()> {
        let mut file = File::open(&self.path)?;
        let mut start = |range: usize| {
            let mut bytes = [0; 8];
            file.seek(SeekFrom::Start(run.offset + 8 * range as u64))?;
            file.read_exact(&mut bytes)?;
            Ok::<u64, io::Error>(u64::from_le_bytes(bytes))
        };
        let (first, end) = (start(ranges.start)?, start(ranges.end)?);
        if first > end || end > run.records {
            let error = "its index is inconsistent; remove it to begin again";
            return Err(io::Error::new(io::ErrorKind::InvalidData, error));
        }
        let mut bytes = vec![0; (end - first) as usize * ROW_BYTES];
        file.seek(SeekFrom::Start(
            run.offset + INDEX_BYTES + first * ROW_BYTES as u64,
        ))?;
        file.read_exact(&mut bytes)?;
        let (chunks, _) = bytes.as_chunks();
        records.extend(chunks.iter().map(|&bytes| R::from_trusted(bytes)));
        Ok(())
    }
}

/// Creates a folder. An existing one must not be a link, which no build creates.
fn own_folder(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(io::Error::other("not a folder made by a build; remove it")),
        Err(_) => std::fs::create_dir(path),
    }
}

/// Opens or creates a file. An existing one must not be a link, which no build creates.
fn own_file(path: &Path) -> io::Result<File> {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if !metadata.is_file() => {
            Err(io::Error::other("not a file made by a build; remove it"))
        }
        _ => File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use records::position::Record;

    /// Simulates disk corruption of the index.
    #[test]
    fn rejects_a_corrupt_index() {
        let folder = tempfile::tempdir().unwrap();
        let spill = SpillFile::open(&folder.path().join("spill"), 0).unwrap();
        let none = Sorted::<Record>::new(Vec::new());
        let [run, _] = spill.append(0, [&none, &none]).unwrap();
        let mut records: Vec<Record> = Vec::new();
        spill.read(&run, &(0..RANGES), &mut records).unwrap();
        for (from, index) in [(0, u64::MAX), (8 * RANGES, 1 << 60)] {
            let mut file = File::options().write(true).open(&spill.path).unwrap();
            file.seek(SeekFrom::Start(from as u64)).unwrap();
            file.write_all(&index.to_le_bytes()).unwrap();
            let error = spill.read(&run, &(0..RANGES), &mut records).unwrap_err();
            assert!(
                error.to_string().contains("remove it to begin again"),
                "{error}"
            );
        }
        assert!(records.is_empty());
    }
}
