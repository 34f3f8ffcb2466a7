//! Append-only output that survives interruption: zstd frames, each preceded by a skippable frame
//! with its size (as `pzstd` writes them), or the same bytes uncompressed.
//!
//! While it is being written the output is called FILE.part. FILE.json beside it is the record: the
//! settings and the progress. `append` writes and syncs a frame; only then does `count` replace the
//! record atomically to include it.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::durable::{self, with_suffix};
use crate::exit::ExitCode;
use crate::file::{Action, FileError};

/// zstd compression level. Small frames gain little from higher levels, and engines need the CPU.
const LEVEL: i32 = 12;

/// Skippable frame header that precedes the frame size: magic number and content length.
const HEADER: [u8; 8] = [0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0];

/// Format version of the record.
const FORMAT: u32 = 1;

/// Reasons not to begin or continue an output. Each message is one line that says what to do.
#[derive(Debug, Error)]
pub enum ArchiveError {
    /// The output exists without a record of its settings.
    #[error(
        "{path}: exists already, without its record {path}.json; move it or give another --out",
        path = path.display()
    )]
    Exists {
        /// The output.
        path: PathBuf,
    },
    /// The output has its final name, but its record is marked unfinished.
    #[error(
        "{path}: not finished; rename it to {part} and repeat the command that made it",
        path = path.display(), part = part.display()
    )]
    Unfinished {
        /// The output.
        path: PathBuf,
        /// Temporary name of the unfinished output.
        part: PathBuf,
    },
    /// A file to read has no record.
    #[error(
        "{path}: its record {record} is missing; keep both files together",
        path = path.display(), record = record.display()
    )]
    NoRecord {
        /// The file.
        path: PathBuf,
        /// Expected path of the record.
        record: PathBuf,
    },
    /// The output was begun with other settings.
    #[error(
        "{path}: made with other settings ({changes}); give the same, or another --out",
        path = path.display()
    )]
    OtherSettings {
        /// The output.
        path: PathBuf,
        /// The differences, from [`changes`].
        changes: String,
    },
    /// The bytes written so far do not match the record.
    #[error(
        "{path}: does not match its record {record}: {what}; remove both to begin again",
        path = path.display(), record = record.display()
    )]
    Corrupt {
        /// The unfinished output.
        path: PathBuf,
        /// The record.
        record: PathBuf,
        /// Description of the mismatch.
        what: String,
    },
    /// Another process is writing the output.
    #[error("{path}: in use by another process; wait for it to end", path = path.display())]
    Locked {
        /// The unfinished output.
        path: PathBuf,
    },
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

impl ArchiveError {
    /// Returns the exit code of a program that fails with this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            ArchiveError::File(error) => error.exit_code(),
            _ => ExitCode::Refused,
        }
    }
}

type Result<T> = std::result::Result<T, ArchiveError>;

/// Progress of an output: its verified prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done<C> {
    /// Length of the prefix in bytes.
    pub bytes: u64,
    /// SHA-256 of the prefix; `None` in records of early versions.
    #[serde(default)]
    pub sha256: Option<String>,
    /// The caller's counts for the prefix.
    #[serde(flatten)]
    pub counts: C,
}

/// Content of FILE.json. `S` is the settings of the output, `C` the caller's counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveRecord<S, C> {
    format: u32,
    /// Settings of the output. It is continued only with equal settings.
    pub made_by: S,
    /// Bytes that are complete and synced, with their counts.
    pub done: Done<C>,
    /// Whether the output is complete.
    pub finished: bool,
}

/// Result of [`Archive::open`].
pub enum OpenedArchive<S, C> {
    /// The output exists, complete and with equal settings.
    Finished(Box<ArchiveRecord<S, C>>),
    /// The output is new or unfinished.
    Begun(Box<Archive<S, C>>),
}

/// An output being written; it holds the lock on FILE.part.
pub struct Archive<S, C> {
    path: PathBuf,
    part: File,
    record: ArchiveRecord<S, C>,
    /// Running digest of all bytes written.
    written: Sha256,
    compressed: bool,
}

