//! The output: a `.pgn.zst` of many frames, each preceded by its size as
//! `pzstd` does it, or the same text as a plain `.pgn`, that can be gone on
//! with after any interruption.
//!
//! While it is made it is called FILE.part. Beside it lies FILE.json, the
//! record: what makes it, and up to where it is whole. A frame, or as much plain
//! text, is written and synced first, and only then does the record, replaced as
//! a whole, count it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};

use host::durable;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::annotate::counts::AnnotationCounts;
use crate::annotate::error::Error;

/// A frame closes with the game that takes its text past this. Some fifty
/// games: the work that an interruption can cost.
const FRAME_BYTES: usize = 128 << 10;

/// Small frames gain little from higher levels, and the engines want the CPU.
const LEVEL: i32 = 12;

/// What precedes the size in each skippable frame: its magic number and length.
const HEADER: [u8; 8] = [0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0];

/// Version of the record.
const FORMAT: u32 = 1;

/// What makes an output. An output is gone on with only by the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeBy {
    /// What the engine calls itself.
    pub engine: String,
    /// The UCI command that starts each search.
    pub go: String,
    /// Options set, in order.
    pub options: Vec<(String, String)>,
    /// Of so many positions of a game one was evaluated.
    #[serde(default = "one")]
    pub every: NonZero<usize>,
    /// Positions that an engine was sent before it had answered.
    #[serde(default = "one")]
    pub ahead: NonZero<usize>,
    /// Whether games that had evaluations got new ones.
    pub replace: bool,
    /// Whether it is zstd, or plain text.
    #[serde(default = "yes")]
    pub compressed: bool,
}

/// What records that say nothing of it mean by [`MadeBy::every`] and
/// [`MadeBy::ahead`].
fn one() -> NonZero<usize> {
    NonZero::<usize>::MIN
}

/// What records that say nothing of it mean by [`MadeBy::compressed`].
fn yes() -> bool {
    true
}

/// Up to where an output is whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// Bytes of the output: whole frames, or whole games.
    pub bytes: u64,
    /// SHA-256 of those bytes; records of earlier versions do not tell it.
    #[serde(default)]
    pub sha256: Option<String>,
    /// Bytes of the sources' text that are in it.
    pub source_text: u64,
    /// SHA-256 of that text.
    pub source_sha256: String,
    /// What was counted in it.
    pub tally: AnnotationCounts,
}

/// FILE.json.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    format: u32,
    /// What makes it.
    pub made_by: MadeBy,
    /// Up to where it is whole.
    pub done: Done,
    /// Whether that is all.
    pub finished: bool,
}

/// What [`Archive::open`] found.
pub enum Opened {
    /// The output is there, whole, and was made by the same.
    Finished(Box<Record>),
    /// There is work to do.
    Begun(Box<Archive>),
}

/// An output that is being made.
pub struct Archive {
    path: PathBuf,
    part: File,
    record: Record,
    /// The digest of what was written.
    written: Sha256,
    /// The frame that is being filled.
    text: Vec<u8>,
    /// The digest of the sources' text, up to here.
    source: Sha256,
    source_text: u64,
    tally: AnnotationCounts,
}

