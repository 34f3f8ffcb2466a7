//! Parallel reader of a source.
//!
//! A reader thread splits the source into segments: frames, or pieces of text. Workers decode and
//! parse each segment independently, from the first start of a game in it to the last. The calling
//! thread restores their order and joins the games that straddle two segments. So the output
//! depends on the source alone, and reading can resume after any of it.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::{io, thread};

use host::{Workers, read_ahead};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::reading::FromSource;
use crate::source::{
    Content, DigestNode, End, FrameDecoder, PartOf, PartRead, Place, Segment, Source, SourceError,
};
use records::games::{Boundary, any_tag_games, ends_with_result};
use records::position::Record;
use records::selection::{Filters, GameId, SkipReason, SourceCounts, Split};

/// Longest game accepted: the longest legal one, 5,898 moves with a kilobyte of comment each, fits.
pub(crate) const MAX_GAME_BYTES: usize = 16 << 20;

/// Text of a frame parsed at once, unless a game is longer.
const STRIDE_TEXT_BYTES: usize = 1 << 20;

/// Segments read ahead per thread.
const AHEAD_PER_THREAD: usize = 1;

/// Segments in flight per thread: enough that no worker waits for another's slow segment.
const WINDOW_PER_THREAD: usize = 2;

/// Rows of a stretch of a source, and its counts.
#[derive(Debug)]
pub struct Batch<R = Record> {
    /// Training rows in source order.
    pub train: Vec<R>,
    /// Rows of held-out games, in source order.
    pub validation: Vec<R>,
    /// Counts of the stretch.
    pub tally: SourceCounts,
    /// Point after the batch from which reading can resume.
    pub(crate) checkpoint: Option<ResumePoint>,
}

impl<R> Default for Batch<R> {
    fn default() -> Batch<R> {
        Batch {
            train: Vec::new(),
            validation: Vec::new(),
            tally: SourceCounts::default(),
            checkpoint: None,
        }
    }
}

/// Resume point of a source, with the state carried over from the text before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ResumePoint {
    content: Content,
    place: Place,
    #[serde(rename = "seam")]
    joiner: GameJoiner,
}

/// Result of reading a source, or a part of one, to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Size of the source in (compressed) bytes.
    pub bytes: u64,
    /// Tree digest of the source or the part, hexadecimal.
    pub digest: String,
    /// Tree digest of the first 16 KiB.
    pub head: String,
    /// Granule digests of a whole source; empty for a part.
    pub(crate) granules: Vec<DigestNode>,
    /// The part that was read; `None` for a whole source.
    pub part: Option<PartRead>,
    /// Damage found; `None` if the source is sound.
    pub damage: Option<Damage>,
}

impl Finished {
    /// Returns `Ok(())` if the source is undamaged.
    ///
    /// # Errors
    /// [`SourceError::Damaged`].
    pub fn check(&self, path: &Path) -> Result<(), SourceError> {
        match &self.damage {
            None => Ok(()),
            Some(damage) => Err(SourceError::damaged(path, damage)),
        }
    }
}

/// Damage found in a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// Compressed offset of the first damage: the end of the segment it was found in.
    pub offset: u64,
    /// Error of the decoder.
    pub message: String,
    /// Number of damaged places.
    pub places: u64,
}

impl Damage {
    /// Combines the damage of all parts of a source, given in order.
    pub(crate) fn joined(parts: impl Iterator<Item = Damage>) -> Option<Damage> {
        parts.reduce(|a, b| {
            // Damage at the end of a segment's last game may lie past damage noted by the next
            // segment.
            let first = if b.offset < a.offset { &b } else { &a };
            Damage {
                places: a.places + b.places,
                ..first.clone()
            }
        })
    }
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(
            f,
            "damaged at compressed byte {}: {}",
            self.offset, self.message
        )?;
        match self.places {
            1 => Ok(()),
            places => write!(f, " (and at {} more places)", places - 1),
        }
    }
}

/// State carried from one segment to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct GameJoiner {
    edge: PartialGame,
    /// Whether no unit of this segment has begun yet: text before it belongs to the previous
    /// segment.
    before: bool,
    damage: Option<Damage>,
}

