//! An output that grows by whole pieces and can be gone on with after any
//! interruption: frames of zstd, each preceded by its size as `pzstd` does it, or
//! the same bytes as they are.
//!
//! While it is made it is called FILE.part. Beside it lies FILE.json, the
//! record: what makes it, and up to where it is whole. A piece is written and
//! synced first, and only then does the record, replaced as a whole, count it.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::durable;
use crate::exit::ExitCode;
use crate::file::{Action, FileError};

/// Small frames gain little from higher levels, and engines want the CPU.
const LEVEL: i32 = 12;

/// What precedes the size in each skippable frame: its magic number and length.
const HEADER: [u8; 8] = [0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0];

/// Version of the record.
const FORMAT: u32 = 1;

/// Why an output is not begun, or not gone on with. Each message is one line that
/// says what to do.
#[derive(Debug, Error)]
pub enum ArchiveError {
    /// The output is there, and nothing tells what made it.
    #[error(
        "{path}: exists already, and nothing tells what made it; move it away, or give another --out",
        path = path.display()
    )]
    Exists {
        /// The output.
        path: PathBuf,
    },
    /// The output has its name, and its record says that it is not finished.
    #[error(
        "{path}: not finished, by its record; name it {part} again and run the command that \
         makes it",
        path = path.display(), part = part.display()
    )]
    Unfinished {
        /// The output.
        path: PathBuf,
        /// What it is called while it is made.
        part: PathBuf,
    },
    /// Nothing tells what made a file that is to be read.
    #[error(
        "{path}: nothing tells what made it: {record} is missing",
        path = path.display(), record = record.display()
    )]
    NoRecord {
        /// The file.
        path: PathBuf,
        /// Where its record would be.
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
        /// What [`changes`] tells of them.
        changes: String,
    },
    /// What was written so far is not what its record says.
    #[error(
        "{path}: not what {record} says it is: {what}; remove both to begin again",
        path = path.display(), record = record.display()
    )]
    Corrupt {
        /// The unfinished output.
        path: PathBuf,
        /// Its record.
        record: PathBuf,
        /// What does not fit.
        what: String,
    },
    /// Another process writes it.
    #[error("{path}: in use by another process; wait for it to end", path = path.display())]
    Locked {
        /// The unfinished output.
        path: PathBuf,
    },
    /// A file could not be used.
    #[error(transparent)]
    File(#[from] FileError),
}

impl ArchiveError {
    /// How a program ends for it.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            ArchiveError::File(error) => error.exit_code(),
            _ => ExitCode::Refused,
        }
    }
}

type Result<T> = std::result::Result<T, ArchiveError>;

/// Up to where an output is whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done<C> {
    /// Bytes of the output.
    pub bytes: u64,
    /// SHA-256 of those bytes; early records do not tell it.
    #[serde(default)]
    pub sha256: Option<String>,
    /// What was counted in them.
    #[serde(flatten)]
    pub counts: C,
}

/// FILE.json. `S` are the settings that make an output, and `C` is what is counted
/// in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record<S, C> {
    format: u32,
    /// What makes it. An output is gone on with only by the same.
    pub made_by: S,
    /// Up to where it is whole.
    pub done: Done<C>,
    /// Whether that is all.
    pub finished: bool,
}

/// What [`Archive::open`] found.
pub enum Opened<S, C> {
    /// The output is there, whole, and was made by the same.
    Finished(Box<Record<S, C>>),
    /// There is work to do.
    Begun(Box<Archive<S, C>>),
}

/// An output that is being made.
pub struct Archive<S, C> {
    path: PathBuf,
    part: File,
    record: Record<S, C>,
    /// The digest of what was written.
    written: Sha256,
    compressed: bool,
}

