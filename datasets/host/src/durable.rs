//! Atomic, durable file replacement: write a temporary file beside the target, sync it, rename it,
//! sync the folder. Readers see the old file or the new one, also after a power cut.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Replaces the file at `path` atomically and durably. The temporary file is `PATH.tmp`. Pipes and
/// devices are written directly.
///
/// # Errors
/// Any I/O error; a file at `path` is then unchanged.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = NewFile::create(path, ".tmp")?;
    file.write_all(bytes)?;
    file.commit()
}

/// Replaces the file at `path` atomically without syncing, for files that are soon replaced again:
/// after a power cut an earlier version may be there, or an empty file.
///
/// # Errors
/// As [`write()`].
pub fn write_unsynced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = NewFile::create(path, ".tmp")?;
    file.write_all(bytes)?;
    file.name()
}

/// Renames a synced file to `to`, replacing any file there, and syncs the folder.
///
/// # Errors
/// Any I/O error.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    sync_folder_of(to)
}

/// Syncs the folder of `path`, which makes a new name durable. On Windows, where folders need no
/// sync, it does nothing. Folders that cannot be opened for reading, or that the file system cannot
/// sync, are skipped.
///
/// # Errors
/// Any other I/O error.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let synced = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
    match synced {
        // The file is written and named: an unsyncable folder is not a failure.
        Err(error) if is_no_sync(error.kind()) => Ok(()),
        synced => synced,
    }
}

/// Returns whether `error` means that the folder cannot be synced, not that the sync failed.
fn is_no_sync(error: ErrorKind) -> bool {
    matches!(
        error,
        ErrorKind::PermissionDenied | ErrorKind::InvalidInput | ErrorKind::Unsupported
    )
}

/// A file being written, which gets its final name from [`NewFile::commit`]. Dropped before that,
/// it is removed.
///
/// Pipes and devices, such as `/dev/stdout`, are written directly.
#[derive(Debug)]
pub struct NewFile {
    /// `None` after the rename.
    file: Option<File>,
    /// Path of the temporary file; `None` for pipes and devices.
    temporary: Option<PathBuf>,
    path: PathBuf,
}

impl NewFile {
    /// Creates a temporary file beside `path`: its name plus `suffix`. If `path` is a symbolic
    /// link, the link is kept and its target is replaced.
    ///
    /// # Errors
    /// Any I/O error; [`ErrorKind::IsADirectory`] if `path` is a folder,
    /// [`ErrorKind::ResourceBusy`] while another process writes the file.
    pub fn create(path: &Path, suffix: &str) -> io::Result<NewFile> {
        let path = destination(path)?;
        let (file, temporary) = match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Ok(metadata) if !metadata.is_file() => (File::create(&path)?, None),
            _ => {
                let temporary = with_suffix(&path, suffix);
                (create_alone(&temporary)?, Some(temporary))
            }
        };
        Ok(NewFile {
            file: Some(file),
            temporary,
            path,
        })
    }

    /// Syncs the complete file and renames it to its final name.
    ///
    /// # Errors
    /// Any I/O error; a file at the final name is then unchanged.
    pub fn commit(mut self) -> io::Result<()> {
        if self.temporary.is_some() {
            self.file.as_ref().ok_or_else(committed)?.sync_all()?;
            self.name()?;
            sync_folder_of(&self.path)?;
        }
        Ok(())
    }

    /// Renames the temporary file to its final name.
    fn name(&mut self) -> io::Result<()> {
        if let Some(temporary) = &self.temporary {
            fs::rename(temporary, &self.path)?;
            self.file = None;
        }
        Ok(())
    }

    fn file(&mut self) -> io::Result<&mut File> {
        self.file.as_mut().ok_or_else(committed)
    }
}

/// Limit on chained symbolic links, the same as in Linux.
const LINKS: usize = 40;

/// Resolves all symbolic links of a path; the final target need not exist.
///
/// # Errors
/// Any I/O error except [`ErrorKind::NotFound`].
pub fn destination(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    match fs::metadata(&path) {
        // A pipe's link in /proc has no target path to resolve.
        Ok(metadata) if !metadata.is_file() => return Ok(path),
        Ok(_) => return fs::canonicalize(path),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    for _ in 0..LINKS {
        let Ok(target) = fs::read_link(&path) else {
            break;
        };
        // Relative targets start at the link's folder.
        path.pop();
        path.push(target);
    }
    Ok(path)
}

/// Returns `path` with `suffix` appended to its file name.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(suffix);
    name.into()
}

/// Creates and locks a temporary file, or takes over and empties one left by a killed program.
fn create_alone(path: &Path) -> io::Result<File> {
    // Writing through a link would overwrite its target.
    if fs::symlink_metadata(path).is_ok_and(|there| !there.is_file()) {
        let text = format!("{} is not a regular file; remove it", path.display());
        return Err(io::Error::new(ErrorKind::AlreadyExists, text));
    }
    let mut options = File::options();
    let file = options
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)?;
    // A file system without locks returns another error, which is ignored.
    let locked_out = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
    // The previous owner may have renamed the file between our open and our lock.
    if locked_out || !is_at(&file, path) {
        return Err(io::Error::new(
            ErrorKind::ResourceBusy,
            "another process is writing it; wait for it to end",
        ));
    }
    file.set_len(0)?;
    Ok(file)
}

