//! Where an export goes: a file that has its name only once it is whole, or
//! standard output.

use std::io::{self, Stdout, Write, stdout};
use std::path::Path;

use host::durable::NewFile;

/// An export that is being written.
pub struct Output {
    sink: Sink,
    /// Bytes written.
    pub bytes: u64,
}

enum Sink {
    File(NewFile),
    Stdout(Stdout),
}

/// Whether this is what standard output is called.
pub fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]
        .iter()
        .any(|name| path == Path::new(name))
}

impl Output {
    /// Begins to write to a file, by way of `FILE.tmp`, or to standard output
    /// if it is `-` or another name of it.
    pub fn create(path: &Path) -> io::Result<Output> {
        let sink = match is_stdout(path) {
            true => Sink::Stdout(stdout()),
            false => Sink::File(NewFile::create(path, ".tmp")?),
        };
        Ok(Output { sink, bytes: 0 })
    }

    /// The export is complete: gives the file its name.
    pub fn commit(mut self) -> io::Result<()> {
        self.flush()?;
        match self.sink {
            Sink::File(file) => file.commit(),
            Sink::Stdout(_) => Ok(()),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.sink {
            Sink::File(file) => file.write(bytes),
            Sink::Stdout(stdout) => stdout.write(bytes),
        }?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::File(file) => file.flush(),
            Sink::Stdout(stdout) => stdout.flush(),
        }
    }
}