impl Archive {
    /// Begins an output, or goes on with one. Where `path` is a link, it stays
    /// one: all is made beside the file that it leads to.
    ///
    /// # Errors
    /// [`Error`] if the output was made by something else or is damaged, and
    /// [`datasets::Error`] if it is in use or cannot be written.
    pub fn open(path: &Path, made_by: MadeBy) -> anyhow::Result<Opened> {
        let path = &durable::destination(path).map_err(unwritable(path))?;
        if path.exists() {
            let exists = || Error::Exists { path: path.into() };
            let record = read_record(path)?.ok_or_else(exists)?;
            refuse_other(path, &record, &made_by)?;
            if !record.finished {
                return Err(Error::Unfinished {
                    path: path.into(),
                    part: with_suffix(path, ".part"),
                }
                .into());
            }
            return Ok(Opened::Finished(Box::new(record)));
        }
        let part = lock(&with_suffix(path, ".part"))?;
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
            text: Vec::new(),
            source: Sha256::new(),
            source_text: 0,
            tally: AnnotationCounts::default(),
        };
        let part_bytes = archive.part.metadata().map(|part| part.len());
        let part_bytes = part_bytes.map_err(unwritable(&archive.part_path()))?;
        match read_record(path)? {
            // It was finished, and has been removed since.
            Some(record) if record.finished && part_bytes == 0 => archive.write_record()?,
            Some(record) => {
                refuse_other(path, &record, &archive.record.made_by)?;
                archive.tally = record.done.tally.clone();
                archive.record = record;
                archive.restore()?;
                if archive.record.finished {
                    return Ok(Opened::Finished(Box::new(archive.publish()?)));
                }
            }
            None if part_bytes > 0 => {
                return Err(archive.corrupt("there is no record").into());
            }
            None => archive.write_record()?,
        }
        Ok(Opened::Begun(Box::new(archive)))
    }

    /// Whether the output has more of the sources than was passed over.
    pub fn is_behind(&self) -> bool {
        self.source_text < self.record.done.source_text
    }

    /// What was counted so far, what is not sealed yet included.
    pub fn tally(&self) -> &AnnotationCounts {
        &self.tally
    }

    /// Takes in text of the sources that is in the output already.
    pub fn pass_over(&mut self, text: &[u8]) {
        self.source.update(text);
        self.source_text += text.len() as u64;
    }

    /// Whether what was passed over is what the output was made from.
    ///
    /// # Errors
    /// [`Error::OtherGames`] if it is not.
    pub fn check_source(&self) -> Result<(), Error> {
        let Done {
            source_text,
            source_sha256,
            ..
        } = &self.record.done;
        let same = *source_text == self.source_text
            && (*source_text == 0 || *source_sha256 == hex(&self.source));
        if same {
            return Ok(());
        }
        Err(Error::OtherGames {
            path: self.path.clone(),
            bytes: *source_text,
        })
    }

    /// Adds one piece of the sources, and what became of it.
    ///
    /// # Errors
    /// [`datasets::Error::Unwritable`].
    pub fn push(
        &mut self,
        source: &[u8],
        text: &[u8],
        tally: &AnnotationCounts,
    ) -> anyhow::Result<()> {
        self.pass_over(source);
        self.text.extend_from_slice(text);
        self.tally.add(tally);
        if self.text.len() >= FRAME_BYTES {
            self.write_frame()?;
            self.seal()?;
        }
        Ok(())
    }

    /// Writes what is left and gives the output its name.
    ///
    /// # Errors
    /// [`datasets::Error::Unwritable`].
    pub fn finish(mut self) -> anyhow::Result<Record> {
        self.write_frame()?;
        self.record.finished = true;
        self.seal()?;
        self.publish()
    }

    /// Writes what is left, where the sources end too early: FILE.part then
    /// holds every game. The record does not count it, so that going on makes
    /// the same frames as one go. Where there is nothing, nothing is left.
    ///
    /// # Errors
    /// [`datasets::Error::Unwritable`].
    pub fn leave(mut self) -> anyhow::Result<()> {
        if self.record.done == Done::default() && self.text.is_empty() {
            for path in [self.part_path(), with_suffix(&self.path, ".json")] {
                std::fs::remove_file(&path).map_err(unwritable(&path))?;
            }
        }
        self.write_frame()
    }

    fn publish(self) -> anyhow::Result<Record> {
        durable::rename(&self.part_path(), &self.path).map_err(unwritable(&self.path))?;
        Ok(self.record)
    }

    /// Appends the text, compressed into a frame of its own or as it is.
    fn write_frame(&mut self) -> anyhow::Result<()> {
        if self.text.is_empty() {
            return Ok(());
        }
        let text = std::mem::take(&mut self.text);
        let path = self.part_path();
        let bytes = match self.record.made_by.compressed {
            true => frame(&text).map_err(unwritable(&path))?,
            false => text,
        };
        self.written.update(&bytes);
        self.part
            .write_all(&bytes)
            .and_then(|()| self.part.sync_data())
            .map_err(unwritable(&path))?;
        Ok(())
    }

    /// Makes the record count all that was written.
    fn seal(&mut self) -> anyhow::Result<()> {
        let bytes = self.part.stream_position();
        self.record.done = Done {
            bytes: bytes.map_err(unwritable(&self.part_path()))?,
            sha256: Some(hex(&self.written)),
            source_text: self.source_text,
            source_sha256: hex(&self.source),
            tally: self.tally.clone(),
        };
        self.write_record()
    }

    fn write_record(&self) -> anyhow::Result<()> {
        let path = with_suffix(&self.path, ".json");
        let json = serde_json::to_vec_pretty(&self.record)?;
        durable::write(&path, &json).map_err(unwritable(&path))?;
        Ok(())
    }

    /// Checks what the record counts, and cuts off what a broken write left
    /// behind it.
    fn restore(&mut self) -> anyhow::Result<()> {
        let Done { bytes, sha256, .. } = self.record.done.clone();
        let read = io::copy(&mut (&self.part).take(bytes), &mut self.written);
        let read = read.map_err(|error| self.corrupt(&error))?;
        if read < bytes {
            return Err(self
                .corrupt(&format!("it ends at byte {read} of {bytes}"))
                .into());
        }
        if sha256.is_some_and(|sha256| sha256 != hex(&self.written)) {
            let what = format!("its first {bytes} bytes are not those that were written");
            return Err(self.corrupt(&what).into());
        }
        self.part
            .set_len(bytes)
            .and_then(|()| self.part.seek(SeekFrom::Start(bytes)))
            .map_err(unwritable(&self.part_path()))?;
        Ok(())
    }

    fn part_path(&self) -> PathBuf {
        with_suffix(&self.path, ".part")
    }

    fn corrupt(&self, what: &(impl ToString + ?Sized)) -> Error {
        Error::Corrupt {
            path: self.part_path(),
            record: with_suffix(&self.path, ".json"),
            what: what.to_string(),
        }
    }
}

