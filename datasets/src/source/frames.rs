//! Zstd files as sequences of frames. In Lichess's dumps each frame follows a skippable frame with
//! its size, so frames can be decoded in parallel, and a corrupt one can be skipped.

use std::io::{self, BufRead, Chain, Cursor, ErrorKind, Read};
use std::ops::ControlFlow;

use memchr::memmem;
use zstd::stream::read::Decoder;
use zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

use crate::source::SourceError;
use crate::source::meter::Lookahead;

/// Magic number of a zstd frame.
pub(crate) const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// Size header that `pzstd` writes before each frame: a skippable frame with four bytes of content,
/// the size of the next frame.
const SIZE_HEADER: [u8; 8] = [0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0];

/// Length of the size header with the size.
const SIZED_BYTES: usize = SIZE_HEADER.len() + 4;

/// Limits of the trial decoding that validates a frame: compressed bytes, and text.
const SEEN_BYTES: usize = 2 << 20;
const SEEN_TEXT_BYTES: u64 = 1 << 20;

/// Largest frame, in compressed bytes, returned whole to be decoded by a worker; larger ones are
/// decoded here piece by piece. Lichess's have about 5 MB.
const MAX_FRAME_BYTES: u32 = 32 << 20;

/// Largest text of a frame that is returned whole, since each worker holds the text of a frame.
/// Lichess's have 32 MiB.
const MAX_TEXT_BYTES: usize = 48 << 20;

/// Log2 of the largest accepted window: 128 MiB, the limit of the `zstd` program too. Lichess's
/// frames use 8 MiB.
const WINDOW_LOG_MAX: u32 = 27;

/// Returns whether the bytes begin a skippable zstd frame.
pub(crate) fn is_skippable(bytes: &[u8]) -> bool {
    matches!(bytes, [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..])
}

/// Decodes a frame. If it is truncated, returns its decodable text and an error.
///
/// # Errors
/// If the frame is corrupt: none of its text is trustworthy.
pub(crate) fn whole_text(frame: &[u8]) -> io::Result<(Vec<u8>, Option<io::Error>)> {
    let mut decoder = FrameDecoder::new();
    let mut decoding = decoder.begin(frame)?;
    let damage = loop {
        if let ControlFlow::Break(damage) = decoding.advance()? {
            break damage;
        }
    };
    Ok((decoding.text().to_vec(), damage))
}

/// Piece of a source between two resumable positions.
#[derive(Debug)]
pub(crate) enum Segment {
    /// A whole compressed frame; truncated if the file is.
    Frame(Vec<u8>),
    /// A piece of a frame's text; empty at the end of the frame.
    Text(Vec<u8>),
}

/// Decoder of a frame, part of which may have been read already.
type Inside<R> = Box<Decoder<'static, Chain<Cursor<Vec<u8>>, R>>>;

/// Iterator over the frames of a zstd file, or of a part of it.
pub(crate) struct Frames<R: Lookahead> {
    state: State<R>,
    /// End offset of the part.
    end: u64,
    /// Offset of the next part's first frame, once reached.
    border: Option<u64>,
}

enum State<R: Lookahead> {
    /// Between two frames. After damage (`lost`) the next frame is searched for by its size header.
    Between { input: R, lost: bool },
    /// Inside a frame that is decoded here.
    Inside(Inside<R>),
    /// Inside a frame that is corrupt from here on.
    Failed { input: R, error: io::Error },
    /// At the end.
    Ended,
}

impl<R: Lookahead> Frames<R> {
    /// Starts at the beginning of a frame. It pauses at the first frame that another iterator
    /// [finds](Frames::find) at or after byte `end`.
    pub(crate) fn new(input: R, end: u64) -> Frames<R> {
        Frames {
            state: State::Between { input, lost: false },
            end,
            border: None,
        }
    }

    /// Seeks the first frame that begins between the input's offset and the end, and returns its
    /// offset. Only frames with a size header are found, the same as after damage.
    pub(crate) fn find(&mut self) -> io::Result<Option<u64>> {
        let end = self.end;
        let Some(input) = self.input() else {
            return Ok(None);
        };
        while find_size(input, end)? {
            if begins_frame(input)? {
                return Ok(Some(input.offset()));
            }
            input.consume(1);
        }
        Ok(None)
    }

    /// Offset of the next part's first frame, once reached.
    pub(crate) fn border(&self) -> Option<u64> {
        self.border
    }

    /// Returns the error that the next call will return, if it is known.
    pub(crate) fn failure(&self) -> Option<&io::Error> {
        match &self.state {
            State::Failed { error, .. } => Some(error),
            _ => None,
        }
    }

