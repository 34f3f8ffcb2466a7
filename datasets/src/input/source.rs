//! A source of labelled positions: a file, compressed or not, a URL, or
//! standard input, as a row of parts whose places are known.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::input::frames::{self, Frames, Part};
use crate::input::http::HttpReader;
use crate::input::meter::{Metered, Prefix};
use records::games::Boundary;
use records::packed::PackedFormat;
use records::positions::PositionFormat;

/// Text is handed on in pieces of this size: large enough that the hand-over
/// costs nothing, small enough to stay in a core's cache until it is read.
pub(crate) const PIECE_BYTES: u64 = 1 << 20;

/// A place in a source where reading can go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    /// Compressed bytes before the frame that the place lies in; 0 where the
    /// compression has no frames.
    frame: u64,
    /// Bytes of text before it in that frame.
    text: u64,
    /// What had been read of the source when the place was reached.
    read: Prefix,
}

/// What a source holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Content {
    /// What parts its units.
    pub(crate) boundary: Boundary,
    /// How its lines are read, if it is text and not a PGN.
    pub(crate) positions: Option<PositionFormat>,
    /// How its bytes are read, if it is no text.
    #[serde(default)]
    pub(crate) packed: Option<PackedFormat>,
    /// Whether it is made of frames as Lichess makes them, whose text always
    /// ends with a result.
    pub(crate) ends_with_result: bool,
}

impl Default for Content {
    fn default() -> Content {
        Content {
            boundary: Boundary::Event,
            positions: None,
            packed: None,
            ends_with_result: false,
        }
    }
}

/// An open source.
pub struct Source {
    path: PathBuf,
    name: String,
    input: Input,
    content: Content,
    consumed: Arc<AtomicU64>,
    size: Option<u64>,
    /// Where the frame begins that is being read, and how much of its text
    /// was handed on.
    frame: u64,
    text: u64,
    /// What was read to see what the source holds.
    first: Option<io::Result<Part>>,
    /// The beginning of a unit, in a source of bytes.
    cut: Vec<u8>,
    /// A failure behind the text that was handed on last.
    failure: Option<io::Error>,
    /// Whether nothing can be decoded any more.
    ended: bool,
}

type Bytes = Metered<BufReader<Box<dyn Read + Send>>>;

enum Input {
    Zstd(Frames<Bytes>),
    Gzip(MultiGzDecoder<Bytes>),
    Bzip2(MultiBzDecoder<Bytes>),
    Plain(Bytes),
}

impl Source {
    /// Opens a file, a URL, or standard input if the path is `-`. Compression and
    /// content are told by the first bytes, not by the name.
    ///
    /// # Errors
    /// [`Error::Unreadable`], [`Error::Interrupted`], [`Error::Empty`],
    /// [`Error::NotPgn`].
    pub fn open(path: &Path) -> Result<Source, Error> {
        let (mut bytes, size) = open_bytes(path)?;
        let magic = bytes.fill_buf().map_err(Error::unreadable(path))?;
        if magic.is_empty() {
            return Err(Error::Empty {
                path: path.to_path_buf(),
            });
        }
        let ends_with_result = frames::is_skippable(magic);
        let input = Input::open(bytes).map_err(Error::unreadable(path))?;
        let mut source = Source::new(path, input, size, 0);
        source.first = source.read_part(Vec::new());
        // A beginning that was cut short would be judged by what there is of it.
        if let Some(error) = source.stopped() {
            return Err(error);
        }
        let beginning = source.beginning()?;
        source.content = match PackedFormat::detect(&beginning) {
            Some(format) => Content {
                boundary: Boundary::Piece,
                packed: Some(format),
                ..Content::default()
            },
            None => match PositionFormat::detect(&beginning) {
                Some(format) => Content {
                    boundary: Boundary::Line,
                    positions: Some(format),
                    ..Content::default()
                },
                None => Content {
                    boundary: Boundary::of_pgn(&beginning),
                    ends_with_result,
                    ..Content::default()
                },
            },
        };
        Ok(source)
    }

