//! Where an export goes: a file that has its name only once it is whole, or
//! standard output.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Stdout, Write, stdout};
use std::path::{Path, PathBuf};

/// An export that is being written.
pub struct Output {
    sink: Sink,
    /// Bytes written.
    pub bytes: u64,
}

enum Sink {
    /// `part` becomes `whole` at the end.
    Whole {
        file: File,
        part: PathBuf,
        whole: PathBuf,
    },
    /// A pipe or a device, which cannot be replaced by a file.
    Special(File),
    Stdout(Stdout),
}

impl Output {
    /// Begins to write to a file, by way of `FILE.part`, or to standard output
    /// if it is `-`.
    pub fn create(path: &Path) -> io::Result<Output> {
        let special = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
        let sink = if path == Path::new("-") {
            Sink::Stdout(stdout())
        } else if special {
            Sink::Special(File::create(path)?)
        } else {
            let mut part = OsString::from(path);
            part.push(".part");
            Sink::Whole {
                file: File::create(&part)?,
                part: part.into(),
                whole: path.to_path_buf(),
            }
        };
        Ok(Output { sink, bytes: 0 })
    }

    /// The export is complete: gives the file its name.
    pub fn commit(mut self) -> io::Result<()> {
        self.flush()?;
        if let Sink::Whole { file, part, whole } = &self.sink {
            file.sync_all()?;
            fs::rename(part, whole)?;
        }
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.sink {
            Sink::Whole { file, .. } | Sink::Special(file) => file.write(bytes),
            Sink::Stdout(stdout) => stdout.write(bytes),
        }?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Whole { file, .. } | Sink::Special(file) => file.flush(),
            Sink::Stdout(stdout) => stdout.flush(),
        }
    }
}

impl Drop for Output {
    /// What was not committed is of no use: its room on the disk is. After a
    /// commit there is no such file, and nothing to say.
    fn drop(&mut self) {
        if let Sink::Whole { part, .. } = &self.sink {
            let _ = fs::remove_file(part);
        }
    }
}