/// Text at the edge of a segment: the start or the end of a game.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct PartialGame {
    #[serde(skip)]
    text: Vec<u8>,
    /// Reason to skip the text that belongs here; `None` if it is kept.
    passing: Option<SkipReason>,
    /// Whether any text was skipped.
    passed: bool,
}

/// Result of parsing one segment.
struct SegmentGames<R> {
    /// Text before the first start of a game.
    head: PartialGame,
    /// Rows of the games between head and tail.
    batch: Batch<R>,
    /// Text from the last start of a game on; `None` if no game starts here.
    tail: Option<PartialGame>,
    /// Error after the parsed text.
    damage: Option<io::Error>,
    /// Memory of the segment, for reuse.
    buffer: Vec<u8>,
}

impl<R> Default for SegmentGames<R> {
    fn default() -> SegmentGames<R> {
        SegmentGames {
            head: PartialGame::default(),
            batch: Batch::default(),
            tail: None,
            damage: None,
            buffer: Vec::new(),
        }
    }
}

impl<R: FromSource> SegmentGames<R> {
    /// Parses a segment.
    fn of(
        parser: Parser,
        segment: io::Result<Segment>,
        decoder: &mut FrameDecoder,
    ) -> SegmentGames<R> {
        let (games, buffer) = match segment {
            Ok(Segment::Text(text)) => (read_text(parser, &text), text),
            Ok(Segment::Frame(frame)) => (read_frame(parser, &frame, decoder), frame),
            Err(error) => (SegmentGames::damaged(error), Vec::new()),
        };
        SegmentGames { buffer, ..games }
    }

    /// Creates the result of a segment that could not be parsed at all.
    fn damaged(error: io::Error) -> SegmentGames<R> {
        SegmentGames {
            damage: Some(error),
            ..SegmentGames::default()
        }
    }
}

impl ResumePoint {
    /// Text after the last whole game, which the serialised form omits.
    pub(crate) fn carried_text(&self) -> &[u8] {
        &self.joiner.edge.text
    }

    /// Restores the omitted text after deserialising.
    pub(crate) fn set_carried_text(&mut self, text: Vec<u8>) {
        self.joiner.edge.text = text;
    }
}

/// Resumes reading a source at a checkpoint.
///
/// # Errors
/// As [`Source::open`]; [`SourceError::OtherSource`] if the source has changed.
pub(crate) fn resume(
    path: &Path,
    checkpoint: ResumePoint,
    part: Option<PartOf>,
) -> Result<Reading, SourceError> {
    let ResumePoint {
        content,
        place,
        joiner,
    } = checkpoint;
    let source = Source::resume(path, content, &place, part)?;
    Ok(Reading { source, joiner })
}

/// A source with its read state.
pub struct Reading {
    source: Source,
    joiner: GameJoiner,
}

impl From<Source> for Reading {
    fn from(source: Source) -> Reading {
        let joiner = GameJoiner {
            before: source.range().is_some_and(|range| range.start > 0),
            ..GameJoiner::default()
        };
        Reading { source, joiner }
    }
}

impl Reading {
    /// The source being read.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Reads all rows on up to `threads` threads; calls `each` with batches in source order. After
    /// damage, reading continues at the next frame if there is one.
    ///
    /// # Errors
    /// Errors of `each`, which stop the reading; [`SourceError::NoMoves`],
    /// [`SourceError::OtherSource`], [`SourceError::Interrupted`], [`Error::NoThread`].
    pub fn run<R: FromSource>(
        self,
        filters: &Filters,
        threads: usize,
        each: impl FnMut(Batch<R>) -> Result<(), Error>,
    ) -> Result<Finished, Error> {
        self.run_unless_stopped(filters, threads, &AtomicBool::new(false), each)
    }