    /// Returns the underlying reader; `None` if it was lost.
    pub(crate) fn input(&mut self) -> Option<&mut R> {
        match &mut self.state {
            State::Between { input, .. } | State::Failed { input, .. } => Some(input),
            State::Inside(decoder) => Some(decoder.get_mut().get_mut().1),
            State::Ended => None,
        }
    }

    /// Returns whether the next segment starts a frame.
    pub(crate) fn is_between(&self) -> bool {
        matches!(self.state, State::Between { lost: false, .. })
    }

    /// Returns whether the next frame must be searched for, after damage.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self.state, State::Between { lost: true, .. })
    }

    /// Returns the next segment, using the memory of `buffer`; text comes in pieces of up to
    /// `piece` bytes. `None` at the end, and once at the border of the part.
    ///
    /// # Errors
    /// If the file is corrupt or truncated. The next call continues at the next size header.
    pub(crate) fn next(&mut self, piece: u64, buffer: Vec<u8>) -> io::Result<Option<Segment>> {
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Ended => Ok(None),
            State::Between { input, lost } => self.between(input, lost, piece, buffer),
            State::Inside(decoder) => self.inside(decoder, piece, buffer).map(Some),
            State::Failed { input, error } => {
                self.state = State::Between { input, lost: true };
                Err(error)
            }
        }
    }

    fn between(
        &mut self,
        mut input: R,
        lost: bool,
        piece: u64,
        buffer: Vec<u8>,
    ) -> io::Result<Option<Segment>> {
        let before = self.border;
        let found = self.find_next(&mut input, lost);
        if self.border != before {
            self.state = State::Between { input, lost: false };
            return Ok(None);
        }
        let segment = match found {
            Ok(None) => {
                self.state = State::Between { input, lost: false };
                return Ok(None);
            }
            Ok(Some(Found::Size(size))) => match read_frame(&mut input, size, buffer) {
                Ok(frame) if max_text_bytes(&frame) > MAX_TEXT_BYTES => {
                    return self.enter(frame, input, piece, Vec::new());
                }
                frame => frame.map(|frame| Some(Segment::Frame(frame))),
            },
            Ok(Some(Found::Magic(magic))) => {
                return self.enter(magic.to_vec(), input, piece, buffer);
            }
            Err(error) => Err(error),
        };
        let lost = segment.is_err();
        self.state = State::Between { input, lost };
        segment
    }

    /// Finds the next frame. If it is the first frame of the next part, records the border instead
    /// and consumes nothing.
    fn find_next(&mut self, input: &mut R, lost: bool) -> io::Result<Option<Found>> {
        if lost {
            match find_size(input, u64::MAX) {
                Ok(true) => {}
                Err(error) if SourceError::stops(&error) => return Err(error),
                // The damage is already reported, so treat more of it as the end.
                Ok(false) | Err(_) => return Ok(None),
            }
        }
        if self.border.is_none() && input.offset() >= self.end && begins_frame(input)? {
            self.border = Some(input.offset());
            return Ok(None);
        }
        find_frame(input)
    }

    /// Starts decoding a frame that begins with the bytes of `start`.
    fn enter(
        &mut self,
        start: Vec<u8>,
        input: R,
        piece: u64,
        buffer: Vec<u8>,
    ) -> io::Result<Option<Segment>> {
        let mut decoder = Decoder::with_buffer(Cursor::new(start).chain(input))?.single_frame();
        decoder.window_log_max(WINDOW_LOG_MAX)?;
        self.inside(Box::new(decoder), piece, buffer).map(Some)
    }

    fn inside(
        &mut self,
        mut decoder: Inside<R>,
        piece: u64,
        buffer: Vec<u8>,
    ) -> io::Result<Segment> {
        let mut text = emptied(buffer, piece as usize);
        let outcome = (&mut decoder).take(piece).read_to_end(&mut text);
        if let Err(error) = outcome {
            let (_, input) = decoder.into_inner().into_inner();
            self.state = State::Failed { input, error };
            if text.is_empty() {
                return self.next(piece, Vec::new()).map(|_| Segment::Text(text));
            }
        } else if text.is_empty() {
            let (start, input) = decoder.finish().into_inner();
            let whole = start.position() == start.get_ref().len() as u64;
            self.state = match whole {
                true => State::Between { input, lost: false },
                false => {
                    let error = io::Error::other("a frame is shorter than its header states");
                    State::Failed { input, error }
                }
            };
        } else {
            self.state = State::Inside(decoder);
        }
        Ok(Segment::Text(text))
    }
}

