//! A source of games: a file, compressed or not, or standard input, as a
//! stream of chunks that begin and end at game boundaries.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest, Sha256};

use crate::Error;
use crate::boundary;
use crate::movetext::ends_with_result;

/// Text is handed on in pieces of about this size: large enough that the
/// hand-over costs nothing, small enough that a few in flight stay small.
const CHUNK_BYTES: usize = 1 << 20;

/// A game is never longer than this. The longest legal game, 5,898 moves,
/// each with a comment of a kilobyte, would fit.
const MAX_GAME_BYTES: usize = 16 << 20;

/// A piece of a source.
pub enum Chunk {
    /// Whole games.
    Games(Vec<u8>),
    /// More than 16 MiB without the start of a game were passed over.
    Oversized,
}

/// An open source.
pub struct Source {
    path: PathBuf,
    decoder: Box<dyn Read + Send>,
    meter: Arc<Meter>,
    /// Text read and not yet handed on.
    text: Vec<u8>,
    ended: bool,
    /// Whether the file is made of frames as Lichess makes them, whose text
    /// always ends with a result.
    must_end_with_result: bool,
    /// Inside a stretch of text that is passed over.
    oversized: bool,
    /// What the decoder failed with, once it has.
    failure: Option<io::Error>,
}

/// Bytes read from the file so far, and their digest.
#[derive(Default)]
pub struct Meter {
    compressed: AtomicU64,
    digest: std::sync::Mutex<Sha256>,
}

impl Meter {
    /// A reader whose bytes this meter counts and digests.
    pub fn watch<R: Read>(self: &Arc<Meter>, inner: R) -> impl Read + use<R> {
        Metered {
            inner,
            meter: Arc::clone(self),
        }
    }

    /// Compressed bytes read so far.
    pub fn compressed_bytes(&self) -> u64 {
        self.compressed.load(Ordering::Relaxed)
    }

    /// SHA-256 of the bytes read so far, in hexadecimal.
    pub fn sha256(&self) -> String {
        let digest = self
            .digest
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        hex(&digest.clone().finalize())
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Counts and digests what passes through it.
struct Metered<R> {
    inner: R,
    meter: Arc<Meter>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.meter
            .compressed
            .fetch_add(count as u64, Ordering::Relaxed);
        let mut digest = self.meter.digest.lock().unwrap_or_else(|p| p.into_inner());
        digest.update(&buffer[..count]);
        Ok(count)
    }
}

impl Source {
    /// Opens a file, or standard input if the path is `-`. The compression is
    /// told by the first bytes, not by the name.
    ///
    /// # Errors
    /// [`Error::Unreadable`], [`Error::Empty`], [`Error::NotPgn`].
    pub fn open(path: &Path) -> Result<Source, Error> {
        let unreadable = || Error::unreadable(path);
        let raw: Box<dyn Read + Send> = if path == Path::new("-") {
            Box::new(io::stdin())
        } else {
            let file = File::open(path).map_err(unreadable())?;
            if file.metadata().map_err(unreadable())?.is_dir() {
                return Err(unreadable()(io::Error::other(
                    "is a folder, expected a file",
                )));
            }
            Box::new(file)
        };
        let meter = Arc::new(Meter::default());
        let mut input = BufReader::with_capacity(1 << 17, meter.watch(raw));
        let magic = input.fill_buf().map_err(unreadable())?;
        if magic.is_empty() {
            return Err(Error::Empty {
                path: path.to_path_buf(),
            });
        }
        let must_end_with_result = is_skippable_frame(magic);
        let decoder = decoder(input).map_err(unreadable())?;
        let mut source = Source {
            path: path.to_path_buf(),
            decoder,
            meter,
            text: Vec::new(),
            ended: false,
            must_end_with_result,
            oversized: false,
            failure: None,
        };
        source.failure = source.fill().err();
        source.check_is_pgn()?;
        Ok(source)
    }

    /// The meter, to watch from elsewhere.
    pub fn meter(&self) -> Arc<Meter> {
        Arc::clone(&self.meter)
    }