    /// Variant of [`Reading::run`] that stops when `stop` is set, even while blocked on a source
    /// such as a pipe.
    ///
    /// # Errors
    /// As [`Reading::run`]; [`Error::Stopped`].
    pub fn run_unless_stopped<R: FromSource>(
        self,
        filters: &Filters,
        threads: usize,
        stop: &AtomicBool,
        mut each: impl FnMut(Batch<R>) -> Result<(), Error>,
    ) -> Result<Finished, Error> {
        let Reading { source, mut joiner } = self;
        let path = source.path().to_path_buf();
        if !R::OF_BARE_POSITIONS && !source.content().has_moves() {
            return Err(SourceError::NoMoves { path }.into());
        }
        let parser = Parser {
            path: &path,
            content: source.content(),
            filters,
        };
        let (buffers, returned) = channel();
        let segments = Segments {
            source,
            buffers: returned,
        };
        let (segments, reader) =
            read_ahead(segments, threads * AHEAD_PER_THREAD, stop).map_err(Error::NoThread)?;
        let stopped = || match stop.load(Ordering::Relaxed) {
            true => Err(Error::Stopped),
            false => Ok(()),
        };
        let segments = thread::scope(|scope| {
            let workers = Workers {
                threads,
                least: 1,
                window: threads * WINDOW_PER_THREAD,
            };
            let worker = move || {
                let mut decoder = FrameDecoder::new();
                Ok(move |task: Task<_>| {
                    Ok::<_, Infallible>(
                        task.map(|segment| SegmentGames::<R>::of(parser, segment, &mut decoder)),
                    )
                })
            };
            let outcomes = workers.start(scope, segments, worker);
            for outcome in outcomes.map_err(Error::NoThread)? {
                stopped()?;
                let Ok(mut task) = outcome.unwrap_or_else(|panic| resume_unwind(panic));
                // Fails once the source has ended.
                let _ = buffers.send(std::mem::take(&mut task.what.buffer));
                joiner.take(task, parser, &mut each)?;
            }
            stopped()?;
            Ok::<_, Error>(reader.join())
        })?;
        let mut source = segments.source;
        let (path, filters) = (path.clone(), filters.clone());
        let ended = host::unless_stopped(stop, move || {
            let parser = Parser {
                path: &path,
                content: source.content(),
                filters: &filters,
            };
            let mut batch = Batch::<R>::default();
            if source.is_at_border() {
                joiner.take_beyond(&mut source, parser, &mut batch)?;
            }
            let end = source.end()?;
            let finished = joiner.end(parser, end, &mut batch)?;
            Ok::<(Batch<R>, Finished), SourceError>((batch, finished))
        });
        let (batch, finished) = ended.ok_or(Error::Stopped)??;
        each(batch)?;
        Ok(finished)
    }
}

/// Parser of any segment of a source.
#[derive(Clone, Copy)]
struct Parser<'a> {
    path: &'a Path,
    content: Content,
    filters: &'a Filters,
}

impl Parser<'_> {
    /// Parses whole games into a batch.
    fn read<R: FromSource>(&self, text: &[u8], batch: &mut Batch<R>) {
        #[cfg(test)]
        tests::panic_if_marked(text);
        let Batch {
            train,
            validation,
            tally,
            ..
        } = batch;
        let mut each = |id: GameId, rows: &[R]| match id.split(self.filters.validation_percent) {
            Split::Train => train.extend_from_slice(rows),
            Split::Validation => validation.extend_from_slice(rows),
        };
        if let Some(format) = self.content.packed {
            return R::read_packed(text, format, self.filters, tally, each);
        }
        match (self.content.positions, self.content.boundary) {
            (Some(format), _) => R::read_positions(text, format, self.filters, tally, each),
            // Parsed one by one: a game must not affect the next one in the same segment.
            (None, Boundary::AnyTag) => any_tag_games(text)
                .for_each(|game| R::read_games(game, self.filters, tally, &mut each)),
            (None, _) => R::read_games(text, self.filters, tally, each),
        }
    }
}

/// A segment, or its result, on its way through the threads.
struct Task<T> {
    what: T,
    /// Compressed offset of its end.
    offset: u64,
    place: Option<Place>,
}

impl<T> Task<T> {
    fn map<U>(self, work: impl FnOnce(T) -> U) -> Task<U> {
        Task {
            what: work(self.what),
            offset: self.offset,
            place: self.place,
        }
    }
}

/// Segments of a source, read into buffers that are used again.
struct Segments {
    source: Source,
    buffers: Receiver<Vec<u8>>,
}

impl Iterator for Segments {
    type Item = Task<io::Result<Segment>>;

    fn next(&mut self) -> Option<Task<io::Result<Segment>>> {
        let buffer = self.buffers.try_recv().unwrap_or_default();
        let (what, place) = self.source.next_segment(buffer)?;
        Some(Task {
            what,
            offset: self.source.consumed().load(Ordering::Relaxed),
            place,
        })
    }
}