/// Returns whether `path` still names this file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let there = fs::symlink_metadata(path).map(place);
    file.metadata()
        .is_ok_and(|file| there.is_ok_and(|there| there == place(file)))
}

/// Windows has no stable way to compare files, so assume that it does.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

fn committed() -> io::Error {
    io::Error::other("the file is already committed")
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file()?.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        let (Some(file), Some(temporary)) = (self.file.take(), &self.temporary) else {
            return;
        };
        // On Unix the lock is held during removal, so the file is still ours. Windows cannot remove
        // open files, so there the file is closed first.
        let locked = cfg!(unix).then_some(file);
        // Best effort: a drop cannot report errors.
        let _ = fs::remove_file(temporary);
        drop(locked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<_> = entries
            .map(|entry| name(entry).into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn replaces_a_file_without_leftovers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("net");
        write(&path, b"old").unwrap();
        write(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["net"]);
    }

    #[test]
    fn replaces_a_file_unsynced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page");
        for bytes in [&b"longer"[..], b"new"] {
            write_unsynced(&path, bytes).unwrap();
            assert_eq!(fs::read(&path).unwrap(), bytes);
            assert_eq!(names(folder.path()), ["page"]);
        }
        assert!(write_unsynced(&folder.path().join("missing/page"), b"x").is_err());
    }

    #[test]
    fn removes_the_temporary_file_without_commit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("games");
        let mut file = NewFile::create(&path, ".part").unwrap();
        file.write_all(b"1. e4").unwrap();
        assert_eq!(names(folder.path()), ["games.part"]);
        drop(file);
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn refuses_to_replace_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("taken");
        fs::create_dir(&path).unwrap();
        // The error comes before any write.
        let error = NewFile::create(&path, ".part").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::IsADirectory);
        assert_eq!(names(folder.path()), ["taken"]);
        assert!(write(&folder.path().join("missing/net"), b"x").is_err());
    }

    #[test]
    fn refuses_a_second_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("games");
        let mut first = NewFile::create(&path, ".part").unwrap();
        first.write_all(b"1. e4 e5").unwrap();
        let second = NewFile::create(&path, ".part");
        assert_eq!(second.unwrap_err().kind(), ErrorKind::ResourceBusy);
        first.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"1. e4 e5");
        write(&path, b"1. d4").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"1. d4");
        assert_eq!(names(folder.path()), ["games"]);
    }

    #[test]
    fn overwrites_the_leftover_of_a_killed_program() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("net.tmp"), b"longer than what comes").unwrap();
        write(&path("net"), b"new").unwrap();
        assert_eq!(fs::read(path("net")).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["net"]);
    }

    #[test]
    #[cfg(unix)]
    fn never_writes_through_a_link_at_the_temporary_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("mine"), b"mine").unwrap();
        std::os::unix::fs::symlink("mine", path("net.tmp")).unwrap();
        let error = write(&path("net"), b"new").unwrap_err();
        assert!(error.to_string().contains("net.tmp"), "{error}");
        assert_eq!(fs::read(path("mine")).unwrap(), b"mine");
        assert_eq!(names(folder.path()), ["mine", "net.tmp"]);
    }

    #[test]
    #[cfg(unix)]
    fn keeps_a_link_and_replaces_its_target() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        write(&path("net"), b"old").unwrap();
        std::os::unix::fs::symlink("net", path("link")).unwrap();
        write(&path("link"), b"new").unwrap();
        assert!(fs::symlink_metadata(path("link")).unwrap().is_symlink());
        assert_eq!(fs::read(path("net")).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["link", "net"]);
    }

    #[test]
    #[cfg(unix)]
    fn creates_the_missing_target_of_a_link() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("nets")).unwrap();
        symlink("nets/newest", path("link")).unwrap();
        symlink("net", path("nets/newest")).unwrap();
        write(&path("link"), b"new").unwrap();
        assert_eq!(
            fs::read_link(path("link")).unwrap(),
            Path::new("nets/newest")
        );
        assert_eq!(names(&path("nets")), ["net", "newest"]);
        assert_eq!(fs::read(path("nets/net")).unwrap(), b"new");
        // A cycle of links.
        symlink("circle", path("circle")).unwrap();
        write(&path("circle"), b"new").unwrap_err();
        assert!(path("circle").is_symlink());
    }

    #[test]
    fn tolerates_unsyncable_folders() {
        for code in [1, 13, 22] {
            let error = io::Error::from_raw_os_error(code);
            assert!(cfg!(not(unix)) || is_no_sync(error.kind()), "{error}");
        }
        for kind in [ErrorKind::StorageFull, ErrorKind::Other] {
            assert!(!is_no_sync(kind));
        }
    }

    #[test]
    #[cfg(unix)]
    fn writes_to_a_device_without_replacing_it() {
        use std::os::unix::fs::{FileTypeExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("nothing");
        symlink("/dev/null", &link).unwrap();
        write(&link, b"x").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(names(folder.path()), ["nothing"]);
        let null = fs::metadata("/dev/null").unwrap();
        assert!(null.file_type().is_char_device());
    }
}
