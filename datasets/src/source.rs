//! Sources of labelled positions: files, pipes and URLs, compressed or not, read as sequences of
//! segments with resumable positions.

mod address;
mod ahead;
mod bytes;
mod content;
mod digest;
mod error;
mod frames;
mod http;
mod meter;
mod part;
mod s3;

pub use bytes::digest_of;
pub use error::SourceError;
pub(crate) use part::CHANGED;
pub use part::{PartOf, PartRead};

pub(crate) use address::{identity, shown};
pub(crate) use bytes::granules_of;
pub(crate) use content::Content;
pub(crate) use digest::{DigestNode, DigestTree, LEAF, has_granules, hex, joined};
pub(crate) use frames::{FrameDecoder, Segment, whole_text};
pub(crate) use http::ConnectionLost;
pub(crate) use meter::OtherBytes;

use std::io::{self, BufRead, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use serde::{Deserialize, Serialize};

use records::binary_formats::PackedFormat;
use records::games::begins_tag;
use records::text_formats::PositionFormat;

use address::url;
use bytes::{Decoder, OpenedBytes, open_bytes, open_bytes_of};
use frames::Frames;
use meter::{Lookahead, Prefix};

/// Size of a text piece: large enough that handing it to a worker costs nothing, small enough to
/// stay in a core's cache until it is parsed.
pub(crate) const PIECE_BYTES: u64 = 1 << 20;

/// Position in a source from which reading can resume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    /// Compressed bytes before the frame with the position; 0 for compression without frames.
    frame: u64,
    /// Bytes of text before the position in that frame.
    text: u64,
    /// Prefix of the source read when the position was reached.
    read: Prefix,
}

/// An open source.
pub struct Source {
    path: PathBuf,
    name: String,
    decoder: Decoder,
    content: Content,
    consumed: Arc<AtomicU64>,
    size: Option<u64>,
    /// Tree digest of the first 16 KiB.
    head: String,
    /// The part to read; `None` for the whole source.
    part: Option<PartPlace>,
    /// Compressed offset of the current frame, and bytes of its text already returned.
    frame: u64,
    text: u64,
    /// A segment read during format detection, returned next.
    first: Option<io::Result<Segment>>,
    /// Bytes of an incomplete unit at the end of the last read, in a binary source.
    cut: Vec<u8>,
    /// Error to return after the text that was read before it.
    failure: Option<io::Error>,
    /// Whether no more can be decoded.
    ended: bool,
}

/// Location of a part in a source.
struct PartPlace {
    range: Range<u64>,
    /// Start of the part's first frame or text.
    begin: Option<u64>,
    /// Start of the next part's first frame or text, once reading has reached it.
    border: Option<u64>,
    /// Ends of this part and of the later ones. Plain text is cut there: each part looks for the
    /// start of a game in its own range only, so reading past a border must do the same.
    ends: Vec<u64>,
}

/// Summary of a source at its end.
pub(crate) struct End {
    /// Size in (compressed) bytes.
    pub(crate) bytes: u64,
    /// Tree digest of the source or the part.
    pub(crate) digest: String,
    /// Granule digests of a whole source; empty for a part.
    pub(crate) granules: Vec<DigestNode>,
    /// Tree digest of the first 16 KiB.
    pub(crate) head: String,
    /// The part that was read, `None` for a whole source.
    pub(crate) part: Option<PartRead>,
}

/// Returns whether the segment is a frame without text, which some programs write first.
fn is_empty(segment: &io::Result<Segment>) -> bool {
    // Frames with text are never this small.
    let Ok(Segment::Frame(frame)) = segment else {
        return false;
    };
    let mut text = Vec::new();
    let mut read = |frame: &[u8]| frames::text_of(frame)?.take(1).read_to_end(&mut text);
    frame.len() < 16 && read(frame).is_ok_and(|bytes| bytes == 0)
}

impl Source {
    /// Opens a file, a URL, or standard input if the path is `-`. Compression and content are
    /// detected from the first bytes, not the name.
    ///
    /// # Errors
    /// [`SourceError::Unreadable`], [`SourceError::Interrupted`], [`SourceError::Empty`],
    /// [`SourceError::NotPgn`].
    pub fn open(path: &Path) -> Result<Source, SourceError> {
        let OpenedBytes {
            mut bytes,
            size,
            head,
        } = open_bytes(path)?;
        let magic = bytes.fill_buf().map_err(SourceError::unreadable(path))?;
        if magic.is_empty() {
            return Err(SourceError::Empty { path: shown(path) });
        }
        let ends_with_result = frames::is_skippable(magic);
        let decoder = Decoder::open(bytes).map_err(SourceError::unreadable(path))?;
        let mut source = Source::new(path, decoder, size, head);
        source.first = source.read_segment(Vec::new());
        while source.first.as_ref().is_some_and(is_empty) {
            source.first = source.read_segment(Vec::new());
        }
        // A lost connection must not lead to detection from a truncated beginning.
        if let Some(error) = source.stopped() {
            return Err(error);
        }
        let beginning = source.beginning()?;
        source.content = Content::detect(&beginning, ends_with_result);
        Ok(source)
    }