impl<S, C> Archive<S, C>
where
    S: Serialize + DeserializeOwned + PartialEq,
    C: Serialize + DeserializeOwned + Default,
{
    /// Begins or continues an output. If `path` is a symbolic link, all files are beside its
    /// target.
    ///
    /// # Errors
    /// [`ArchiveError`] if the output has other settings, is damaged, in use or unwritable.
    pub fn open(path: &Path, made_by: S, compressed: bool) -> Result<OpenedArchive<S, C>> {
        let path = &durable::destination(path).map_err(unwritable(path))?;
        if path.exists() {
            let exists = || ArchiveError::Exists { path: path.into() };
            let record = read_record(path)?.ok_or_else(exists)?;
            refuse_other(path, &record, &made_by)?;
            if !record.finished {
                return Err(ArchiveError::Unfinished {
                    path: path.into(),
                    part: with_suffix(path, ".part"),
                });
            }
            return Ok(OpenedArchive::Finished(Box::new(record)));
        }
        let part_path = with_suffix(path, ".part");
        let part = lock(&part_path)?;
        let opened = Archive::begin(path, part, made_by, compressed);
        if opened.is_err() && part_path.metadata().is_ok_and(|part| part.len() == 0) {
            // An empty file blocks no later run, so a failure to remove it is ignored.
            let _ = fs::remove_file(&part_path);
        }
        opened
    }

    /// Begins or continues an output in the locked file `part`.
    fn begin(path: &Path, part: File, made_by: S, compressed: bool) -> Result<OpenedArchive<S, C>> {
        let mut archive = Archive {
            path: path.into(),
            part,
            record: ArchiveRecord {
                format: FORMAT,
                made_by,
                done: Done::default(),
                finished: false,
            },
            written: Sha256::new(),
            compressed,
        };
        let part_bytes = archive.part.metadata().map(|part| part.len());
        let part_bytes = part_bytes.map_err(unwritable(&archive.part_path()))?;
        match read_record(path)? {
            // The finished output has been removed since: begin anew.
            Some(record) if record.finished && part_bytes == 0 => archive.write_record()?,
            Some(record) => {
                refuse_other(path, &record, &archive.record.made_by)?;
                archive.record = record;
                archive.restore()?;
                if archive.record.finished {
                    return Ok(OpenedArchive::Finished(Box::new(archive.publish()?)));
                }
            }
            None if part_bytes > 0 => return Err(archive.corrupt("there is no record")),
            None => archive.write_record()?,
        }
        Ok(OpenedArchive::Begun(Box::new(archive)))
    }

    /// Settings and progress of the output.
    pub fn record(&self) -> &ArchiveRecord<S, C> {
        &self.record
    }

    /// Final path of the output, links resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends bytes, as one frame if the output is compressed, and syncs them. They become part of
    /// the output with the next [`Archive::count`].
    ///
    /// # Errors
    /// [`ArchiveError::File`].
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let path = self.part_path();
        let framed;
        let bytes = match self.compressed {
            true => {
                framed = frame(bytes).map_err(unwritable(&path))?;
                &framed
            }
            false => bytes,
        };
        self.written.update(bytes);
        let written = self.part.write_all(bytes);
        written
            .and_then(|()| self.part.sync_data())
            .map_err(unwritable(&path))
    }

    /// Updates the record to include everything appended so far.
    ///
    /// # Errors
    /// [`ArchiveError::File`].
    pub fn count(&mut self, counts: C) -> Result<()> {
        let bytes = self.part.stream_position();
        self.record.done = Done {
            bytes: bytes.map_err(unwritable(&self.part_path()))?,
            sha256: Some(hex(&self.written)),
            counts,
        };
        self.write_record()
    }

    /// Records everything appended as the complete output, and renames it to its final name.
    ///
    /// # Errors
    /// [`ArchiveError::File`].
    pub fn finish(mut self, counts: C) -> Result<ArchiveRecord<S, C>> {
        self.record.finished = true;
        self.count(counts)?;
        self.publish()
    }

    /// Deletes the unfinished output and its record.
    ///
    /// # Errors
    /// [`ArchiveError::File`].
    pub fn remove(self) -> Result<()> {
        for path in [self.part_path(), with_suffix(&self.path, ".json")] {
            std::fs::remove_file(&path).map_err(unwritable(&path))?;
        }
        Ok(())
    }

    fn publish(self) -> Result<ArchiveRecord<S, C>> {
        durable::rename(&self.part_path(), &self.path).map_err(unwritable(&self.path))?;
        Ok(self.record)
    }

    fn write_record(&self) -> Result<()> {
        let path = with_suffix(&self.path, ".json");
        let json = serde_json::to_vec_pretty(&self.record).map_err(io::Error::from);
        json.and_then(|json| durable::write(&path, &json))
            .map_err(unwritable(&path))
    }

    /// Verifies the recorded prefix against its digest, and truncates bytes after it, left by an
    /// interrupted write.
    fn restore(&mut self) -> Result<()> {
        let bytes = self.record.done.bytes;
        let written = digest(&self.part, &self.record.done);
        self.written = written.map_err(|what| self.corrupt(&what))?;
        self.part
            .set_len(bytes)
            .and_then(|()| self.part.seek(SeekFrom::Start(bytes)))
            .map_err(unwritable(&self.part_path()))?;
        Ok(())
    }

    fn part_path(&self) -> PathBuf {
        with_suffix(&self.path, ".part")
    }

    fn corrupt(&self, what: &str) -> ArchiveError {
        ArchiveError::Corrupt {
            path: self.part_path(),
            record: with_suffix(&self.path, ".json"),
            what: what.to_string(),
        }
    }
}