impl<S, C> Archive<S, C>
where
    S: Serialize + DeserializeOwned + PartialEq,
    C: Serialize + DeserializeOwned + Default,
{
    /// Begins an output, or goes on with one. Where `path` is a link, it stays
    /// one: all is made beside the file that it leads to.
    ///
    /// # Errors
    /// [`ArchiveError`] if the output was made by something else, is damaged or in
    /// use, or cannot be written.
    pub fn open(path: &Path, made_by: S, compressed: bool) -> Result<Opened<S, C>> {
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
            return Ok(Opened::Finished(Box::new(record)));
        }
        let part_path = with_suffix(path, ".part");
        let part = lock(&part_path)?;
        let opened = Archive::begin(path, part, made_by, compressed);
        if opened.is_err() && part_path.metadata().is_ok_and(|part| part.len() == 0) {
            // An empty file blocks nothing, so a failure to remove it is ignored.
            let _ = fs::remove_file(&part_path);
        }
        opened
    }

    /// Begins an output, or goes on with one, in a locked file.
    fn begin(path: &Path, part: File, made_by: S, compressed: bool) -> Result<Opened<S, C>> {
        let mut archive = Archive {
            path: path.into(),
            part,
            record: Record {
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
            // It was finished, and has been removed since.
            Some(record) if record.finished && part_bytes == 0 => archive.write_record()?,
            Some(record) => {
                refuse_other(path, &record, &archive.record.made_by)?;
                archive.record = record;
                archive.restore()?;
                if archive.record.finished {
                    return Ok(Opened::Finished(Box::new(archive.publish()?)));
                }
            }
            None if part_bytes > 0 => return Err(archive.corrupt("there is no record")),
            None => archive.write_record()?,
        }
        Ok(Opened::Begun(Box::new(archive)))
    }

    /// What makes the output, and up to where it is whole.
    pub fn record(&self) -> &Record<S, C> {
        &self.record
    }

    /// The output.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends bytes, as a frame of its own where the output is compressed. They
    /// are on disk when this returns, and count from the next
    /// [`Archive::count`] on.
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

    /// Makes the record count all that was appended.
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

    /// Counts all that was appended, as the last, and gives the output its name.
    ///
    /// # Errors
    /// [`ArchiveError::File`].
    pub fn finish(mut self, counts: C) -> Result<Record<S, C>> {
        self.record.finished = true;
        self.count(counts)?;
        self.publish()
    }

    /// Leaves nothing behind of an output that was only begun.
    ///
    /// # Errors
    /// [`ArchiveError::File`].
    pub fn remove(self) -> Result<()> {
        for path in [self.part_path(), with_suffix(&self.path, ".json")] {
            std::fs::remove_file(&path).map_err(unwritable(&path))?;
        }
        Ok(())
    }

    fn publish(self) -> Result<Record<S, C>> {
        durable::rename(&self.part_path(), &self.path).map_err(unwritable(&self.path))?;
        Ok(self.record)
    }

    fn write_record(&self) -> Result<()> {
        let path = with_suffix(&self.path, ".json");
        let json = serde_json::to_vec_pretty(&self.record).map_err(io::Error::from);
        json.and_then(|json| durable::write(&path, &json))
            .map_err(unwritable(&path))
    }

    /// Checks what the record counts, and cuts off what a broken write left
    /// behind it.
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

/// Opens an output that is finished, to read it, and gives what made it.
///
/// # Errors
/// [`ArchiveError`] if it is not finished, or not what its record says.
pub fn open_finished<S, C>(path: &Path) -> Result<(File, Record<S, C>)>
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

/// The digest of the bytes that were written by a record, or what is wrong with them.
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

/// The settings that were asked for and are not those that were found, by their
/// names in JSON: `quiet not set, now true`.
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

/// The digest of what was taken in so far, in hexadecimal digits.
pub fn hex(digest: &Sha256) -> String {
    format!("{:x}", digest.clone().finalize())
}

/// The bytes as a frame with a checksum, behind a header that tells its size.
fn frame(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
    compressor.set_parameter(zstd::zstd_safe::CParameter::ChecksumFlag(true))?;
    let frame = compressor.compress(bytes)?;
    let size = u32::try_from(frame.len())
        .map_err(|_| io::Error::other("a game of more than 4 GiB, compressed"))?;
    Ok([&HEADER[..], &size.to_le_bytes(), &frame].concat())
}

/// Opens a file, makes it if it is not there, and keeps other processes out.
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
) -> Result<Option<Record<S, C>>> {
    let record = with_suffix(path, ".json");
    let bytes = match std::fs::read(&record) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(FileError::to(Action::Read, record)(error).into()),
    };
    match serde_json::from_slice::<Record<S, C>>(&bytes) {
        Ok(record) if record.format == FORMAT => Ok(Some(record)),
        _ => Err(ArchiveError::Corrupt {
            path: path.into(),
            what: "the record is not one that this version writes".into(),
            record,
        }),
    }
}

fn refuse_other<S: Serialize + PartialEq, C>(
    path: &Path,
    record: &Record<S, C>,
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

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(suffix);
    name.into()
}

fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> ArchiveError {
    let to = FileError::to(Action::Write, path);
    move |error| to(error).into()
}