fn read_text<R: FromSource>(parser: Parser, text: &[u8]) -> SegmentGames<R> {
    let mut reader = SegmentReader::new(parser);
    let read = reader.take(text);
    reader.end(&text[read..], None)
}

/// Decodes and parses a frame. A corrupt frame yields nothing, since none of its text is
/// trustworthy; a truncated one yields the text it has.
fn read_frame<R: FromSource>(
    parser: Parser,
    frame: &[u8],
    decoder: &mut FrameDecoder,
) -> SegmentGames<R> {
    let mut decoding = match decoder.begin(frame) {
        Ok(decoding) => decoding,
        Err(error) => return SegmentGames::damaged(error),
    };
    let mut reader = SegmentReader::new(parser);
    let (mut start, mut end) = (0, 0);
    let damage = loop {
        match decoding.advance() {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(damage)) => break damage,
            Err(error) => return SegmentGames::damaged(error),
        }
        let text = decoding.text();
        while end < text.len() {
            let length = (2 * (end - start)).clamp(STRIDE_TEXT_BYTES, MAX_GAME_BYTES + 1);
            end = (start + length).min(text.len());
            start += reader.take(&text[start..end]);
        }
    };
    reader.end(&decoding.text()[start..], damage)
}

/// Incremental parser of a stretch of text that comes in pieces.
struct SegmentReader<'a, R> {
    parser: Parser<'a>,
    games: SegmentGames<R>,
    /// Whether the first start of a game was seen.
    split: bool,
    /// Whether an oversized game is being skipped.
    oversized: bool,
}

/// Bytes kept at the end of skipped text, which may belong to the start of a game.
pub(crate) const OVERLAP: usize = 1 << 12;

impl<'a, R: FromSource> SegmentReader<'a, R> {
    fn new(parser: Parser<'a>) -> SegmentReader<'a, R> {
        SegmentReader {
            parser,
            games: SegmentGames::default(),
            split: false,
            oversized: false,
        }
    }

    /// Parses the whole games of `text`. Returns the number of bytes consumed; the rest must be
    /// passed again, with more text after it.
    fn take(&mut self, text: &[u8]) -> usize {
        let boundary = self.parser.content.boundary;
        let mut done = 0;
        if !self.split || self.oversized {
            match boundary.first(text) {
                Some(start) => {
                    if !self.split {
                        self.games.head.append(&text[..start]);
                    } else {
                        self.games.batch.tally.skip(SkipReason::OversizedGame);
                    }
                    (self.split, self.oversized, done) = (true, false, start);
                }
                None if text.len() <= MAX_GAME_BYTES && !self.oversized => return 0,
                None => {
                    if !self.split {
                        self.games.head.pass(SkipReason::OversizedGame);
                    }
                    return text.len().saturating_sub(OVERLAP);
                }
            }
        }
        match boundary.last(&text[done..]) {
            Some(end) => {
                let games = &text[done..done + end];
                self.parser.read(games, &mut self.games.batch);
                done + end
            }
            None if text.len() - done <= MAX_GAME_BYTES => done,
            None => {
                self.oversized = true;
                text.len() - OVERLAP
            }
        }
    }

    fn end(mut self, rest: &[u8], damage: Option<io::Error>) -> SegmentGames<R> {
        if self.split {
            let mut tail = PartialGame::default();
            tail.append(rest);
            if self.oversized {
                tail.pass(SkipReason::OversizedGame);
            }
            self.games.tail = Some(tail);
        } else {
            self.games.head.append(rest);
        }
        self.games.damage = damage;
        self.games
    }
}

impl PartialGame {
    fn append(&mut self, text: &[u8]) {
        if self.passing.is_some() {
            self.passed |= !text.is_empty();
        } else {
            self.text.extend_from_slice(text);
        }
        if self.text.len() > MAX_GAME_BYTES {
            self.pass(SkipReason::OversizedGame);
        }
    }

