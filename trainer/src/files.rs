//! Files that are there whole or not at all, however the program ends.

use std::path::Path;

use host::durable::{self, NewFile};

use crate::error::TrainerError;

/// What the names of a run's files end with, in place of the net's `safetensors`.
pub mod ending {
    /// The metrics, one object an epoch.
    pub const METRICS: &str = "metrics.jsonl";
    /// What was measured from step to step, thinned.
    pub const STEPS: &str = "steps.jsonl";
    /// The golden vectors.
    pub const GOLDEN: &str = "golden.json";
    /// The curves of the epochs.
    pub const CURVES: &str = "svg";
    /// The calibration.
    pub const CALIBRATION: &str = "calibration.svg";
    /// Where the net is wrong.
    pub const ERRORS: &str = "errors.svg";
    /// What the first layer looks at.
    pub const NEURONS: &str = "neurons.svg";
    /// The page.
    pub const PAGE: &str = "report.html";
    /// Files of numbers beside a net and its checkpoint: a new run replaces none.
    pub const FIGURES: [&str; 3] = [METRICS, STEPS, GOLDEN];
    /// Pictures and pages there: a new run replaces those of another.
    pub const PICTURES: [&str; 5] = [CURVES, CALIBRATION, ERRORS, NEURONS, PAGE];
}

/// Replaces a file.
///
/// # Errors
/// [`TrainerError::Unwritable`]; it is then as it was.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), TrainerError> {
    durable::write(path, bytes).map_err(TrainerError::unwritable(path))?;
    #[cfg(test)]
    watched::written();
    Ok(())
}

/// Replaces a file that is soon replaced again: it costs no wait for the disk, and a
/// power cut may leave an earlier one.
///
/// # Errors
/// As [`write`].
pub fn write_often(path: &Path, bytes: &[u8]) -> Result<(), TrainerError> {
    durable::write_unsynced(path, bytes).map_err(TrainerError::unwritable(path))
}

/// Makes sure that a picture or page can be written to `path`, and replaces nothing else.
///
/// # Errors
/// [`TrainerError::Exists`] or [`TrainerError::Unwritable`].
pub fn check_picture(path: &Path) -> Result<(), TrainerError> {
    host::check_free_for_markup(path)?;
    check_writable(path)
}

/// Finds out whether a file can be written, before the work that it is to hold.
///
/// # Errors
/// [`TrainerError::Unwritable`].
pub fn check_writable(path: &Path) -> Result<(), TrainerError> {
    let file = NewFile::create(path, ".tmp").map_err(TrainerError::unwritable(path))?;
    // It leaves nothing behind.
    drop(file);
    Ok(())
}

/// For tests that look at the files between two writes.
#[cfg(test)]
pub mod watched {
    use std::cell::RefCell;

    thread_local! {
        /// What is done after each file that this thread writes.
        static AFTER_WRITING: RefCell<Option<Box<dyn FnMut()>>> = const { RefCell::new(None) };
    }

    /// A file was written.
    pub fn written() {
        AFTER_WRITING.with_borrow_mut(|after| {
            if let Some(after) = after {
                after();
            }
        });
    }

    /// Does something after each file that `work` writes.
    pub fn after_each_file<R>(after: impl FnMut() + 'static, work: impl FnOnce() -> R) -> R {
        AFTER_WRITING.set(Some(Box::new(after)));
        let result = work();
        AFTER_WRITING.set(None);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_is_a_write_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("missing/net");
        for result in [write(&path, b"x"), check_writable(&path)] {
            let error = result.unwrap_err();
            assert_eq!(error.exit_code() as u8, 7);
            let text = error.to_string();
            assert!(
                text.contains("missing/net") && text.contains("folder"),
                "{text}"
            );
        }
    }

    #[test]
    fn looking_whether_a_file_can_be_written_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.html");
        check_writable(&path).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        std::fs::write(&path, "old").unwrap();
        check_writable(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
    }
}