    /// Opens a part of a file or a URL. Up to one frame at the beginning of the source is read to
    /// detect its content, and nothing else before the part.
    ///
    /// # Errors
    /// As [`Source::open`]; [`SourceError::NoParts`] if the source cannot be read in parts.
    pub fn open_part(path: &Path, part: PartOf) -> Result<Source, SourceError> {
        let whole = Source::open(path)?;
        let mut source = whole.reopen(part)?;
        source.find_begin()?;
        Ok(source)
    }

    /// Returns the byte range of a part of the source.
    ///
    /// # Errors
    /// [`SourceError::NoParts`].
    pub fn range_of(&self, part: PartOf) -> Result<Range<u64>, SourceError> {
        let why = match (self.size, &self.decoder, self.content.packed) {
            (None, ..) => "its size is unknown, as of a pipe: give a file or a URL",
            (_, Decoder::Gzip(_), _) => {
                "gzip can be read from its beginning only: compress it again with `pzstd`"
            }
            (_, Decoder::Bzip2(_), _) => {
                "bzip2 can be read from its beginning only: compress it again with `pzstd`"
            }
            (_, _, Some(_)) => {
                "this format does not mark where a game or board begins: read it whole"
            }
            (Some(size), _, None) => return Ok(part.range(size)),
        };
        Err(SourceError::NoParts {
            path: shown(&self.path),
            why,
        })
    }

    /// Reopens the source at the start of a part.
    fn reopen(self, part: PartOf) -> Result<Source, SourceError> {
        let range = self.range_of(part)?;
        let path = &self.path;
        let size = self.size.unwrap_or(range.end);
        let bytes = open_bytes_of(path, range.clone(), size)?;
        let ends = part.all().map(|other| other.range(size).end);
        let ends = ends.filter(|&end| end >= range.end).collect();
        let decoder = match self.decoder {
            Decoder::Zstd(_) => Decoder::Zstd(Frames::new(bytes, range.end)),
            _ => Decoder::Plain(bytes),
        };
        let mut source = Source::new(path, decoder, self.size, self.head);
        source.content = self.content;
        source.part = Some(PartPlace {
            range,
            begin: None,
            border: None,
            ends,
        });
        Ok(source)
    }

    /// Seeks the first frame or text that begins in the part.
    fn find_begin(&mut self) -> Result<(), SourceError> {
        let Some(part) = &mut self.part else {
            return Ok(());
        };
        let Range { start, end } = part.range;
        part.begin = match &mut self.decoder {
            // The first non-empty part includes the beginning, even without a size header.
            _ if start == 0 && end > 0 => Some(0),
            Decoder::Zstd(frames) => frames.find().map_err(SourceError::unreadable(&self.path))?,
            _ => (start < end).then_some(start),
        };
        self.ended = part.begin.is_none();
        if let Decoder::Zstd(_) = &self.decoder {
            self.frame = part.begin.unwrap_or_default();
        }
        Ok(())
    }

    /// Reopens a source, or a part of it, at a saved place.
    ///
    /// # Errors
    /// As [`Source::open`]; [`SourceError::Interrupted`]; [`SourceError::OtherSource`] if it is
    /// shorter than before or begins with other bytes. Some differences are found only by reading on.
    pub(crate) fn resume(
        path: &Path,
        content: Content,
        place: &Place,
        part: Option<PartOf>,
    ) -> Result<Source, SourceError> {
        let other_source = || SourceError::OtherSource { path: shown(path) };
        let mut source = match part {
            None => {
                let OpenedBytes { bytes, size, head } = open_bytes(path)?;
                Source::new(path, Decoder::Plain(bytes), size, head)
            }
            Some(part) => Source::open(path)?.reopen(part)?,
        };
        let bytes = source.decoder.bytes().ok_or_else(other_source)?;
        bytes.expect(place.read.clone());
        source.find_begin()?;
        let bytes = source.decoder.bytes().ok_or_else(other_source)?;
        let before = place.frame.saturating_sub(bytes.offset());
        let skipped = io::copy(&mut bytes.take(before), &mut io::sink());
        let skipped = skipped.map_err(SourceError::unreadable(path))?;
        if skipped < before || place.text == 0 && bytes.misses_expected() {
            return Err(other_source());
        }
        source.decoder = match (source.decoder, place.frame) {
            (Decoder::Plain(bytes), 0) if part.is_none() => {
                Decoder::open(bytes).map_err(SourceError::unreadable(path))?
            }
            // Only zstd has frames, so these bytes are zstd even if they are damaged.
            (Decoder::Plain(bytes), 1..) => Decoder::Zstd(Frames::new(bytes, u64::MAX)),
            (decoder, _) => decoder,
        };
        (source.content, source.frame) = (content, place.frame);
        while source.text < place.text {
            let segment = match content.packed {
                None => source.read_segment(Vec::new()),
                Some(_) => source
                    .read_bytes(Vec::new())
                    .map(|bytes| bytes.map(Segment::Text)),
            };
            let mut text = match segment {
                Some(Ok(Segment::Text(text))) if !text.is_empty() => text,
                Some(Err(error)) => {
                    return Err(SourceError::stopping(path, &error).unwrap_or_else(other_source));
                }
                _ => return Err(other_source()),
            };
            // Pieces are the same as before, except one that a lost connection had cut short.
            let missing = (place.text - source.text) as usize;
            if missing < text.len() {
                source.first = Some(Ok(Segment::Text(text.split_off(missing))));
            }
            source.text += text.len() as u64;
        }
        Ok(source)
    }