    /// Drops the text, and all that is appended later.
    fn pass(&mut self, reason: SkipReason) {
        self.passed |= !self.text.is_empty();
        self.text.clear();
        self.passing = Some(reason);
    }
}

impl GameJoiner {
    /// Joins the result of a segment to the carried state, and emits batches.
    fn take<R: FromSource>(
        &mut self,
        task: Task<SegmentGames<R>>,
        parser: Parser,
        each: &mut impl FnMut(Batch<R>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let SegmentGames {
            head,
            mut batch,
            tail,
            damage,
            ..
        } = task.what;
        self.join(head);
        if let Some(tail) = tail {
            let mut straddling = Batch::default();
            self.close(parser, &mut straddling);
            each(straddling)?;
            (self.edge, self.before) = (tail, false);
        }
        if let Some(error) = damage {
            each(std::mem::take(&mut batch))?;
            self.damaged(&error, task.offset, parser, &mut batch)?;
        }
        batch.checkpoint = task.place.map(|place| ResumePoint {
            content: parser.content,
            place,
            joiner: self.clone(),
        });
        each(batch)
    }

    /// Appends text to the carried unit, unless it belongs to the previous segment.
    fn join(&mut self, head: PartialGame) {
        if self.before {
            return;
        }
        self.edge.append(&head.text);
        if let Some(reason) = head.passing {
            self.edge.pass(reason);
            self.edge.passed |= head.passed;
        }
    }

    /// Completes the last unit of a segment: reads past its end to the first unit that begins
    /// there.
    fn take_beyond<R: FromSource>(
        &mut self,
        source: &mut Source,
        parser: Parser,
        batch: &mut Batch<R>,
    ) -> Result<(), SourceError> {
        let mut decoder = FrameDecoder::new();
        while !self.before {
            let Some((segment, _)) = source.next_segment(Vec::new()) else {
                return Ok(());
            };
            let games = SegmentGames::<R>::of(parser, segment, &mut decoder);
            self.join(games.head);
            if games.tail.is_some() {
                self.close(parser, batch);
                self.before = true;
            } else if let Some(error) = games.damage {
                // The next segment records this damage.
                self.lose(&error, parser, batch)?;
            }
        }
        Ok(())
    }

    /// Closes the last game at the end of the source.
    fn end<R: FromSource>(
        &mut self,
        parser: Parser,
        end: End,
        batch: &mut Batch<R>,
    ) -> Result<Finished, SourceError> {
        let text = self.edge.text.trim_ascii();
        if parser.content.ends_with_result && !text.is_empty() && !ends_with_result(text) {
            let error = io::Error::other("the text ends inside a game");
            self.damaged(&error, end.bytes, parser, batch)?;
        }
        self.close(parser, batch);
        Ok(Finished {
            bytes: end.bytes,
            digest: end.digest,
            head: end.head,
            granules: end.granules,
            part: end.part,
            damage: self.damage.take(),
        })
    }

    /// Parses the carried game, which is now complete.
    fn close<R: FromSource>(&mut self, parser: Parser, batch: &mut Batch<R>) {
        let PartialGame {
            text,
            passing,
            passed,
        } = std::mem::take(&mut self.edge);
        match passing {
            None => parser.read(&text, batch),
            Some(reason) if passed => batch.tally.skip(reason),
            Some(_) => {}
        }
    }

    /// Records damage.
    fn damaged<R: FromSource>(
        &mut self,
        error: &io::Error,
        offset: u64,
        parser: Parser,
        batch: &mut Batch<R>,
    ) -> Result<(), SourceError> {
        self.lose(error, parser, batch)?;
        let damage = self.damage.get_or_insert_with(|| Damage {
            offset,
            message: error.to_string(),
            places: 0,
        });
        damage.places += 1;
        Ok(())
    }

    /// Drops the game that the damage lies in, and all text up to the start of the next game.
    fn lose<R: FromSource>(
        &mut self,
        error: &io::Error,
        parser: Parser,
        batch: &mut Batch<R>,
    ) -> Result<(), SourceError> {
        if let Some(error) = SourceError::stopping(parser.path, error) {
            return Err(error);
        }
        if self.before {
            return Ok(());
        }
        let text = &mut self.edge.text;
        let whole = match ends_with_result(text) {
            true => text.len(),
            // The carried text may hold several games.
            false => parser.content.boundary.last(text).unwrap_or(0),
        };
        parser.read(&text[..whole], batch);
        text.drain(..whole);
        self.edge.pass(SkipReason::MalformedGame);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