/// Start of a frame.
enum Found {
    /// Size of the next frame, from its header.
    Size(u32),
    /// Magic number of a frame without a size header.
    Magic([u8; 4]),
}

fn find_frame(input: &mut impl BufRead) -> io::Result<Option<Found>> {
    loop {
        let Some(magic) = read_word(input)? else {
            return Ok(None);
        };
        if magic == MAGIC {
            return Ok(Some(Found::Magic(magic)));
        }
        if !is_skippable(&magic) {
            return Err(io::Error::other("the next bytes are not a zstd frame"));
        }
        let length = u32::from_le_bytes(read_word(input)?.ok_or_else(broken_off)?);
        if length == 4 && magic == SIZE_HEADER[..4] {
            let size = u32::from_le_bytes(read_word(input)?.ok_or_else(broken_off)?);
            if size <= MAX_FRAME_BYTES {
                return Ok(Some(Found::Size(size)));
            }
            continue;
        }
        let skipped = io::copy(&mut input.take(length.into()), &mut io::sink())?;
        if skipped < length.into() {
            return Err(broken_off());
        }
    }
}

/// Skips to the next size header. Returns whether one begins before byte `end`.
fn find_size(input: &mut impl Lookahead, end: u64) -> io::Result<bool> {
    while input.offset() < end {
        let bytes = input.peek(SIZED_BYTES)?;
        let (length, found) = (bytes.len(), memmem::find(bytes, &SIZE_HEADER));
        match found {
            Some(0) if size_in_header(bytes).is_some() => return Ok(true),
            Some(0) => input.consume(1),
            Some(start) => input.consume(start),
            None if length < SIZED_BYTES => {
                input.consume(length);
                return Ok(false);
            }
            // A size header may begin in the last bytes.
            None => input.consume(length + 1 - SIZE_HEADER.len()),
        }
    }
    Ok(false)
}

/// Parses a size header at the start of `bytes`; `None` if there is none, or the frame is too large
/// to return whole.
fn size_in_header(bytes: &[u8]) -> Option<u32> {
    let size = bytes.strip_prefix(&SIZE_HEADER)?.first_chunk()?;
    Some(u32::from_le_bytes(*size)).filter(|&size| size <= MAX_FRAME_BYTES)
}

/// Returns whether the input is at a size header followed by a frame that can be decoded, at least
/// its beginning. Bytes inside a frame may look like a header.
fn begins_frame(input: &mut impl Lookahead) -> io::Result<bool> {
    let Some(size) = size_in_header(input.peek(SIZED_BYTES)?) else {
        return Ok(false);
    };
    let size = (size as usize).min(SEEN_BYTES);
    let bytes = input.peek(SIZED_BYTES + size)?;
    let frame = &bytes[SIZED_BYTES..bytes.len().min(SIZED_BYTES + size)];
    if !frame.starts_with(&MAGIC) {
        return Ok(false);
    }
    let text =
        text_of(frame).and_then(|text| io::copy(&mut text.take(SEEN_TEXT_BYTES), &mut io::sink()));
    // A truncated frame is valid so far.
    Ok(text.map_or_else(|error| error.kind() == ErrorKind::UnexpectedEof, |_| true))
}

/// Reads a frame of the size in its header.
fn read_frame(input: &mut impl BufRead, size: u32, buffer: Vec<u8>) -> io::Result<Vec<u8>> {
    let mut frame = emptied(buffer, size as usize);
    input.take(size.into()).read_to_end(&mut frame)?;
    if frame.is_empty() {
        return Err(broken_off());
    }
    Ok(frame)
}

/// Clears a buffer and reserves `bytes`. Fresh memory for each segment would cost as much as
/// digesting it.
pub(crate) fn emptied(mut buffer: Vec<u8>, bytes: usize) -> Vec<u8> {
    buffer.clear();
    buffer.reserve_exact(bytes);
    buffer
}

/// Upper bound on the text of frames, from their block headers and content sizes. The content size
/// is larger in a truncated frame.
fn max_text_bytes(mut frames: &[u8]) -> usize {
    let mut total: usize = 0;
    loop {
        if is_skippable(frames) {
            let length = frames.get(4..).and_then(<[u8]>::first_chunk);
            let length = length.map_or(0, |length| u32::from_le_bytes(*length) as usize);
            frames = frames.get(8 + length..).unwrap_or_default();
            continue;
        }
        let Some((header, blocks)) = FrameHeader::read(frames) else {
            return total;
        };
        let mut held = 0;
        frames = blocks;
        while let Some((header, rest)) = frames.split_first_chunk::<3>() {
            let header = u32::from_le_bytes([header[0], header[1], header[2], 0]);
            let (last, kind, size) = (header & 1, header >> 1 & 3, (header >> 3) as usize);
            // Block types: raw, run-length, compressed.
            let (length, text) = match kind {
                0 => (size, size),
                1 => (1, size),
                _ => (size, MAX_BLOCK_BYTES),
            };
            held += text;
            frames = rest.get(length..).unwrap_or_default();
            if last == 1 {
                break;
            }
        }
        frames = frames.get(header.checksum_bytes..).unwrap_or_default();
        total = total.saturating_add(header.text_bytes.max(held));
    }
}