    /// Opens a source again, to go on from a place in it.
    ///
    /// # Errors
    /// As [`Source::open`]; [`Error::Interrupted`]; [`Error::OtherSource`] if it
    /// is shorter than it was, or does not begin with the same bytes. In part
    /// that is told only by reading on.
    pub(crate) fn resume(path: &Path, content: Content, place: &Place) -> Result<Source, Error> {
        let other_source = || Error::OtherSource {
            path: path.to_path_buf(),
        };
        let (mut bytes, size) = open_bytes(path)?;
        bytes.expect(place.read.clone());
        let mut before = (&mut bytes).take(place.frame);
        let skipped = io::copy(&mut before, &mut io::sink()).map_err(Error::unreadable(path))?;
        if skipped < place.frame || place.text == 0 && bytes.misses_expected() {
            return Err(other_source());
        }
        // Only zstd has frames; whatever follows the last, it was a frame before.
        let input = match place.frame {
            0 => Input::open(bytes).map_err(Error::unreadable(path))?,
            _ => Input::Zstd(Frames::new(bytes)),
        };
        let mut source = Source::new(path, input, size, place.frame);
        source.content = content;
        while source.text < place.text {
            let part = match content.packed {
                None => source.read_part(Vec::new()),
                Some(_) => source
                    .read_bytes(Vec::new())
                    .map(|bytes| bytes.map(Part::Text)),
            };
            let mut text = match part {
                Some(Ok(Part::Text(text))) if !text.is_empty() => text,
                Some(Err(error)) => {
                    return Err(Error::stopping(path, &error).unwrap_or_else(other_source));
                }
                _ => return Err(other_source()),
            };
            // The pieces are the same as before, but for one that was cut
            // short where a connection broke off.
            let missing = (place.text - source.text) as usize;
            if missing < text.len() {
                source.first = Some(Ok(Part::Text(text.split_off(missing))));
            }
            source.text += text.len() as u64;
        }
        Ok(source)
    }

    /// Plain text from any reader.
    #[cfg(test)]
    pub(crate) fn plain(reader: impl Read + Send + 'static) -> Source {
        let bytes = Metered::new(BufReader::new(Box::new(reader) as _));
        Source::new(Path::new("test"), Input::Plain(bytes), None, 0)
    }

    fn new(path: &Path, mut input: Input, size: Option<u64>, frame: u64) -> Source {
        let name = path.file_name();
        Source {
            path: path.to_path_buf(),
            name: name.map_or_else(|| "-".into(), |name| name.to_string_lossy().into_owned()),
            consumed: input
                .bytes()
                .map(|bytes| bytes.counter())
                .unwrap_or_default(),
            input,
            size,
            content: Content::default(),
            frame,
            text: 0,
            first: None,
            cut: Vec::new(),
            failure: None,
            ended: false,
        }
    }

    /// Whether a source is a URL, by its name.
    pub fn is_url(path: &Path) -> bool {
        url(path).is_some()
    }

