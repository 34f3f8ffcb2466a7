//! A run of SPSA on disk: what was asked for, and the results so far. All else follows
//! from them, so that a run that was killed goes on as if it had not been.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use host::{Action, FileError, durable};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::tournament::games_file::{Settings, difference};

/// The version of the record.
const FORMAT: u32 = 1;
/// More than the longest run has.
const MAX_BYTES: u64 = 1 << 30;

/// Why a run cannot be recorded where it should be.
#[derive(Debug, Error)]
pub enum RecordError {
    /// There is one.
    #[error("{path:?} exists already; go on with its run by --resume, or give another --out")]
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
    /// Begins a record, or reads the one that is there.
    ///
    /// # Errors
    /// [`RecordError`] where something else is there, [`FileError`] where it cannot be
    /// read or written.
    pub fn open(path: &Path, settings: Settings, resume: bool) -> Result<Record> {
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
        if there.is_empty() {
            record.save(path)?;
            return Ok(record);
        }
        let path = path.to_path_buf();
        if !resume {
            bail!(RecordError::Exists { path });
        }
        match serde_json::from_slice::<Record>(&there) {
            Ok(before) if before.format == FORMAT => {
                if let Some(difference) = difference(&before.settings, &record.settings) {
                    bail!(RecordError::OtherSettings { path, difference });
                }
                record.results = before.results;
                Ok(record)
            }
            _ => bail!(RecordError::Unreadable { path }),
        }
    }

    /// Puts the record in the place of the former one, whatever happens meanwhile.
    pub fn save(&self, path: &Path) -> Result<()> {
        let bytes = serde_json::to_vec(self)?;
        Ok(durable::write(path, &bytes).map_err(FileError::to(Action::Write, path))?)
    }
}