/// Maximum text of a block.
const MAX_BLOCK_BYTES: usize = 1 << 17;

/// Frame header (RFC 8878, 3.1.1.1).
struct FrameHeader {
    /// Content size in bytes; 0 if absent.
    text_bytes: usize,
    /// Length of the checksum after the blocks.
    checksum_bytes: usize,
}

impl FrameHeader {
    /// Parses the header, and returns the rest of the frame; `None` if it is invalid.
    fn read(frame: &[u8]) -> Option<(FrameHeader, &[u8])> {
        let (descriptor, rest) = frame.strip_prefix(&MAGIC)?.split_first()?;
        let single_segment = descriptor >> 5 & 1;
        let window = usize::from(1 - single_segment);
        let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let content = [usize::from(single_segment), 2, 4, 8][usize::from(descriptor >> 6)];
        let (stored, blocks) = rest.get(window + dictionary..)?.split_at_checked(content)?;
        let mut bytes = [0; 8];
        bytes[..content].copy_from_slice(stored);
        // A two-byte content size is stored minus 256.
        let from = if content == 2 { 256 } else { 0 };
        let text_bytes = u64::from_le_bytes(bytes).saturating_add(from);
        let header = FrameHeader {
            text_bytes: usize::try_from(text_bytes).unwrap_or(usize::MAX),
            checksum_bytes: if descriptor >> 2 & 1 == 1 { 4 } else { 0 },
        };
        Some((header, blocks))
    }
}

/// Reads four bytes; `None` at the end of the file.
fn read_word(input: &mut impl BufRead) -> io::Result<Option<[u8; 4]>> {
    if input.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let mut word = [0; 4];
    input.read_exact(&mut word).map(|()| Some(word))
}

fn broken_off() -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "the file breaks off between two frames",
    )
}

/// Reusable decoder of whole frames.
pub(crate) struct FrameDecoder {
    context: DCtx<'static>,
    text: Vec<u8>,
}

/// Compressed bytes per decoding step: the resulting text, about 4 MB in a dump, is still in a
/// core's cache when it is parsed.
const STRIDE_BYTES: usize = 1 << 19;

/// Decoding of one frame in progress.
pub(crate) struct Decoding<'a> {
    decoder: &'a mut FrameDecoder,
    frame: &'a [u8],
    /// Compressed bytes decoded so far.
    done: usize,
    /// Whether they end at the end of a frame.
    whole: bool,
}

impl FrameDecoder {
    pub(crate) fn new() -> FrameDecoder {
        FrameDecoder {
            context: DCtx::create(),
            text: Vec::new(),
        }
    }

    /// Starts decoding a frame.
    pub(crate) fn begin<'a>(&'a mut self, frame: &'a [u8]) -> io::Result<Decoding<'a>> {
        // Equal capacity for every frame makes results independent of earlier frames; untouched
        // memory costs nothing.
        self.text.clear();
        self.text.reserve_exact(MAX_TEXT_BYTES);
        // A failed frame may have left the context in mid-frame.
        self.context
            .reset(ResetDirective::SessionAndParameters)
            .map_err(zstd_error)?;
        // A stable output buffer avoids decoding into an internal buffer and copying, which would
        // also split the text that matches refer to.
        let parameters = [
            DParameter::WindowLogMax(WINDOW_LOG_MAX),
            DParameter::StableOutBuffer(true),
        ];
        for parameter in parameters {
            self.context.set_parameter(parameter).map_err(zstd_error)?;
        }
        Ok(Decoding {
            decoder: self,
            frame,
            done: 0,
            whole: false,
        })
    }
}

