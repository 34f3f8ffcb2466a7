//! Builds that are killed once they have committed their progress.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::program;

/// Returns the command `ingest build`, without output.
pub fn building(sources: &[&Path], dataset: &Path) -> Command {
    let mut command = program("ingest");
    command.arg("build").args(sources).arg("--out").arg(dataset);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Returns whether the dataset has the progress of an unfinished build, at the key given in
/// `docs/dataset.md`.
pub fn has_progress(dataset: &Path) -> bool {
    let options = rocksdb::Options::default();
    let Ok(families) = rocksdb::DB::list_cf(&options, dataset) else {
        return false;
    };
    let db = rocksdb::DB::open_cf_for_read_only(&options, dataset, families, false);
    db.is_ok_and(|db| {
        let meta = db.cf_handle("meta").map(|meta| db.get_cf(meta, "progress"));
        meta.is_some_and(|value| matches!(value, Ok(Some(_))))
    })
}

/// Starts a build and kills it once it has committed its progress.
///
/// # Panics
/// If the build cannot be started or killed.
pub fn interrupt(sources: &[&Path], dataset: &Path) {
    loop {
        let mut child = building(sources, dataset).spawn().expect("a process");
        while child.try_wait().expect("a status").is_none() && !has_progress(dataset) {
            thread::sleep(Duration::from_millis(5));
        }
        child.kill().expect("a process of this one");
        child.wait().expect("its end");
        if has_progress(dataset) {
            return;
        }
        // The build ended before its kill: try again.
        fs::remove_dir_all(dataset).expect("a dataset");
    }
}
