//! In-memory filesystem for Syzygy tables, filled on demand.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use shakmaty_syzygy::filesystem::{Filesystem, RandomAccessFile, ReadHint};

/// A size that passes the check for valid tables, 16 modulo 64.
const SOUND_SIZE: u64 = 16;

/// Table files by name.
#[derive(Default)]
pub struct Files(Mutex<State>);

#[derive(Default)]
struct State {
    brought: HashMap<PathBuf, Arc<[u8]>>,
    /// Last file that was opened and missing.
    wanted: Option<PathBuf>,
}

impl Files {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("nothing panics while it is held")
    }

    /// Stores the bytes of a file.
    pub fn bring(&self, name: &str, bytes: Vec<u8>) {
        self.state().brought.insert(name.into(), bytes.into());
    }

    /// Returns the last missing file opened since the previous call.
    pub fn wanted(&self) -> Option<String> {
        let path = self.state().wanted.take()?;
        Some(path.to_string_lossy().into_owned())
    }
}

impl Filesystem for Files {
    fn regular_file_size(&self, _: &Path) -> io::Result<u64> {
        // The file may not be loaded yet; its real size is checked when it is opened.
        Ok(SOUND_SIZE)
    }

    fn read_dir(&self, _: &Path) -> io::Result<Vec<PathBuf>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn RandomAccessFile>> {
        let mut state = self.state();
        if let Some(bytes) = state.brought.get(path) {
            return Ok(Box::new(Bytes(bytes.clone())));
        }
        state.wanted = Some(path.into());
        Err(io::ErrorKind::NotFound.into())
    }
}

struct Bytes(Arc<[u8]>);

impl RandomAccessFile for Bytes {
    fn read_at(&self, buffer: &mut [u8], offset: u64, _: ReadHint) -> io::Result<usize> {
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        let rest = self.0.get(offset..).unwrap_or_default();
        let read = rest.len().min(buffer.len());
        buffer[..read].copy_from_slice(&rest[..read]);
        Ok(read)
    }
}