/// Opens a finished output for reading, verified against its record, which is returned too.
///
/// # Errors
/// [`ArchiveError`] if it is not finished, or does not match its record.
pub fn open_finished<S, C>(path: &Path) -> Result<(File, ArchiveRecord<S, C>)>
where
    S: DeserializeOwned,
    C: DeserializeOwned,
{
    let unreadable = || FileError::to(Action::Read, path);
    let mut file = File::open(path).map_err(unreadable())?;
    let path = &durable::destination(path).map_err(unreadable())?;
    let json = with_suffix(path, ".json");
    let Some(record) = read_record::<S, C>(path)? else {
        return Err(ArchiveError::NoRecord {
            path: path.into(),
            record: json,
        });
    };
    if !record.finished {
        return Err(ArchiveError::Unfinished {
            path: path.into(),
            part: with_suffix(path, ".part"),
        });
    }
    let bytes = file.metadata().map_err(unreadable())?.len();
    let checked = match bytes == record.done.bytes {
        true => digest(&file, &record.done).map(drop),
        false => Err(format!("it has {bytes} bytes, not {}", record.done.bytes)),
    };
    checked.map_err(|what| ArchiveError::Corrupt {
        path: path.into(),
        record: json,
        what,
    })?;
    file.rewind().map_err(unreadable())?;
    Ok((file, record))
}

/// Returns the digest of the recorded prefix of `file`, or a description of the mismatch.
fn digest<C>(file: &File, done: &Done<C>) -> std::result::Result<Sha256, String> {
    let (bytes, mut written) = (done.bytes, Sha256::new());
    let read = io::copy(&mut file.take(bytes), &mut written);
    let read = read.map_err(|error| error.to_string())?;
    if read < bytes {
        return Err(format!("it ends at byte {read} of {bytes}"));
    }
    if done
        .sha256
        .as_ref()
        .is_some_and(|sha256| *sha256 != hex(&written))
    {
        return Err(format!(
            "its first {bytes} bytes are not those that were written"
        ));
    }
    Ok(written)
}

/// Lists the settings that differ, by their JSON names: `quiet not set, now true`.
pub fn changes(found: &impl Serialize, wanted: &impl Serialize) -> String {
    let named = |settings| match settings {
        Ok(Value::Object(settings)) => settings,
        _ => Map::new(),
    };
    let found = named(serde_json::to_value(found));
    let wanted = named(serde_json::to_value(wanted));
    let text = |value: Option<&Value>| value.map_or("not set".to_string(), Value::to_string);
    let names: BTreeSet<&String> = found.keys().chain(wanted.keys()).collect();
    let changed = names.into_iter().filter_map(|name| {
        let (found, wanted) = (found.get(name), wanted.get(name));
        (found != wanted).then(|| format!("{name} {}, now {}", text(found), text(wanted)))
    });
    changed.collect::<Vec<String>>().join("; ")
}

/// Returns the digest of the bytes hashed so far as hexadecimal digits; hashing may continue.
pub fn hex(digest: &Sha256) -> String {
    format!("{:x}", digest.clone().finalize())
}

/// Compresses `bytes` to one frame with a checksum, preceded by a header with its size.
fn frame(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
    compressor.set_parameter(zstd::zstd_safe::CParameter::ChecksumFlag(true))?;
    let frame = compressor.compress(bytes)?;
    let size = u32::try_from(frame.len())
        .map_err(|_| io::Error::other("a compressed frame of more than 4 GiB"))?;
    Ok([&HEADER[..], &size.to_le_bytes(), &frame].concat())
}

/// Opens or creates a file and locks it against other processes.
fn lock(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    let file = options
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(path)
        .map_err(unwritable(path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(ArchiveError::Locked { path: path.into() }),
        Err(TryLockError::Error(error)) => Err(unwritable(path)(error)),
    }
}

fn read_record<S: DeserializeOwned, C: DeserializeOwned>(
    path: &Path,
) -> Result<Option<ArchiveRecord<S, C>>> {
    let record = with_suffix(path, ".json");
    let bytes = match std::fs::read(&record) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(FileError::to(Action::Read, record)(error).into()),
    };
    match serde_json::from_slice::<ArchiveRecord<S, C>>(&bytes) {
        Ok(record) if record.format == FORMAT => Ok(Some(record)),
        _ => Err(ArchiveError::Corrupt {
            path: path.into(),
            what: "the record is damaged or of another version".into(),
            record,
        }),
    }
}

fn refuse_other<S: Serialize + PartialEq, C>(
    path: &Path,
    record: &ArchiveRecord<S, C>,
    wanted: &S,
) -> Result<()> {
    if record.made_by == *wanted {
        return Ok(());
    }
    Err(ArchiveError::OtherSettings {
        path: path.into(),
        changes: changes(&record.made_by, wanted),
    })
}

fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> ArchiveError {
    let to = FileError::to(Action::Write, path);
    move |error| to(error).into()
}
