//! Existing outputs of `arena generate`: adding games to them, and keeping them until a new output
//! replaces them.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Result;
use host::archive::{self, ArchiveError};
use host::durable::{self, with_suffix};
use host::{Action, FileError};

use crate::selfplay::generator::OutputRecord;
use crate::selfplay::settings::Settings;
use crate::selfplay::tally::Tally;

/// Suffix of an output that will replace an earlier one.
const NEW: &str = ".new";

/// Place where an output is written.
pub struct Destination {
    files: Files,
    /// Files of the new output; `files` has the earlier one until the new one is complete.
    new: Option<Files>,
}

impl Destination {
    /// Finds the place of an output. With `force` it is beside an existing one; without, it is that
    /// of an output with equal settings, which may ask for more games or positions.
    ///
    /// # Errors
    /// [`ArchiveError`] if the output is in use, or does not match its record; [`FileError`] if it
    /// cannot be written.
    pub fn open(out: &Path, settings: &Settings, force: bool) -> Result<Destination> {
        let files = Files::of(out)?;
        let new = Files::named(with_suffix(&files.whole, NEW));
        files.check_free()?;
        new.check_free()?;
        files.finish_replacement(&new)?;
        let is_beside = match force {
            true => {
                new.discard()?;
                files.exist()
            }
            false => new
                .read_record()
                .is_some_and(|record| record.made_by.equals_but_amount(settings)),
        };
        if is_beside && files.whole.is_dir() {
            let error = FileError::to(Action::Write, files.whole);
            return Err(error(ErrorKind::IsADirectory.into()).into());
        }
        let destination = Destination {
            files,
            new: is_beside.then_some(new),
        };
        if !force {
            destination.place().grow(settings)?;
        }
        Ok(destination)
    }

    /// Returns the path of the output while it is written.
    pub fn path(&self) -> &Path {
        &self.place().whole
    }

    /// Returns whether an earlier output stays until [`Destination::replace`].
    pub fn keeps_earlier(&self) -> bool {
        self.new.is_some()
    }

    /// Replaces the earlier output, if any, by the complete new one.
    ///
    /// # Errors
    /// [`ArchiveError`] if another process writes the earlier one, [`FileError`] if a file cannot be
    /// renamed.
    pub fn replace(&self) -> Result<()> {
        match &self.new {
            Some(new) => self.files.replace_by(new),
            None => Ok(()),
        }
    }

    fn place(&self) -> &Files {
        self.new.as_ref().unwrap_or(&self.files)
    }
}

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
        Ok(Files::named(whole))
    }

    fn named(whole: PathBuf) -> Files {
        Files {
            part: with_suffix(&whole, ".part"),
            record: with_suffix(&whole, ".json"),
            whole,
        }
    }

    fn all(&self) -> [&Path; 3] {
        [&self.whole, &self.part, &self.record]
    }

    fn exist(&self) -> bool {
        self.all().iter().any(|path| path.exists())
    }

    /// Fails if another process writes the output.
    fn check_free(&self) -> Result<(), ArchiveError> {
        let writes = || FileError::to(Action::Write, &self.part);
        let part = match File::options().write(true).open(&self.part) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
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

    /// Returns the record; `None` if it is missing, or unreadable, which `Archive::open` refuses.
    fn read_record(&self) -> Option<OutputRecord> {
        let bytes = fs::read(&self.record).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Reopens a finished output to add games, if it has fewer games or positions than `settings`
    /// ask for and all other settings are equal. Leaves any other output unchanged.
    fn grow(&self, settings: &Settings) -> Result<()> {
        let Some(mut record) = self.read_record() else {
            return Ok(());
        };
        let is_longer =
            record.made_by.equals_but_amount(settings) && !settings.is_enough(&record.done.counts);
        let goes_on = !record.finished && record.made_by == *settings;
        // A record without its output: `Archive::open` starts a new one.
        let is_gone = !self.whole.exists() && !self.part.exists();
        if !is_longer || goes_on || is_gone {
            return Ok(());
        }
        if self.whole.exists() {
            // Games must not be added to a changed file.
            archive::open_finished::<Settings, Tally>(&self.whole)?;
            rename(&self.whole, &self.part)?;
        }
        record.made_by = settings.clone();
        record.finished = false;
        let json = serde_json::to_vec_pretty(&record)?;
        let written = durable::write(&self.record, &json);
        Ok(written.map_err(FileError::to(Action::Write, &self.record))?)
    }

    /// Removes an unfinished replacement, known by its record.
    fn discard(&self) -> Result<(), FileError> {
        if self.read_record().is_none() {
            return Ok(());
        }
        self.all().into_iter().try_for_each(remove)
    }

    /// Completes a replacement that was interrupted after the last game of `new`.
    fn finish_replacement(&self, new: &Files) -> Result<()> {
        let Some(record) = new.read_record() else {
            return Ok(());
        };
        let is_enough = record.made_by.is_enough(&record.done.counts);
        if !record.finished || !is_enough || new.part.exists() {
            return Ok(());
        }
        if new.whole.exists() {
            archive::open_finished::<Settings, Tally>(&new.whole)?;
            return self.replace_by(new);
        }
        // Killed between the two renames.
        let bytes = fs::metadata(&self.whole).map(|whole| whole.len());
        match bytes.is_ok_and(|bytes| bytes == record.done.bytes) {
            true => self.replace_by(new),
            false => Ok(()),
        }
    }

    /// Renames a complete output, unless an interrupted call has done so, and its record.
    fn replace_by(&self, new: &Files) -> Result<()> {
        self.check_free()?;
        if new.whole.exists() {
            rename(&new.whole, &self.whole)?;
        }
        rename(&new.record, &self.record)?;
        Ok(remove(&self.part)?)
    }
}

fn rename(from: &Path, to: &Path) -> Result<(), FileError> {
    durable::rename(from, to).map_err(FileError::to(Action::Write, to))
}

/// Removes a file, if it exists.
fn remove(path: &Path) -> Result<(), FileError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(FileError::to(Action::Write, path)),
    }
}