    /// The file's name, without its folders.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn content(&self) -> Content {
        self.content
    }

    /// Its size in (compressed) bytes, if that is known.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// The count of compressed bytes read so far, to watch from elsewhere.
    pub fn consumed(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.consumed)
    }

    /// The next part, in the memory of `buffer`, and the place behind it, if
    /// reading could go on from there; `None` at the end.
    pub(crate) fn next_part(
        &mut self,
        buffer: Vec<u8>,
    ) -> Option<(io::Result<Part>, Option<Place>)> {
        if let Some(format) = self.content.packed {
            return self.next_units(format, buffer);
        }
        let part = match self.first.take() {
            Some(first) => first,
            None => self.read_part(buffer)?,
        };
        if let Ok(Part::Text(text)) = &part {
            self.text += text.len() as u64;
        }
        let place = self.place();
        Some((part, place))
    }

    /// The next whole units of a source of bytes. What lies behind damage is
    /// not read: where a unit begins there cannot be told.
    fn next_units(
        &mut self,
        format: PackedFormat,
        mut buffer: Vec<u8>,
    ) -> Option<(io::Result<Part>, Option<Place>)> {
        let error = loop {
            match format.whole(&self.cut) {
                Ok(0) => {}
                Ok(end) => {
                    let rest = self.cut.split_off(end);
                    let units = std::mem::replace(&mut self.cut, rest);
                    self.text += units.len() as u64;
                    return Some((Ok(Part::Text(units)), self.place_of_bytes()));
                }
                Err(what) => break io::Error::new(io::ErrorKind::InvalidData, what),
            }
            match self.read_bytes(buffer) {
                Some(Ok(bytes)) => {
                    self.cut.extend_from_slice(&bytes);
                    buffer = bytes;
                }
                Some(Err(error)) => break error,
                None if self.cut.is_empty() => return None,
                None => break io::Error::other("the file ends inside a game, board or chunk"),
            }
        };
        self.cut.clear();
        self.first = None;
        self.ended = true;
        Some((Err(error), None))
    }

    /// The next bytes of a source of bytes, decoded; never none.
    fn read_bytes(&mut self, mut buffer: Vec<u8>) -> Option<io::Result<Vec<u8>>> {
        loop {
            let part = match self.first.take() {
                Some(first) => first,
                None => self.read_part(buffer)?,
            };
            let bytes = match part {
                Ok(Part::Text(bytes)) => bytes,
                Ok(Part::Frame(frame)) => match frames::whole_text(&frame) {
                    Ok((bytes, damage)) => {
                        self.first = damage.map(Err);
                        bytes
                    }
                    Err(error) => return Some(Err(error)),
                },
                Err(error) => return Some(Err(error)),
            };
            if !bytes.is_empty() {
                return Some(Ok(bytes));
            }
            buffer = bytes;
        }
    }

    /// Behind the units that were handed on last: all that was decoded comes
    /// before it.
    fn place_of_bytes(&mut self) -> Option<Place> {
        Some(Place {
            frame: 0,
            text: self.text,
            read: self.input.bytes()?.prefix(),
        })
    }

    /// What stopped the reading behind the first part, if it was stopped.
    fn stopped(&self) -> Option<Error> {
        let failure = match (&self.first, &self.input) {
            (Some(Err(error)), _) => Some(error),
            (_, Input::Zstd(frames)) => frames.failure(),
            _ => self.failure.as_ref(),
        };
        failure.and_then(|error| Error::stopping(&self.path, error))
    }

    fn place(&mut self) -> Option<Place> {
        let read = self.input.bytes()?.prefix();
        if let Input::Zstd(frames) = &self.input {
            if frames.is_between() {
                (self.frame, self.text) = (read.bytes, 0);
            }
            if frames.is_lost() {
                return None;
            }
        }
        Some(Place {
            frame: self.frame,
            text: self.text,
            read,
        })
    }

    fn read_part(&mut self, buffer: Vec<u8>) -> Option<io::Result<Part>> {
        if self.ended {
            return None;
        }
        let stream: &mut dyn Read = match &mut self.input {
            Input::Zstd(frames) => {
                let part = frames.next(PIECE_BYTES, buffer).transpose();
                // Behind damage there may be more frames.
                self.ended = matches!(&part, Some(Err(error)) if Error::stops(error));
                return part;
            }
            Input::Gzip(decoder) => decoder,
            Input::Bzip2(decoder) => decoder,
            Input::Plain(bytes) => bytes,
        };
        if let Some(error) = self.failure.take() {
            self.ended = true;
            return Some(Err(error));
        }
        let mut text = frames::emptied(buffer, PIECE_BYTES as usize);
        self.failure = stream.take(PIECE_BYTES).read_to_end(&mut text).err();
        match (text.is_empty(), &self.failure) {
            (true, None) => None,
            (true, Some(_)) => self.read_part(text),
            (false, _) => Some(Ok(Part::Text(text))),
        }
    }

    /// The beginning of the text.
    fn beginning(&self) -> Result<Vec<u8>, Error> {
        let mut text = Vec::new();
        match &self.first {
            Some(Ok(Part::Text(piece))) => text.extend_from_slice(piece),
            Some(Ok(Part::Frame(frame))) => {
                // What is wrong with the frame is told when it is read.
                let _ = frames::text_of(frame)
                    .and_then(|frame| frame.take(PIECE_BYTES).read_to_end(&mut text));
                if text.is_empty() {
                    return Ok(text);
                }
            }
            // A file that broke off before its first line is reported as damaged.
            Some(Err(_)) => return Ok(text),
            None => {}
        }
        let content = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
        // A PGN has a tag pair somewhere.
        let is_tag = |line: &[u8]| {
            line.first() == Some(&b'[') && line.get(1).is_some_and(u8::is_ascii_alphabetic)
        };
        let is_pgn = content.split(|&b| b == b'\n').any(is_tag);
        let is_known = is_pgn || PositionFormat::detect(content).is_some();
        if is_known || PackedFormat::detect(&text).is_some() {
            return Ok(text);
        }
        Err(Error::NotPgn {
            path: self.path.clone(),
            bytes: text.len(),
            positions: false,
        })
    }

    /// Size and digest of the source, at its end.
    ///
    /// # Errors
    /// [`Error::OtherSource`] if it was resumed, and was not as before;
    /// [`Error::Interrupted`].
    pub(crate) fn end(&mut self) -> Result<Prefix, Error> {
        let mut bytes = self.input.bytes();
        if let Some(bytes) = &mut bytes {
            // What could not be decoded belongs to the source too.
            let rest = io::copy(bytes, &mut io::sink());
            let stopping = rest
                .err()
                .and_then(|error| Error::stopping(&self.path, &error));
            if let Some(error) = stopping {
                return Err(error);
            }
        }
        match bytes {
            Some(bytes) if !bytes.misses_expected() => Ok(bytes.prefix()),
            _ => Err(Error::OtherSource {
                path: self.path.clone(),
            }),
        }
    }
}