/// The text as a frame with a checksum, behind a header that tells its size.
fn frame(text: &[u8]) -> io::Result<Vec<u8>> {
    let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
    compressor.set_parameter(zstd::zstd_safe::CParameter::ChecksumFlag(true))?;
    let frame = compressor.compress(text)?;
    let size = u32::try_from(frame.len())
        .map_err(|_| io::Error::other("a game of more than 4 GiB, compressed"))?;
    Ok([&HEADER[..], &size.to_le_bytes(), &frame].concat())
}

/// The digest of what was taken in so far.
fn hex(digest: &Sha256) -> String {
    format!("{:x}", digest.clone().finalize())
}

/// Opens a file, makes it if it is not there, and keeps other processes out.
fn lock(path: &Path) -> anyhow::Result<File> {
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(path)
        .map_err(unwritable(path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(datasets::Error::Locked { path: path.into() }.into()),
        Err(TryLockError::Error(error)) => Err(unwritable(path)(error).into()),
    }
}

fn read_record(path: &Path) -> anyhow::Result<Option<Record>> {
    let record = with_suffix(path, ".json");
    let bytes = match std::fs::read(&record) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(datasets::Error::Unreadable {
                path: record,
                error,
            }
            .into());
        }
    };
    match serde_json::from_slice::<Record>(&bytes) {
        Ok(record) if record.format == FORMAT => Ok(Some(record)),
        _ => Err(Error::Corrupt {
            path: path.into(),
            what: "the record is not one that this version writes".into(),
            record,
        }
        .into()),
    }
}

fn refuse_other(path: &Path, record: &Record, wanted: &MadeBy) -> anyhow::Result<()> {
    if record.made_by == *wanted {
        return Ok(());
    }
    Err(Error::OtherSettings {
        path: path.into(),
        changes: datasets::changes(&record.made_by, wanted),
    }
    .into())
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(suffix);
    name.into()
}

fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> datasets::Error {
    datasets::Error::unwritable(path)
}
