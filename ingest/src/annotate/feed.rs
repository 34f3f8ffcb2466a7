//! The games of all sources, one after another.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use datasets::{Chunk, Error, GameTexts, Source};

/// One game's text.
pub struct Piece {
    /// The text, up to where the next game begins.
    pub text: Vec<u8>,
    /// Whether it stands for text that was passed over, because no game
    /// began in 16 MiB.
    pub oversized: bool,
    /// Bytes of the sources, compressed as they are, up to about here.
    pub read: u64,
}

/// Reads sources and cuts them into games.
pub struct Feed {
    paths: VecDeque<PathBuf>,
    source: Option<GameTexts>,
    /// The games of a chunk that have not been handed out.
    pieces: VecDeque<Piece>,
    /// Bytes of the sources that were read to their end.
    before: u64,
    /// Where the last chunk ended, in bytes of all sources.
    read: u64,
}

impl Feed {
    /// A feed from these sources, in this order. Files are opened at once, so
    /// that a wrong name is found before any work is done; what can be read
    /// only once, such as a pipe, is left alone.
    ///
    /// # Errors
    /// What [`Source::open`] says.
    pub fn new(paths: &[PathBuf]) -> Result<Feed, Error> {
        for path in paths {
            let once = path.exists() && !path.is_file() && !path.is_dir();
            if path != Path::new("-") && !once {
                Source::open(path)?;
            }
        }
        Ok(Feed {
            paths: paths.iter().cloned().collect(),
            source: None,
            pieces: VecDeque::new(),
            before: 0,
            read: 0,
        })
    }

    /// Reads the next chunk that holds anything. False at the end.
    fn fill(&mut self) -> Result<bool, Error> {
        loop {
            let mut source = match self.source.take() {
                Some(source) => source,
                None => match self.paths.pop_front() {
                    Some(path) => GameTexts::open(&path)?,
                    None => return Ok(false),
                },
            };
            let chunk = source.next_chunk()?;
            let end = self.before + source.consumed();
            match chunk {
                Some(chunk) => {
                    self.cut(chunk, end);
                    self.source = Some(source);
                    return Ok(true);
                }
                None => self.before = end,
            }
        }
    }

    /// Cuts a chunk, which ends at byte `end` of the sources, into games.
    fn cut(&mut self, chunk: Chunk, end: u64) {
        match chunk {
            Chunk::Games(text) => {
                let (start, length) = (self.read, text.len() as u64);
                let mut done = 0;
                for game in datasets::games(&text) {
                    done += game.len() as u64;
                    self.pieces.push_back(Piece {
                        text: game.to_vec(),
                        oversized: false,
                        read: start + (end - start) * done / length,
                    });
                }
            }
            // One byte of text stands for it, so that it has a place of its
            // own in the count of what was taken in.
            Chunk::Oversized => self.pieces.push_back(Piece {
                text: b"\n".to_vec(),
                oversized: true,
                read: end,
            }),
        }
        self.read = end;
    }
}

impl Iterator for Feed {
    type Item = Result<Piece, Error>;

    fn next(&mut self) -> Option<Result<Piece, Error>> {
        while self.pieces.is_empty() {
            match self.fill() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
        self.pieces.pop_front().map(Ok)
    }
}
