//! A source of labelled positions: a file, compressed or not, a URL, or
//! standard input, as a row of parts whose places are known.

use std::fs::File;
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::input::address::{shown, url};
use crate::input::ahead::Ahead;
use crate::input::digest::{LEAF_BYTES, Node, TreeDigest};
use crate::input::frames::{self, Frames, Part};
use crate::input::http::HttpReader;
use crate::input::meter::{Lookahead, Metered, Prefix};
use crate::input::part::{PartOf, PartRead};
use records::games::{Boundary, begins_tag};
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
    /// The digest of its first 16 KiB.
    head: String,
    /// The part that is read, if it is not all.
    part: Option<PartPlace>,
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

/// Where a part of a source is.
struct PartPlace {
    range: Range<u64>,
    /// Where the frames or the text begin that belong to it.
    begin: Option<u64>,
    /// Where those of the next part begin, once the reading has come there.
    border: Option<u64>,
    /// The ends of this part and of those behind it. Text is cut there: each part looks for the
    /// start of a game in its own range alone, so who reads on behind a border must do so too.
    ends: Vec<u64>,
}

/// What a source was, at its end.
pub(crate) struct End {
    /// Its size in (compressed) bytes.
    pub(crate) bytes: u64,
    /// The digest of all that was to be read.
    pub(crate) digest: String,
    /// The digests of its granules, if all was to be read.
    pub(crate) granules: Vec<Node>,
    /// The digest of its first 16 KiB.
    pub(crate) head: String,
    /// Which part was to be read, if not all.
    pub(crate) part: Option<PartRead>,
}

type Bytes = Metered<Ahead<Box<dyn Read + Send>>>;

enum Input {
    Zstd(Frames<Bytes>),
    Gzip(MultiGzDecoder<Bytes>),
    Bzip2(MultiBzDecoder<Bytes>),
    Plain(Bytes),
}

/// Whether a part is a frame without text, as some programs put first.
fn is_empty(part: &io::Result<Part>) -> bool {
    // No frame of text is so small.
    let Ok(Part::Frame(frame)) = part else {
        return false;
    };
    let mut text = Vec::new();
    let mut read = |frame: &[u8]| frames::text_of(frame)?.take(1).read_to_end(&mut text);
    frame.len() < 16 && read(frame).is_ok_and(|bytes| bytes == 0)
}

