//! Generated dumps, written to files.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::generator::Generator;
use crate::pzstd::{WINDOW_LOG, cores, in_parallel, write_frames};

/// Games per batch of one thread.
const BATCH: u64 = 4096;

/// Parameters of a generated dump.
#[derive(Clone, Copy)]
pub struct Dump {
    /// Number of games.
    pub games: u64,
    /// Games with evaluations, in percent.
    pub annotated_percent: u32,
    /// Seed of the games.
    pub seed: u64,
    /// Division into frames.
    pub frames: Frames,
    /// Compression level of zstd.
    pub level: i32,
}

/// Division of a dump into frames.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Frames {
    /// Single frame of the whole text, as from `zstd FILE`.
    One,
    /// Frames of this many bytes of text, as from `pzstd FILE`.
    Of(usize),
}

/// Counts of a dump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Number of games.
    pub games: u64,
    /// Half-moves.
    pub plies: u64,
    /// Evaluations.
    pub labels: u64,
    /// Bytes of text.
    pub text_bytes: u64,
    /// Bytes of the file.
    pub file_bytes: u64,
}

impl Dump {
    /// Returns the parameters of a dump of `games` evaluated games, in frames of a MiB.
    pub fn annotated(games: u64) -> Dump {
        Dump {
            games,
            annotated_percent: 100,
            seed: 3,
            frames: Frames::Of(1 << 20),
            level: 1,
        }
    }

    /// Writes the dump, on all cores; calls `progress` with the number of games written.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_to(&self, path: &Path, progress: impl FnMut(u64)) -> io::Result<Contents> {
        let mut file = BufWriter::new(File::create(path)?);
        let mut contents = match self.frames {
            Frames::One => {
                let mut encoder = zstd::Encoder::new(&mut file, self.level)?;
                encoder.window_log(WINDOW_LOG)?;
                encoder.include_checksum(true)?;
                let contents = self.write_text(progress, |text, _| {
                    encoder.write_all(text)?;
                    text.clear();
                    Ok(())
                })?;
                encoder.finish()?;
                contents
            }
            Frames::Of(bytes) => self.write_text(progress, |text, last| {
                let whole = cores() * bytes;
                while text.len() >= whole || last && !text.is_empty() {
                    let now = whole.min(text.len());
                    write_frames(&text[..now], bytes, self.level, &mut file)?;
                    text.drain(..now);
                }
                Ok(())
            })?,
        };
        file.flush()?;
        contents.file_bytes = file.get_ref().metadata()?.len();
        Ok(contents)
    }

    /// Generates the text and calls `take` with the text not yet consumed, to drain what it writes;
    /// the flag marks the last call.
    fn write_text(
        &self,
        mut progress: impl FnMut(u64),
        mut take: impl FnMut(&mut Vec<u8>, bool) -> io::Result<()>,
    ) -> io::Result<Contents> {
        let mut contents = Contents::default();
        let mut text = Vec::new();
        let starts: Vec<u64> = (0..self.games).step_by(BATCH as usize).collect();
        for starts in starts.chunks(cores()) {
            for (batch, part) in in_parallel(starts, |&start| self.batch(start)) {
                contents.add(&part);
                text.extend_from_slice(&batch);
            }
            take(&mut text, false)?;
            progress(contents.games);
        }
        take(&mut text, true)?;
        Ok(contents)
    }

    fn batch(&self, start: u64) -> (Vec<u8>, Contents) {
        let mut generator = Generator::new(self.seed, self.annotated_percent);
        generator.seek(start);
        let (mut text, mut contents) = (Vec::new(), Contents::default());
        for _ in start..self.games.min(start + BATCH) {
            let game = generator.append(&mut text);
            contents.games += 1;
            contents.plies += game.plies;
            contents.labels += game.labels;
        }
        contents.text_bytes = text.len() as u64;
        (text, contents)
    }
}

impl Contents {
    fn add(&mut self, part: &Contents) {
        self.games += part.games;
        self.plies += part.plies;
        self.labels += part.labels;
        self.text_bytes += part.text_bytes;
        self.file_bytes += part.file_bytes;
    }
}

impl fmt::Display for Contents {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Contents {
            games,
            plies,
            labels,
            text_bytes,
            file_bytes,
        } = self;
        let per = |total: u64, n: u64| total as f64 / n.max(1) as f64;
        write!(
            f,
            "{games} games, {plies} plies ({:.1} a game), {labels} evaluations, \
             {text_bytes} bytes of text ({:.0} a game), {file_bytes} packed (ratio {:.2})",
            per(*plies, *games),
            per(*text_bytes, *games),
            per(*text_bytes, *file_bytes),
        )
    }
}