/// The source as a URL, if it is one.
fn url(path: &Path) -> Option<&str> {
    path.to_str().filter(|source| HttpReader::is_url(source))
}

/// Opens a source, and tells its size in bytes if that is known.
fn open_bytes(path: &Path) -> Result<(Bytes, Option<u64>), Error> {
    let unreadable = || Error::unreadable(path);
    let (raw, size): (Box<dyn Read + Send>, _) = if path == Path::new("-") {
        (Box::new(io::stdin()), None)
    } else if let Some(url) = url(path) {
        let reader = HttpReader::open(url).map_err(unreadable())?;
        let size = reader.len();
        (Box::new(reader), size)
    } else {
        let file = File::open(path).map_err(|error| {
            let is_url = path.to_string_lossy().contains("://");
            unreadable()(match error.kind() {
                io::ErrorKind::NotFound if is_url => {
                    io::Error::other("only URLs with http:// and https:// are read")
                }
                _ => error,
            })
        })?;
        let metadata = file.metadata().map_err(unreadable())?;
        if metadata.is_dir() {
            return Err(unreadable()(io::Error::other(
                "is a folder, expected a file",
            )));
        }
        (Box::new(file), metadata.is_file().then_some(metadata.len()))
    };
    let reader = BufReader::with_capacity(1 << 17, raw);
    Ok((Metered::new(reader), size))
}

/// SHA-256 of a file, hexadecimal.
///
/// # Errors
/// [`Error::Unreadable`].
pub fn sha256_of(path: &Path) -> Result<String, Error> {
    let (mut bytes, _) = open_bytes(path)?;
    io::copy(&mut bytes, &mut io::sink()).map_err(Error::unreadable(path))?;
    Ok(bytes.prefix().sha256)
}

impl Input {
    /// A decoder for what the first bytes show: zstd (any number of frames,
    /// with Lichess's skippable ones between), gzip, bzip2, or plain text.
    fn open(mut bytes: Bytes) -> io::Result<Input> {
        let magic = bytes.fill_buf()?;
        Ok(match magic {
            _ if magic.starts_with(&frames::MAGIC) || frames::is_skippable(magic) => {
                Input::Zstd(Frames::new(bytes))
            }
            [0x1F, 0x8B, ..] => Input::Gzip(MultiGzDecoder::new(bytes)),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Input::Bzip2(MultiBzDecoder::new(bytes)),
            _ => Input::Plain(bytes),
        })
    }

    fn bytes(&mut self) -> Option<&mut Bytes> {
        match self {
            Input::Zstd(frames) => frames.input(),
            Input::Gzip(decoder) => Some(decoder.get_mut()),
            Input::Bzip2(decoder) => Some(decoder.get_mut()),
            Input::Plain(bytes) => Some(bytes),
        }
    }
}
