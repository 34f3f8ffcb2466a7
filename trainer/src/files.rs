//! Atomic file writes, and names of files.

use std::path::{Path, PathBuf};

use host::durable::{self, NewFile};

use crate::error::TrainerError;

/// File extensions of a run's files, replacing the net's `safetensors`.
pub mod ending {
    /// Metrics, one object an epoch.
    pub const METRICS: &str = "metrics.jsonl";
    /// Thinned per-step metrics.
    pub const STEPS: &str = "steps.jsonl";
    /// Golden vectors.
    pub const GOLDEN: &str = "golden.json";
    /// Loss curves of the epochs.
    pub const CURVES: &str = "svg";
    /// Calibration plot.
    pub const CALIBRATION: &str = "calibration.svg";
    /// Plot of the errors.
    pub const ERRORS: &str = "errors.svg";
    /// Picture of the first layer's weights.
    pub const NEURONS: &str = "neurons.svg";
    /// Report page.
    pub const PAGE: &str = "report.html";
    /// Data files beside a net and its checkpoint. A new run refuses to replace them.
    pub const FIGURES: [&str; 3] = [METRICS, STEPS, GOLDEN];
    /// Pictures and pages beside a net. A new run replaces those of another.
    pub const PICTURES: [&str; 5] = [CURVES, CALIBRATION, ERRORS, NEURONS, PAGE];
}

/// Formats paths on one line.
pub fn names(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    names.join(", ")
}

/// Replaces a file atomically and durably.
///
/// # Errors
/// [`TrainerError::Unwritable`]; the file is then unchanged.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), TrainerError> {
    durable::write(path, bytes).map_err(TrainerError::unwritable(path))?;
    #[cfg(test)]
    watched::written();
    Ok(())
}

/// Replaces a file atomically without waiting for the disk, for files that are soon replaced again.
/// After a power cut, an earlier version may remain.
///
/// # Errors
/// As [`write`].
pub fn write_often(path: &Path, bytes: &[u8]) -> Result<(), TrainerError> {
    durable::write_unsynced(path, bytes).map_err(TrainerError::unwritable(path))
}

/// Checks that a picture or page can be written to `path` and that it would replace nothing else.
///
/// # Errors
/// [`TrainerError::Exists`] or [`TrainerError::Unwritable`].
pub fn check_picture(path: &Path) -> Result<(), TrainerError> {
    host::check_free_for_markup(path)?;
    check_writable(path)
}

/// Checks that a file can be written, before the work of computing it. Leaves the folder unchanged.
///
/// # Errors
/// [`TrainerError::Unwritable`].
pub fn check_writable(path: &Path) -> Result<(), TrainerError> {
    let file = NewFile::create(path, ".tmp").map_err(TrainerError::unwritable(path))?;
    drop(file);
    Ok(())
}

/// Hook for tests that inspect the files between two writes.
#[cfg(test)]
pub mod watched {
    use std::cell::RefCell;

    thread_local! {
        /// Callback after each file that this thread writes.
        static AFTER_WRITING: RefCell<Option<Box<dyn FnMut()>>> = const { RefCell::new(None) };
    }

    /// Calls the hook after a file was written.
    pub fn written() {
        AFTER_WRITING.with_borrow_mut(|after| {
            if let Some(after) = after {
                after();
            }
        });
    }

    /// Runs `work`, calling `after` after each file that it writes.
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
    fn missing_folders_are_write_errors() {
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
    fn checking_for_writability_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.html");
        check_writable(&path).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        std::fs::write(&path, "old").unwrap();
        check_writable(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
    }
}
