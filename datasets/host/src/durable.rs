//! Files that are there whole or not at all, and stay there when the power
//! goes: a temporary file beside the place, sync, rename, sync of the folder.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Replaces the file at `path`: whoever reads it finds the old bytes or the
/// new ones. The temporary file is `PATH.tmp`. A pipe or a device is written to
/// as it is.
///
/// # Errors
/// What the system said; the file is then as it was.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = NewFile::create(path, ".tmp")?;
    file.write_all(bytes)?;
    file.commit()
}

/// The same without a sync, for a file that is soon replaced again: after a power
/// cut, an earlier one may be there, or an empty one.
///
/// # Errors
/// As [`write()`].
pub fn write_unsynced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = NewFile::create(path, ".tmp")?;
    file.write_all(bytes)?;
    file.name()
}

/// Gives a file that is synced the name `to`, which is replaced if it is there.
///
/// # Errors
/// What the system said.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    sync_folder_of(to)
}

/// Syncs the folder that `path` is in, so that the name is as durable as what
/// is in the file. Windows offers no such thing, and needs none. A folder that
/// may be written but not read, or is on a file system that syncs no folders,
/// is left to the system.
///
/// # Errors
/// What the system said.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let synced = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
    match synced {
        // The file has its name: that is no failure to write it.
        Err(error) if is_no_sync(error.kind()) => Ok(()),
        synced => synced,
    }
}

/// Whether a folder can have its files written, and cannot be synced.
fn is_no_sync(error: ErrorKind) -> bool {
    matches!(
        error,
        ErrorKind::PermissionDenied | ErrorKind::InvalidInput | ErrorKind::Unsupported
    )
}

/// A file that is being written, and has its name only from
/// [`NewFile::commit`] on. Dropped before, it leaves nothing behind.
///
/// A pipe or a device, such as `/dev/stdout`, is not replaced but written to.
#[derive(Debug)]
pub struct NewFile {
    /// `None` once it has its name.
    file: Option<File>,
    /// What the file is called before it has its name; `None` of a pipe or a
    /// device.
    temporary: Option<PathBuf>,
    path: PathBuf,
}

impl NewFile {
    /// Begins to write what is to be `path` to a file beside it, whose name
    /// ends with `suffix` as well. Where `path` is a link, it stays one: the
    /// file that it leads to is replaced.
    ///
    /// # Errors
    /// What the system said; also if `path` is a folder, and
    /// [`ErrorKind::ResourceBusy`] while somebody else writes it.
    pub fn create(path: &Path, suffix: &str) -> io::Result<NewFile> {
        let path = destination(path)?;
        let (file, temporary) = match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Ok(metadata) if !metadata.is_file() => (File::create(&path)?, None),
            _ => {
                let mut temporary = OsString::from(&path);
                temporary.push(suffix);
                let temporary = PathBuf::from(temporary);
                (create_alone(&temporary)?, Some(temporary))
            }
        };
        Ok(NewFile {
            file: Some(file),
            temporary,
            path,
        })
    }

    /// The file is complete: gives it its name.
    ///
    /// # Errors
    /// What the system said; whatever had the name keeps it.
    pub fn commit(mut self) -> io::Result<()> {
        if self.temporary.is_some() {
            self.file.as_ref().ok_or_else(committed)?.sync_all()?;
            self.name()?;
            sync_folder_of(&self.path)?;
        }
        Ok(())
    }

    /// Gives the file its name.
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

/// Links that lead to one another, at most: as many as Linux follows.
const LINKS: usize = 40;

/// What a path leads to, by whatever links, whether it is there or not.
///
/// # Errors
/// What the system said, but that nothing is there.
pub fn destination(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    match fs::metadata(&path) {
        // A pipe's name in /proc leads nowhere else.
        Ok(metadata) if !metadata.is_file() => return Ok(path),
        Ok(_) => return fs::canonicalize(path),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    for _ in 0..LINKS {
        let Ok(target) = fs::read_link(&path) else {
            break;
        };
        // In the link's folder, unless it is absolute.
        path.pop();
        path.push(target);
    }
    Ok(path)
}

/// Makes a temporary file, or empties what a program that was killed has left
/// of one, and locks it.
fn create_alone(path: &Path) -> io::Result<File> {
    // Written through a link, what it leads to would be lost.
    if fs::symlink_metadata(path).is_ok_and(|there| !there.is_file()) {
        let text = format!("{} is in the way: it is no file", path.display());
        return Err(io::Error::new(ErrorKind::AlreadyExists, text));
    }
    let mut options = File::options();
    let file = options
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)?;
    // Not every file system has locks.
    let locked_out = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
    // Or what was opened may have got its name meanwhile.
    if locked_out || !is_at(&file, path) {
        return Err(io::Error::new(
            ErrorKind::ResourceBusy,
            "somebody else is writing it; wait for them to end",
        ));
    }
    file.set_len(0)?;
    Ok(file)
}

/// Whether a file has this path still.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let there = fs::symlink_metadata(path).map(place);
    file.metadata()
        .is_ok_and(|file| there.is_ok_and(|there| there == place(file)))
}

/// Whether a file has this path still: Windows does not tell.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

fn committed() -> io::Error {
    io::Error::other("the file has its name already")
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
        // While it is locked it is nobody else's; but Windows removes no file
        // that is open.
        let locked = cfg!(unix).then_some(file);
        // Best effort: there may be nobody left to tell.
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
    fn replaces_a_file_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("net");
        write(&path, b"old").unwrap();
        write(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["net"]);
    }

    #[test]
    fn an_unsynced_file_replaces_another_as_well() {
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
    fn a_file_has_its_name_only_once_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("games");
        let mut file = NewFile::create(&path, ".part").unwrap();
        file.write_all(b"1. e4").unwrap();
        assert_eq!(names(folder.path()), ["games.part"]);
        drop(file);
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn what_cannot_be_replaced_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("taken");
        fs::create_dir(&path).unwrap();
        // Before anything is written.
        let error = NewFile::create(&path, ".part").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::IsADirectory);
        assert_eq!(names(folder.path()), ["taken"]);
        assert!(write(&folder.path().join("missing/net"), b"x").is_err());
    }

    #[test]
    fn what_one_writes_another_does_not_touch() {
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
    fn what_a_killed_program_left_is_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("net.tmp"), b"longer than what comes").unwrap();
        write(&path("net"), b"new").unwrap();
        assert_eq!(fs::read(path("net")).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["net"]);
    }

    #[test]
    #[cfg(unix)]
    fn what_a_link_beside_the_place_leads_to_stays() {
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
    fn a_link_stays_and_what_it_leads_to_is_replaced() {
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
    fn a_link_to_what_is_not_there_yet_stays() {
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
        // A circle leads nowhere.
        symlink("circle", path("circle")).unwrap();
        write(&path("circle"), b"new").unwrap_err();
        assert!(path("circle").is_symlink());
    }

    #[test]
    fn a_folder_that_cannot_be_synced_is_no_failure() {
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
    fn a_device_is_not_replaced() {
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