    /// Creates a plain-text source from any reader.
    #[cfg(test)]
    pub(crate) fn plain(reader: impl Read + Send + 'static) -> Source {
        let bytes = meter::Metered::new(ahead::Ahead::new(Box::new(reader) as _));
        Source::new(
            Path::new("test"),
            Decoder::Plain(bytes),
            None,
            String::new(),
        )
    }

    fn new(path: &Path, mut decoder: Decoder, size: Option<u64>, head: String) -> Source {
        Source {
            path: path.to_path_buf(),
            name: Source::name_of(path),
            consumed: decoder
                .bytes()
                .map(|bytes| bytes.counter())
                .unwrap_or_default(),
            decoder,
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

    /// Returns whether the path is a URL with a supported scheme.
    pub fn is_url(path: &Path) -> bool {
        url(path).is_some()
    }

    /// Returns the printable form of a source: a URL without password and query.
    pub fn shown(path: &Path) -> PathBuf {
        shown(path)
    }

    /// Returns a source's name: the file name without folders; `-` for standard input.
    pub fn name_of(path: &Path) -> String {
        let shown = shown(path);
        let name = shown.file_name();
        name.map_or_else(|| "-".into(), |name| name.to_string_lossy().into_owned())
    }

    /// File name without folders.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Tree digest of the first 16 KiB.
    pub fn head(&self) -> &str {
        &self.head
    }

    /// Byte range of the part being read; `None` for a whole source.
    pub fn range(&self) -> Option<Range<u64>> {
        self.part.as_ref().map(|part| part.range.clone())
    }

    /// Returns whether reading has reached the start of the next part, and can go on.
    pub(crate) fn is_at_border(&self) -> bool {
        self.part.as_ref().is_some_and(|part| part.border.is_some())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn content(&self) -> Content {
        self.content
    }

    /// Size in (compressed) bytes; `None` if unknown, as of a pipe.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// Returns the shared count of compressed bytes read, for other threads to watch.
    pub fn consumed(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.consumed)
    }

    /// Returns the next segment, using the memory of `buffer`, and the place after it if reading
    /// can resume there. `None` at the end, and once at the start of the next part of the source.
    pub(crate) fn next_segment(
        &mut self,
        buffer: Vec<u8>,
    ) -> Option<(io::Result<Segment>, Option<Place>)> {
        if let Some(format) = self.content.packed {
            return self.next_units(format, buffer);
        }
        let segment = match self.first.take() {
            Some(first) => first,
            None => self.read_segment(buffer)?,
        };
        if let Ok(Segment::Text(text)) = &segment {
            self.text += text.len() as u64;
        }
        let place = self.place();
        Some((segment, place))
    }

    /// Returns the next whole units of a binary source. Nothing is read after damage, as the start
    /// of a later unit cannot be found.
    fn next_units(
        &mut self,
        format: PackedFormat,
        mut buffer: Vec<u8>,
    ) -> Option<(io::Result<Segment>, Option<Place>)> {
        let error = loop {
            match format.whole(&self.cut) {
                Ok(0) => {}
                Ok(end) => {
                    let rest = self.cut.split_off(end);
                    let units = std::mem::replace(&mut self.cut, rest);
                    self.text += units.len() as u64;
                    return Some((Ok(Segment::Text(units)), self.place_of_bytes()));
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

    /// Returns the next decoded bytes of a binary source, never empty.
    fn read_bytes(&mut self, mut buffer: Vec<u8>) -> Option<io::Result<Vec<u8>>> {
        loop {
            let segment = match self.first.take() {
                Some(first) => first,
                None => self.read_segment(buffer)?,
            };
            let bytes = match segment {
                Ok(Segment::Text(bytes)) => bytes,
                Ok(Segment::Frame(frame)) => match frames::whole_text(&frame) {
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

    /// Returns the place after the last returned units; everything decoded lies before it.
    fn place_of_bytes(&mut self) -> Option<Place> {
        Some(Place {
            frame: 0,
            text: self.text,
            read: self.decoder.bytes()?.prefix(),
        })
    }

    /// Returns the error that stopped the source while its first segment was read.
    fn stopped(&self) -> Option<SourceError> {
        let failure = match (&self.first, &self.decoder) {
            (Some(Err(error)), _) => Some(error),
            (_, Decoder::Zstd(frames)) => frames.failure(),
            _ => self.failure.as_ref(),
        };
        failure.and_then(|error| SourceError::stopping(&self.path, error))
    }

    fn place(&mut self) -> Option<Place> {
        // At a border, no place: resuming reads the following text again.
        if self.is_at_border() {
            return None;
        }
        let read = self.decoder.bytes()?.prefix();
        if let Decoder::Zstd(frames) = &self.decoder {
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

    fn read_segment(&mut self, buffer: Vec<u8>) -> Option<io::Result<Segment>> {
        if self.ended {
            return None;
        }
        let piece = self.piece_bytes();
        let stream: &mut dyn Read = match &mut self.decoder {
            Decoder::Zstd(frames) => {
                let segment = frames.next(PIECE_BYTES, buffer).transpose();
                if let Some(place) = &mut self.part {
                    place.border = frames.border();
                }
                // More frames may follow damage.
                self.ended = matches!(&segment, Some(Err(error)) if SourceError::stops(error));
                return segment;
            }
            Decoder::Gzip(decoder) => decoder,
            Decoder::Bzip2(decoder) => decoder,
            Decoder::Plain(bytes) => bytes,
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
            (true, Some(_)) => self.read_segment(text),
            (false, _) => Some(Ok(Segment::Text(text))),
        }
    }

    /// Size of the next piece of text; 0 at the end of a plain-text part.
    fn piece_bytes(&self) -> u64 {
        let (Some(part), Decoder::Plain(bytes)) = (&self.part, &self.decoder) else {
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

    /// Returns whether the next piece starts a later part of a plain-text source.
    pub(crate) fn is_at_later_part(&self) -> bool {
        match (&self.part, &self.decoder) {
            (Some(part), Decoder::Plain(bytes)) => part.ends.contains(&bytes.offset()),
            _ => false,
        }
    }

    /// Returns the beginning of the decoded text.
    fn beginning(&self) -> Result<Vec<u8>, SourceError> {
        let mut text = Vec::new();
        match &self.first {
            Some(Ok(Segment::Text(piece))) => text.extend_from_slice(piece),
            Some(Ok(Segment::Frame(frame))) => {
                // Damage of the frame is reported when it is read again.
                let _ = frames::text_of(frame)
                    .and_then(|frame| frame.take(PIECE_BYTES).read_to_end(&mut text));
                if text.is_empty() {
                    return Ok(text);
                }
            }
            // A file truncated before its first line is reported as damaged later.
            Some(Err(_)) => return Ok(text),
            None => {}
        }
        let content = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
        if content.starts_with(b"PAR1") {
            return Err(SourceError::Parquet {
                path: shown(&self.path),
            });
        }
        // Every PGN contains a tag pair.
        let is_pgn = content.split(|&b| b == b'\n' || b == b'\r').any(begins_tag);
        let is_known = is_pgn || PositionFormat::detect(content).is_some();
        if is_known || PackedFormat::detect(&text).is_some() {
            return Ok(text);
        }
        Err(SourceError::NotPgn {
            path: shown(&self.path),
            bytes: text.len(),
            positions: false,
        })
    }

    /// Returns size and digests at the end of the source or the part, after reading what is left.
    ///
    /// # Errors
    /// [`SourceError::OtherSource`] if it was resumed and differs from before;
    /// [`SourceError::Interrupted`].
    pub(crate) fn end(&mut self) -> Result<End, SourceError> {
        let other_source = || SourceError::OtherSource {
            path: shown(&self.path),
        };
        let range_end = self.part.as_ref().map_or(u64::MAX, |part| part.range.end);
        let bytes = self.decoder.bytes().ok_or_else(other_source)?;
        // Bytes that could not be decoded are digested too.
        let left = range_end.saturating_sub(bytes.offset());
        let rest = io::copy(&mut bytes.take(left), &mut io::sink());
        let stopping = rest
            .err()
            .and_then(|error| SourceError::stopping(&self.path, &error));
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
