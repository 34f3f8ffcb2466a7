//! Existing outputs of `arena generate`: adding games to them, and replacing them.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Result;
use host::archive::{self, ArchiveError};
use host::{Action, FileError, durable};

use crate::selfplay::generator::OutputRecord;
use crate::selfplay::settings::Settings;
use crate::selfplay::tally::Tally;

/// Paths of an output's files.
struct Files {
    /// Name of the finished output.
    whole: PathBuf,
    /// Name of the unfinished output.
    part: PathBuf,
    record: PathBuf,
}

impl Files {
    fn of(out: &Path) -> Result<Files, FileError> {
        let whole = durable::destination(out).map_err(FileError::to(Action::Write, out))?;
        let beside = |suffix| {
            let mut path = whole.clone().into_os_string();
            path.push(suffix);
            path.into()
        };
        Ok(Files {
            part: beside(".part"),
            record: beside(".json"),
            whole,
        })
    }

    /// Fails if another process writes the output.
    fn check_free(&self) -> Result<(), ArchiveError> {
        let writes = || FileError::to(Action::Write, &self.part);
        let part = match File::options().write(true).open(&self.part) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            part => part.map_err(writes())?,
        };
        match part.try_lock() {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => Err(ArchiveError::Locked {
                path: self.part.clone(),
            }),
            Err(TryLockError::Error(error)) => Err(writes()(error).into()),
        }
    }
}

/// Reopens a finished output to add games, if it has fewer games or positions than `settings` ask
/// for and all other settings are equal. Leaves any other output unchanged.
///
/// # Errors
/// [`ArchiveError`] if the output is in use, or does not match its record.
pub fn grow(out: &Path, settings: &Settings) -> Result<()> {
    let files = Files::of(out)?;
    // `Archive::open` refuses an unreadable record.
    let Ok(bytes) = fs::read(&files.record) else {
        return Ok(());
    };
    let Ok(mut record) = serde_json::from_slice::<OutputRecord>(&bytes) else {
        return Ok(());
    };
    let is_longer = record.made_by.clone().with_amount_of(settings) == *settings
        && !settings.is_enough(&record.done.counts);
    let goes_on = !record.finished && record.made_by == *settings;
    // A record without its output: `Archive::open` starts a new one.
    let is_gone = !files.whole.exists() && !files.part.exists();
    if !is_longer || goes_on || is_gone {
        return Ok(());
    }
    files.check_free()?;
    if files.whole.exists() {
        // Games must not be added to a changed file.
        archive::open_finished::<Settings, Tally>(&files.whole)?;
        let renamed = durable::rename(&files.whole, &files.part);
        renamed.map_err(FileError::to(Action::Write, &files.part))?;
    }
    record.made_by = settings.clone();
    record.finished = false;
    let json = serde_json::to_vec_pretty(&record)?;
    let written = durable::write(&files.record, &json);
    Ok(written.map_err(FileError::to(Action::Write, &files.record))?)
}

/// Removes an output with its record, of any settings.
///
/// # Errors
/// [`ArchiveError`] if it is in use, [`FileError`] if it cannot be removed.
pub fn remove(out: &Path) -> Result<()> {
    let files = Files::of(out)?;
    files.check_free()?;
    for path in [files.whole, files.part, files.record] {
        match fs::remove_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed.map_err(FileError::to(Action::Write, path))?,
        }
    }
    Ok(())
}
