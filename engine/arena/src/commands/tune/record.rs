//! A run of SPSA on disk: what was asked for, and the results so far. All else follows
//! from them, so that a run that was killed goes on as if it had not been.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use host::{Action, FileError, durable};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::tournament::games_file::{Existing, Settings, difference};

/// The version of the record.
const FORMAT: u32 = 1;
/// More than the longest run has.
const MAX_BYTES: u64 = 1 << 30;

/// Why a run cannot be recorded where it should be.
#[derive(Debug, Error)]
pub enum RecordError {
    /// There is one.
    #[error(
        "{path:?} exists already; go on with its run by --resume, replace it by --force, or give another --out"
    )]
    Exists {
        /// The record.
        path: PathBuf,
    },
    /// The run was another one.
    #[error("{path:?} was begun otherwise: {difference}; give the same, or another --out")]
    OtherSettings {
        /// The record.
        path: PathBuf,
        /// The first setting that differs, and how.
        difference: String,
    },
    /// It is no record of a run.
    #[error("{path:?} is no record of `arena tune`; give another --out")]
    Unreadable {
        /// The file.
        path: PathBuf,
    },
}

/// A run and its results.
#[derive(Serialize, Deserialize)]
pub struct Record {
    format: u32,
    settings: Settings,
    /// By iteration: games that the first vector won less those that it lost.
    pub results: Vec<i8>,
}

impl Record {
    /// Begins a record, or reads the one that is there. A record with results is treated as
    /// `existing` says; one without is replaced.
    ///
    /// # Errors
    /// [`RecordError`] where something else is there, [`FileError`] where it cannot be
    /// read or written.
    pub fn open(path: &Path, settings: Settings, existing: Existing) -> Result<Record> {
        let there = match host::read(path, MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.source.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => bail!(error),
        };
        let mut record = Record {
            format: FORMAT,
            settings,
            results: Vec::new(),
        };
        let before = serde_json::from_slice::<Record>(&there).ok();
        let before = before.filter(|before| before.format == FORMAT);
        // A run that was killed before its first games leaves such a record.
        let is_empty = before
            .as_ref()
            .is_some_and(|before| before.results.is_empty());
        if there.is_empty() || is_empty || existing == Existing::Replace {
            record.save(path)?;
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

    /// Removes the record of a run without results, so that it does not block the next run.
    pub fn remove_if_empty(&self, path: &Path) {
        let is_regular = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
        if self.results.is_empty() && is_regular {
            // Best effort: `open` replaces a record without results.
            let _ = fs::remove_file(path);
        }
    }

    /// Puts the record in the place of the former one, whatever happens meanwhile.
    pub fn save(&self, path: &Path) -> Result<()> {
        let bytes = serde_json::to_vec(self)?;
        Ok(durable::write(path, &bytes).map_err(FileError::to(Action::Write, path))?)
    }
}