impl Source {
    /// Opens a file, a URL, or standard input if the path is `-`. Compression and
    /// content are told by the first bytes, not by the name.
    ///
    /// # Errors
    /// [`Error::Unreadable`], [`Error::Interrupted`], [`Error::Empty`],
    /// [`Error::NotPgn`].
    pub fn open(path: &Path) -> Result<Source, Error> {
        let Opened {
            mut bytes,
            size,
            head,
        } = open_bytes(path)?;
        let magic = bytes.fill_buf().map_err(Error::unreadable(path))?;
        if magic.is_empty() {
            return Err(Error::Empty { path: shown(path) });
        }
        let ends_with_result = frames::is_skippable(magic);
        let input = Input::open(bytes).map_err(Error::unreadable(path))?;
        let mut source = Source::new(path, input, size, head);
        source.first = source.read_part(Vec::new());
        while source.first.as_ref().is_some_and(is_empty) {
            source.first = source.read_part(Vec::new());
        }
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

    /// Opens a part of a file or a URL. What it holds is told by its beginning, of
    /// which up to a frame is read; else nothing is read before the part.
    ///
    /// # Errors
    /// As [`Source::open`]; [`Error::NoParts`] if it cannot be cut.
    pub fn open_part(path: &Path, part: PartOf) -> Result<Source, Error> {
        let whole = Source::open(path)?;
        let mut source = whole.reopen(part)?;
        source.find_begin()?;
        Ok(source)
    }

    /// The bytes of a part of the source.
    ///
    /// # Errors
    /// [`Error::NoParts`].
    pub fn range_of(&self, part: PartOf) -> Result<Range<u64>, Error> {
        let why = match (self.size, &self.input, self.content.packed) {
            (None, ..) => "its size is not known, as of a pipe: give a file or a URL",
            (_, Input::Gzip(_), _) => {
                "gzip can be read from its beginning only: pack it again with `pzstd`"
            }
            (_, Input::Bzip2(_), _) => {
                "bzip2 is read from its beginning only: pack it again with `pzstd`"
            }
            (_, _, Some(_)) => {
                "where a game or board begins in this format cannot be told: read it whole"
            }
            (Some(size), _, None) => return Ok(part.range(size)),
        };
        Err(Error::NoParts {
            path: shown(&self.path),
            why,
        })
    }

    /// The same source at the beginning of a part.
    fn reopen(self, part: PartOf) -> Result<Source, Error> {
        let range = self.range_of(part)?;
        let path = &self.path;
        let size = self.size.unwrap_or(range.end);
        let bytes = open_bytes_of(path, range.clone(), size)?;
        let ends = part.all().map(|other| other.range(size).end);
        let ends = ends.filter(|&end| end >= range.end).collect();
        let input = match self.input {
            Input::Zstd(_) => Input::Zstd(Frames::new(bytes, range.end)),
            _ => Input::Plain(bytes),
        };
        let mut source = Source::new(path, input, self.size, self.head);
        source.content = self.content;
        source.part = Some(PartPlace {
            range,
            begin: None,
            border: None,
            ends,
        });
        Ok(source)
    }

    /// Goes to where the frames or the text begin that belong to the part.
    fn find_begin(&mut self) -> Result<(), Error> {
        let Some(part) = &mut self.part else {
            return Ok(());
        };
        let Range { start, end } = part.range;
        part.begin = match &mut self.input {
            // What stands at the beginning of all belongs to the first part that there is.
            _ if start == 0 && end > 0 => Some(0),
            Input::Zstd(frames) => frames.find().map_err(Error::unreadable(&self.path))?,
            _ => (start < end).then_some(start),
        };
        self.ended = part.begin.is_none();
        if let Input::Zstd(_) = &self.input {
            self.frame = part.begin.unwrap_or_default();
        }
        Ok(())
    }

    /// Opens a source again, to go on from a place in it or in the part of it.
    ///
    /// # Errors
    /// As [`Source::open`]; [`Error::Interrupted`]; [`Error::OtherSource`] if it
    /// is shorter than it was, or does not begin with the same bytes. In part
    /// that is told only by reading on.
    pub(crate) fn resume(
        path: &Path,
        content: Content,
        place: &Place,
        part: Option<PartOf>,
    ) -> Result<Source, Error> {
        let other_source = || Error::OtherSource { path: shown(path) };
        let mut source = match part {
            None => {
                let Opened { bytes, size, head } = open_bytes(path)?;
                Source::new(path, Input::Plain(bytes), size, head)
            }
            Some(part) => Source::open(path)?.reopen(part)?,
        };
        let bytes = source.input.bytes().ok_or_else(other_source)?;
        bytes.expect(place.read.clone());
        source.find_begin()?;
        let bytes = source.input.bytes().ok_or_else(other_source)?;
        let before = place.frame.saturating_sub(bytes.offset());
        let skipped = io::copy(&mut bytes.take(before), &mut io::sink());
        let skipped = skipped.map_err(Error::unreadable(path))?;
        if skipped < before || place.text == 0 && bytes.misses_expected() {
            return Err(other_source());
        }
        source.input = match (source.input, place.frame) {
            (Input::Plain(bytes), 0) if part.is_none() => {
                Input::open(bytes).map_err(Error::unreadable(path))?
            }
            // Only zstd has frames; whatever follows the last, it was a frame before.
            (Input::Plain(bytes), 1..) => Input::Zstd(Frames::new(bytes, u64::MAX)),
            (input, _) => input,
        };
        (source.content, source.frame) = (content, place.frame);
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
        let bytes = Metered::new(Ahead::new(Box::new(reader) as _));
        Source::new(Path::new("test"), Input::Plain(bytes), None, String::new())
    }

    fn new(path: &Path, mut input: Input, size: Option<u64>, head: String) -> Source {
        Source {
            path: path.to_path_buf(),
            name: Source::name_of(path),
            consumed: input
                .bytes()
                .map(|bytes| bytes.counter())
                .unwrap_or_default(),
            input,
            size,
            head,
            part: None,
            content: Content::default(),
            frame: 0,
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

    /// A source as it may be shown: a URL without its password and its query.
    pub fn shown(path: &Path) -> PathBuf {
        shown(path)
    }

    /// The name by which a source is known: the file's, without its folders; `-` for
    /// standard input.
    pub fn name_of(path: &Path) -> String {
        let shown = shown(path);
        let name = shown.file_name();
        name.map_or_else(|| "-".into(), |name| name.to_string_lossy().into_owned())
    }

    /// The file's name, without its folders.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The digest of its first 16 KiB.
    pub fn head(&self) -> &str {
        &self.head
    }

    /// Whether a part is read, and of that part where it lies.
    pub fn range(&self) -> Option<Range<u64>> {
        self.part.as_ref().map(|part| part.range.clone())
    }

    /// Whether the reading has come to where the next part begins, and can go on.
    pub(crate) fn is_at_border(&self) -> bool {
        self.part.as_ref().is_some_and(|part| part.border.is_some())
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
    /// reading could go on from there; `None` at the end, and once where the next
    /// part of the source begins.
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
        // What follows a part is read once more if need be.
        if self.is_at_border() {
            return None;
        }
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
        let piece = self.piece_bytes();
        let stream: &mut dyn Read = match &mut self.input {
            Input::Zstd(frames) => {
                let part = frames.next(PIECE_BYTES, buffer).transpose();
                if let Some(place) = &mut self.part {
                    place.border = frames.border();
                }
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
        if let Some(part) = self.part.as_mut().filter(|_| piece == 0) {
            part.border = Some(part.range.end);
            return None;
        }
        let mut text = frames::emptied(buffer, piece as usize);
        self.failure = stream.take(piece).read_to_end(&mut text).err();
        match (text.is_empty(), &self.failure) {
            (true, None) => None,
            (true, Some(_)) => self.read_part(text),
            (false, _) => Some(Ok(Part::Text(text))),
        }
    }

    /// Bytes of the next piece of text: none where a part of plain text ends.
    fn piece_bytes(&self) -> u64 {
        let (Some(part), Input::Plain(bytes)) = (&self.part, &self.input) else {
            return PIECE_BYTES;
        };
        let offset = bytes.offset();
        let end = match part.border {
            None => Some(part.range.end),
            Some(_) => part.ends.iter().copied().find(|&end| end > offset),
        };
        end.map_or(PIECE_BYTES, |end| {
            end.saturating_sub(offset).min(PIECE_BYTES)
        })
    }

    /// Whether the next piece is the first of a part behind the one that is read, in plain text.
    pub(crate) fn is_at_later_part(&self) -> bool {
        match (&self.part, &self.input) {
            (Some(part), Input::Plain(bytes)) => part.ends.contains(&bytes.offset()),
            _ => false,
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
        if content.starts_with(b"PAR1") {
            return Err(Error::Parquet {
                path: shown(&self.path),
            });
        }
        // A PGN has a tag pair somewhere.
        let is_pgn = content.split(|&b| b == b'\n' || b == b'\r').any(begins_tag);
        let is_known = is_pgn || PositionFormat::detect(content).is_some();
        if is_known || PackedFormat::detect(&text).is_some() {
            return Ok(text);
        }
        Err(Error::NotPgn {
            path: shown(&self.path),
            bytes: text.len(),
            positions: false,
        })
    }

    /// Size and digest of the source, at its end, or of the part that was to be read.
    ///
    /// # Errors
    /// [`Error::OtherSource`] if it was resumed, and was not as before;
    /// [`Error::Interrupted`].
    pub(crate) fn end(&mut self) -> Result<End, Error> {
        let other_source = || Error::OtherSource {
            path: shown(&self.path),
        };
        let range_end = self.part.as_ref().map_or(u64::MAX, |part| part.range.end);
        let bytes = self.input.bytes().ok_or_else(other_source)?;
        // What could not be decoded belongs to the source too.
        let left = range_end.saturating_sub(bytes.offset());
        let rest = io::copy(&mut bytes.take(left), &mut io::sink());
        let stopping = rest
            .err()
            .and_then(|error| Error::stopping(&self.path, &error));
        if let Some(error) = stopping {
            return Err(error);
        }
        if bytes.misses_expected() {
            return Err(other_source());
        }
        let prefix = bytes.prefix();
        let part = self.part.as_ref().map(|part| PartRead {
            range: part.range.clone(),
            frames: part
                .begin
                .map(|begin| begin..part.border.unwrap_or(prefix.bytes)),
            nodes: bytes.granules(),
        });
        Ok(End {
            bytes: match &part {
                None => prefix.bytes,
                Some(_) => self.size.unwrap_or(prefix.bytes),
            },
            granules: match &part {
                None => bytes.granules(),
                Some(_) => Vec::new(),
            },
            digest: prefix.digest,
            head: self.head.clone(),
            part,
        })
    }
}

/// A source that was opened at its beginning.
struct Opened {
    bytes: Bytes,
    /// Its size in bytes, if that is known.
    size: Option<u64>,
    /// The digest of its first 16 KiB.
    head: String,
}

/// Opens a source at its beginning.
fn open_bytes(path: &Path) -> Result<Opened, Error> {
    let (raw, size) = open_raw(path, 0)?;
    let mut ahead = Ahead::new(raw);
    let head = ahead.peek(LEAF_BYTES as usize);
    let head = head.map_err(Error::unreadable(path))?;
    let mut digest = TreeDigest::behind(0, 0);
    digest.update(&head[..head.len().min(LEAF_BYTES as usize)]);
    Ok(Opened {
        bytes: Metered::new(ahead),
        size,
        head: digest.root(),
    })
}

/// Opens a part of a source of so many bytes.
fn open_bytes_of(path: &Path, range: Range<u64>, bytes: u64) -> Result<Bytes, Error> {
    let (raw, _) = open_raw(path, range.start)?;
    Ok(Metered::of_part(Ahead::new(raw), range, bytes))
}

/// Opens a source, and goes to a byte of it that is not the first only in files and
/// behind URLs. Tells its size in bytes if that is known.
fn open_raw(path: &Path, start: u64) -> Result<(Box<dyn Read + Send>, Option<u64>), Error> {
    let unreadable = || Error::unreadable(path);
    if path == Path::new("-") {
        return Ok((Box::new(io::stdin()), None));
    }
    if let Some(url) = url(path) {
        let mut reader = HttpReader::open(url).map_err(unreadable())?;
        reader.seek(start);
        let size = reader.len();
        return Ok((Box::new(reader), size));
    }
    let mut file = File::open(path).map_err(|error| {
        let is_url = path.to_string_lossy().contains("://");
        unreadable()(match error.kind() {
            io::ErrorKind::NotFound if is_url => {
                io::Error::other("only URLs with http://, https:// and s3:// are read")
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
    if start > 0 {
        file.seek(SeekFrom::Start(start)).map_err(unreadable())?;
    }
    Ok((Box::new(file), metadata.is_file().then_some(metadata.len())))
}

/// The digest of a file, hexadecimal.
///
/// # Errors
/// [`Error::Unreadable`].
pub fn digest_of(path: &Path) -> Result<String, Error> {
    let mut bytes = open_bytes(path)?.bytes;
    io::copy(&mut bytes, &mut io::sink()).map_err(Error::unreadable(path))?;
    Ok(bytes.prefix().digest)
}

/// The digests of the granules of a part of a source of so many bytes.
///
/// # Errors
/// [`Error::Unreadable`], [`Error::Interrupted`].
pub(crate) fn granules_of(path: &Path, part: Range<u64>, bytes: u64) -> Result<Vec<Node>, Error> {
    let mut opened = open_bytes_of(path, part.clone(), bytes)?;
    let within = &mut (&mut opened).take(part.end - part.start);
    io::copy(within, &mut io::sink()).map_err(Error::unreadable(path))?;
    Ok(opened.granules())
}

impl Input {
    /// A decoder for what the first bytes show: zstd (any number of frames,
    /// with Lichess's skippable ones between), gzip, bzip2, or plain text.
    fn open(mut bytes: Bytes) -> io::Result<Input> {
        let magic = bytes.fill_buf()?;
        Ok(match magic {
            _ if magic.starts_with(&frames::MAGIC) || frames::is_skippable(magic) => {
                Input::Zstd(Frames::new(bytes, u64::MAX))
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
