//! Games of all sources, in order.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use datasets::{Chunk, GameTexts, PartOf, PartRead, SourceError};
use serde::{Deserialize, Serialize};

/// Text of one game.
pub struct Piece {
    /// Text up to the start of the next game.
    pub text: Vec<u8>,
    /// Whether this replaces skipped text: 16 MiB in which no game began.
    pub oversized: bool,
    /// Approximate offset of its end in the (compressed) bytes of all sources.
    pub read: u64,
}

/// Part of a source, with the source's size and head digest to identify it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourcePart {
    /// Index and number of parts.
    #[serde(flatten)]
    pub part: PartOf,
    /// The source's size in (compressed) bytes.
    pub bytes: u64,
    /// Digest of the source's first 16 KiB.
    pub head: String,
}

/// Reader that cuts sources into games.
pub struct Feed {
    paths: VecDeque<PathBuf>,
    source: Option<GameTexts>,
    /// Games of the current chunk that are still to be returned.
    pieces: VecDeque<Piece>,
    /// Total bytes of the finished sources.
    before: u64,
    /// End of the last chunk, in bytes of all sources.
    read: u64,
    part: Option<SourcePart>,
    /// Range and digests of the part, set at its end.
    part_read: Option<PartRead>,
}

impl Feed {
    /// Returns a feed of these sources, in this order. Opens files at once, so that a wrong name is
    /// found before any work is done; pipes can be read only once and are skipped.
    ///
    /// # Errors
    /// As [`GameTexts::open`].
    pub fn new(paths: &[PathBuf]) -> Result<Feed, SourceError> {
        for path in paths {
            let once = path.exists() && !path.is_file() && !path.is_dir();
            if path != Path::new("-") && !once {
                GameTexts::open(path)?;
            }
        }
        Ok(Feed {
            paths: paths.iter().cloned().collect(),
            source: None,
            pieces: VecDeque::new(),
            before: 0,
            read: 0,
            part: None,
            part_read: None,
        })
    }

    /// Returns a feed of a part of a source.
    ///
    /// # Errors
    /// As [`GameTexts::open_part`].
    pub fn of_part(path: &Path, part: PartOf) -> Result<Feed, SourceError> {
        let texts = GameTexts::open_part(path, part)?;
        let source = texts.source();
        Ok(Feed {
            read: source.range().map_or(0, |range| range.start),
            part: Some(SourcePart {
                part,
                bytes: source.size().unwrap_or_default(),
                head: source.head().to_string(),
            }),
            source: Some(texts),
            ..Feed::new(&[])?
        })
    }

    /// Returns the part that is read; `None` if all of the source is.
    pub fn part(&self) -> Option<&SourcePart> {
        self.part.as_ref()
    }

    /// Returns the range and digests of the part; `None` before its end.
    pub fn into_part_read(self) -> Option<PartRead> {
        self.part_read
    }

    /// Reads the next chunk. Returns false at the end of all sources.
    fn fill(&mut self) -> Result<bool, SourceError> {
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
                None if self.part.is_some() => self.part_read = source.part_read()?,
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
            // A placeholder of one byte, so that the count of consumed text includes it.
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
    type Item = Result<Piece, SourceError>;

    fn next(&mut self) -> Option<Result<Piece, SourceError>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The time left is estimated from the games done, not from text read ahead of them.
    #[test]
    fn reports_the_offset_of_each_game() {
        let sample = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../datasets/samples/dump_2021-10_first499.pgn.zst");
        let text = zstd::decode_all(std::fs::File::open(sample).unwrap()).unwrap();
        let text = text.repeat(8);
        let frame = zstd::bulk::compress(&text, 1).unwrap();
        let header = [0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0];
        let sized = [&header, &(frame.len() as u32).to_le_bytes()[..], &frame].concat();
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in [("plain", &text), ("stream", &frame), ("frame", &sized)] {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            let mut done = 0;
            for piece in Feed::new(&[path]).unwrap() {
                let piece = piece.unwrap();
                done += piece.text.len();
                let share = piece.read as f64 / bytes.len() as f64;
                let expected = done as f64 / text.len() as f64;
                assert!(
                    (share - expected).abs() < 0.15,
                    "{name}: {share} at {expected}"
                );
            }
            assert_eq!(done, text.len());
        }
    }
}
