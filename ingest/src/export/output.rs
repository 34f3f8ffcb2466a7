//! Output of an export: a file that gets its name once it is complete, or standard output.

use std::io::{self, Stdout, Write, stdout};
use std::path::Path;

use host::durable::NewFile;

/// Export in progress.
pub struct Output {
    sink: Sink,
    /// Bytes written.
    pub bytes: u64,
}

enum Sink {
    File(NewFile),
    Stdout(Stdout),
}

/// Returns whether `path` names standard output.
pub fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]
        .iter()
        .any(|name| path == Path::new(name))
}

impl Output {
    /// Opens `FILE.tmp` beside `path`, or standard output if `path` names that.
    pub fn create(path: &Path) -> io::Result<Output> {
        let sink = match is_stdout(path) {
            true => Sink::Stdout(stdout()),
            false => Sink::File(NewFile::create(path, ".tmp")?),
        };
        Ok(Output { sink, bytes: 0 })
    }

    /// Flushes the output and gives a file its final name.
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