    /// The next chunk; `None` at the end.
    ///
    /// # Errors
    /// [`Error::Damaged`] where the file breaks off or is corrupt; every game
    /// that was complete by then has been handed over.
    pub fn next_chunk(&mut self) -> Result<Option<Chunk>, Error> {
        loop {
            // What is complete goes out before a failure is reported.
            if let Some(chunk) = self.cut() {
                return Ok(Some(chunk));
            }
            let whole = ends_with_result(&self.text);
            if self.ended && self.must_end_with_result && !whole && !self.text.is_empty() {
                self.failure
                    .get_or_insert_with(|| io::Error::other("the text ends inside a game"));
            }
            if self.ended || self.failure.is_some() {
                let rest = std::mem::take(&mut self.text);
                let keep = !self.oversized && !rest.is_empty() && (whole || self.failure.is_none());
                if keep {
                    return Ok(Some(Chunk::Games(rest)));
                }
            }
            if let Some(error) = self.failure.take() {
                let offset = self.meter.compressed_bytes();
                return Err(Error::Damaged {
                    path: self.path.clone(),
                    offset,
                    error,
                });
            }
            if self.ended {
                return Ok(None);
            }
            self.failure = self.fill().err();
        }
    }

    /// Reads about one chunk more.
    fn fill(&mut self) -> io::Result<()> {
        let wanted = CHUNK_BYTES as u64;
        let count = (&mut self.decoder)
            .take(wanted)
            .read_to_end(&mut self.text)?;
        self.ended = (count as u64) < wanted;
        Ok(())
    }

    /// Takes everything up to the start of the last game off the text.
    fn cut(&mut self) -> Option<Chunk> {
        if self.oversized {
            let start = boundary::next_game(&self.text);
            // The start of a tag may lie at the end.
            let passed = start.unwrap_or(self.text.len().saturating_sub(16));
            self.text.drain(..passed);
            self.oversized = start.is_none();
        }
        match boundary::last_game(&self.text) {
            Some(end) if end > 0 && !self.oversized => {
                let tail = self.text.split_off(end);
                Some(Chunk::Games(std::mem::replace(&mut self.text, tail)))
            }
            _ if self.text.len() > MAX_GAME_BYTES => {
                self.oversized = true;
                Some(Chunk::Oversized)
            }
            _ => None,
        }
    }

    /// A PGN has a tag pair somewhere in its first chunk.
    fn check_is_pgn(&self) -> Result<(), Error> {
        let text = self
            .text
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(&self.text);
        let is_tag = |line: &[u8]| {
            line.first() == Some(&b'[') && line.get(1).is_some_and(u8::is_ascii_alphabetic)
        };
        // A file that broke off before its first line is reported as damaged.
        if self.failure.is_some() || text.split(|&b| b == b'\n').any(is_tag) {
            return Ok(());
        }
        Err(Error::NotPgn {
            path: self.path.clone(),
            bytes: self.text.len(),
        })
    }
}

/// How a zstd frame begins.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// Whether the bytes begin a skippable zstd frame: `pzstd`, which Lichess uses,
/// puts one before each frame.
fn is_skippable_frame(bytes: &[u8]) -> bool {
    matches!(bytes, [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..])
}

/// A decoder for what the first bytes show: zstd (any number of frames, with
/// Lichess's skippable ones between), gzip, bzip2, or plain text.
fn decoder(mut input: impl BufRead + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let magic = input.fill_buf()?;
    let zstd = magic.starts_with(&ZSTD_MAGIC) || is_skippable_frame(magic);
    Ok(match magic {
        _ if zstd => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(input)?;
            // `zstd --long=31` is the largest window there is.
            decoder.window_log_max(31)?;
            Box::new(decoder)
        }
        [0x1F, 0x8B, ..] => Box::new(flate2::bufread::MultiGzDecoder::new(input)),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Box::new(bzip2::bufread::MultiBzDecoder::new(input)),
        _ => Box::new(input),
    })
}