impl Decoding<'_> {
    /// Text decoded so far.
    pub(crate) fn text(&self) -> &[u8] {
        &self.decoder.text
    }

    /// Decodes one step. Breaks at the end; with an error if the frame is truncated, in which case
    /// the text so far is valid.
    ///
    /// # Errors
    /// If the frame is corrupt: none of its text is trustworthy.
    pub(crate) fn advance(&mut self) -> io::Result<ControlFlow<Option<io::Error>>> {
        if self.done == self.frame.len() {
            let broken_off = || io::Error::new(io::ErrorKind::UnexpectedEof, "incomplete frame");
            return Ok(ControlFlow::Break((!self.whole).then(broken_off)));
        }
        let end = (self.done + STRIDE_BYTES).min(self.frame.len());
        let mut input = InBuffer::around(&self.frame[self.done..end]);
        let FrameDecoder { context, text } = &mut *self.decoder;
        while input.pos() < input.src.len() {
            let before = (input.pos(), text.len());
            let mut output = OutBuffer::around_pos(text, before.1);
            let expected = context
                .decompress_stream(&mut output, &mut input)
                .map_err(zstd_error)?;
            self.whole = expected == 0;
            if (input.pos(), text.len()) == before {
                return Err(io::Error::other("the decoder makes no progress"));
            }
        }
        self.done = end;
        Ok(ControlFlow::Continue(()))
    }
}

fn zstd_error(code: usize) -> io::Error {
    io::Error::other(zstd::zstd_safe::get_error_name(code))
}

/// Returns a streaming decoder of a frame.
pub(crate) fn text_of(frame: &[u8]) -> io::Result<impl Read + '_> {
    let mut decoder = Decoder::with_buffer(frame)?;
    decoder.window_log_max(WINDOW_LOG_MAX)?;
    Ok(decoder)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All blocks but the last are full; a compressed block's bound may exceed its text.
    #[test]
    fn bounds_the_text_of_frames_without_decoding() {
        let texts: [Vec<u8>; 4] = [
            Vec::new(),
            vec![b'a'; 1 << 20],
            (0..300_000u32)
                .map(|i| (i.wrapping_mul(i) >> 9) as u8)
                .collect(),
            b"[Event \"x\"]\n".repeat(50_000),
        ];
        let mut frames = Vec::new();
        let mut all = 0;
        for (i, text) in texts.iter().enumerate() {
            let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
            encoder.include_checksum(i % 2 == 0).unwrap();
            io::copy(&mut &text[..], &mut encoder).unwrap();
            for frame in [
                encoder.finish().unwrap(),
                zstd::bulk::compress(text, 1).unwrap(),
            ] {
                let most = max_text_bytes(&frame);
                assert!(most >= text.len(), "{most} of {}", text.len());
                assert!(most <= text.len() + MAX_BLOCK_BYTES, "{most}");
                // A truncated frame has no larger bound.
                assert!(max_text_bytes(&frame[..frame.len() / 2]) <= most);
                frames.extend_from_slice(&frame);
                all += most;
            }
        }
        assert_eq!(max_text_bytes(&frames), all);
    }

    /// Decodes a frame as far as possible.
    fn decode(decoder: &mut FrameDecoder, frame: &[u8]) -> (Vec<u8>, Option<io::ErrorKind>) {
        let mut decoding = decoder.begin(frame).unwrap();
        let damage = loop {
            match decoding.advance() {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(damage)) => break damage.map(|error| error.kind()),
                Err(error) => break Some(error.kind()),
            }
        };
        (decoding.text().to_vec(), damage)
    }

    #[test]
    fn decoding_is_independent_of_earlier_frames() {
        let text: Vec<u8> = (0..3_000_000)
            .map(|i| b"abcdefgh"[records::hash::mix(i) as usize % 8])
            .collect();
        let mut streamed = zstd::Encoder::new(Vec::new(), 1).unwrap();
        io::copy(&mut &text[..], &mut streamed).unwrap();
        let frame = zstd::bulk::compress(&text, 1).unwrap();
        let skippable = [&SIZE_HEADER[..], &[1, 2, 3, 4]].concat();
        let mut warm = FrameDecoder::new();
        decode(&mut warm, &frame);
        for frame in [&frame, &streamed.finish().unwrap()] {
            for (part, times) in [
                (frame.clone(), 1),
                ([&skippable[..], frame].concat(), 1),
                ([frame, &skippable[..], frame].concat(), 2),
            ] {
                let whole = (text.repeat(times), None);
                assert!(decode(&mut FrameDecoder::new(), &part) == whole);
                assert!(decode(&mut warm, &part) == whole);
                assert!(max_text_bytes(&part) >= times * text.len());
            }
            for end in [20, frame.len() / 2, frame.len() - 1] {
                let cold = decode(&mut FrameDecoder::new(), &frame[..end]);
                assert!(cold == decode(&mut warm, &frame[..end]));
                assert_eq!(cold.1, Some(io::ErrorKind::UnexpectedEof));
                assert!(text.starts_with(&cold.0));
                assert!(end == 20 || cold.0.len() > text.len() / 4);
            }
        }
    }
}
