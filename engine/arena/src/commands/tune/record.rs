//! Record of an SPSA run on disk: its settings and the results so far. All else follows from them,
//! so a killed run resumes exactly.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use host::durable::{self, NewFile};
use host::{Action, FileError};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::tournament::games_file::{Existing, Settings, difference};

/// Format version of the record.
const FORMAT: u32 = 1;
/// Upper limit of a record's size.
const MAX_BYTES: u64 = 1 << 30;

/// Reasons to refuse a record.
#[derive(Debug, Error)]
pub enum RecordError {
    /// A record exists.
    #[error(
        "{path:?} exists already; continue its run with --resume, replace it with --force, or give another --out"
    )]
    Exists { path: PathBuf },
    /// The run has other settings.
    #[error("{path:?} has other settings: {difference}; give the same ones, or another --out")]
    OtherSettings {
        path: PathBuf,
        /// First setting that differs, with both values.
        difference: String,
    },
    /// The file is not a record of a run.
    #[error("{path:?} is no record of `arena tune`; give another --out")]
    Unreadable { path: PathBuf },
}

/// Settings and results of a run.
#[derive(Serialize, Deserialize)]
pub struct RunRecord {
    format: u32,
    settings: Settings,
    /// Games won by the first vector less those lost, by iteration.
    pub results: Vec<i8>,
    /// Whether the file still holds an earlier run, which the first [`RunRecord::save`] replaces.
    #[serde(skip)]
    replacing: bool,
}

impl RunRecord {
    /// Creates a record, or reads the existing one. A record with results is treated as `existing`
    /// says; one without is replaced. With [`Existing::Replace`] the file stays until the first
    /// [`RunRecord::save`].
    ///
    /// # Errors
    /// [`RecordError`] if the file is refused, [`FileError`] if it cannot be read or written.
    pub fn open(path: &Path, settings: Settings, existing: Existing) -> Result<RunRecord> {
        let there = match host::read(path, MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.source.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => bail!(error),
        };
        let mut record = RunRecord {
            format: FORMAT,
            settings,
            results: Vec::new(),
            replacing: false,
        };
        let before = serde_json::from_slice::<RunRecord>(&there).ok();
        let before = before.filter(|before| before.format == FORMAT);
        // A run killed before its first batch leaves an empty record.
        let is_empty = before
            .as_ref()
            .is_some_and(|before| before.results.is_empty());
        if there.is_empty() || is_empty {
            record.save(path)?;
            return Ok(record);
        }
        if existing == Existing::Replace {
            // Fails before the games, not after, if the record cannot be written.
            let new = NewFile::create(path, ".tmp");
            drop(new.map_err(FileError::to(Action::Write, path))?);
            record.replacing = true;
            return Ok(record);
        }
        let path = path.to_path_buf();
        if existing == Existing::Refuse {
            bail!(RecordError::Exists { path });
        }
        let Some(before) = before else {
            bail!(RecordError::Unreadable { path });
        };
        if let Some(difference) = difference(&before.settings, &record.settings) {
            bail!(RecordError::OtherSettings { path, difference });
        }
        record.results = before.results;
        Ok(record)
    }

    /// Returns whether `--resume` continues this run: the file does not hold an earlier one.
    pub fn is_resumable(&self) -> bool {
        !self.replacing || !self.results.is_empty()
    }

    /// Removes the record of a run without results, so that it does not block the next run.
    pub fn remove_if_empty(&self, path: &Path) {
        let is_regular = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
        if self.results.is_empty() && !self.replacing && is_regular {
            // Best effort: `open` replaces a record without results.
            let _ = fs::remove_file(path);
        }
    }

    /// Replaces the record on disk atomically.
    pub fn save(&self, path: &Path) -> Result<()> {
        let bytes = serde_json::to_vec(self)?;
        Ok(durable::write(path, &bytes).map_err(FileError::to(Action::Write, path))?)
    }
}
