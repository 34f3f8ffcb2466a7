//! Files that are there whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Writes a file beside its place and moves it there, so that whoever reads
/// `path` finds the old content or the new.
///
/// # Errors
/// [`Failure::Unwritable`]; `path` is then as it was.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut name = OsString::from(path);
    name.push(".tmp");
    let temporary = PathBuf::from(name);
    let write = || {
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        // The renaming too must outlast a power cut.
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    };
    write().map_err(|error| {
        // Best effort: the write's own error is the one to report.
        let _ = fs::remove_file(&temporary);
        Failure::unwritable(path)(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_a_file_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("net");
        write_whole(&path, b"old").unwrap();
        write_whole(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_is_not_there_is_a_write_error() {
        let folder = tempfile::tempdir().unwrap();
        let error = write_whole(&folder.path().join("missing/net"), b"x").unwrap_err();
        assert_eq!(error.exit_code(), 7);
        assert!(error.to_string().contains("missing/net"), "{error}");
    }
}
