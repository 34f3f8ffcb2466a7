//! The games of a source as text, in their order.

use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::atomic::Ordering;

use crate::Error;
use crate::input::{PIECE_BYTES, Part, PartOf, PartRead, Source, whole_text};
use crate::reading::Damage;
use crate::reading::parallel::{MAX_GAME_BYTES, OVERLAP};
use records::games::ends_with_result;

/// A piece of a source.
pub enum Chunk {
    /// Whole games.
    Games(Vec<u8>),
    /// More than 16 MiB without the start of a game were passed over.
    Oversized,
}

/// Reads the games of a source one chunk after another, on one thread, up to
/// the first damage: for work that costs more than the reading.
pub struct GameTexts {
    source: Source,
    frame: Option<FrameText>,
    /// Text read and not yet handed on.
    text: Vec<u8>,
    ended: bool,
    /// Inside a stretch of text that is passed over.
    oversized: bool,
    /// Whether no game has begun yet that belongs to the part of the source which is
    /// read: what comes first belongs to the part before.
    before: bool,
    /// Where in the text the next part begins, once the reading is behind that.
    border: Option<usize>,
    /// What reading failed with, once it has.
    failure: Option<io::Error>,
}

/// The text of a frame, and what is wrong behind it.
struct FrameText {
    text: Cursor<Vec<u8>>,
    damage: Option<io::Error>,
    /// Compressed bytes of the frame.
    bytes: u64,
}

impl GameTexts {
    /// Opens a source.
    ///
    /// # Errors
    /// As [`Source::open`]; [`Error::NotPgn`] for evaluated positions in another format.
    pub fn open(path: &Path) -> Result<GameTexts, Error> {
        GameTexts::of(Source::open(path)?)
    }

    /// Opens a part of a source: the games that begin in it.
    ///
    /// # Errors
    /// As [`Source::open_part`]; [`Error::NotPgn`] likewise.
    pub fn open_part(path: &Path, part: PartOf) -> Result<GameTexts, Error> {
        GameTexts::of(Source::open_part(path, part)?)
    }

    fn of(source: Source) -> Result<GameTexts, Error> {
        let content = source.content();
        if content.positions.is_some() || content.packed.is_some() {
            return Err(Error::NotPgn {
                path: Source::shown(source.path()),
                bytes: 0,
                positions: true,
            });
        }
        Ok(GameTexts {
            before: source.range().is_some_and(|range| range.start > 0),
            border: None,
            source,
            frame: None,
            text: Vec::new(),
            ended: false,
            oversized: false,
            failure: None,
        })
    }

    /// The source.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// What was read of a source of which a part was to be read, at its end.
    ///
    /// # Errors
    /// As [`GameTexts::next_chunk`].
    pub fn part_read(&mut self) -> Result<Option<PartRead>, Error> {
        Ok(self.source.end()?.part)
    }

    /// Compressed bytes of what was handed out so far, about: of a frame that
    /// was read as a whole, the share of its text.
    pub fn consumed(&self) -> u64 {
        let read = self.source.consumed().load(Ordering::Relaxed);
        let left = self.frame.as_ref().map_or(0, FrameText::left);
        read.saturating_sub(left)
    }

    /// The next chunk; `None` at the end.
    ///
    /// # Errors
    /// [`Error::Damaged`] where the source breaks off or is corrupt; every
    /// game that was complete by then has been handed over.
    /// [`Error::Interrupted`] where it is out of reach.
    pub fn next_chunk(&mut self) -> Result<Option<Chunk>, Error> {
        loop {
            // What is complete goes out before a failure is reported.
            if let Some(chunk) = self.cut() {
                return Ok(Some(chunk));
            }
            if self.ended || self.failure.is_some() {
                return self.last_chunk();
            }
            self.failure = self.fill().err();
        }
    }

    /// What is left at the end, or at a failure.
    fn last_chunk(&mut self) -> Result<Option<Chunk>, Error> {
        let path = self.source.path();
        let failure = self.failure.as_ref();
        if let Some(error) = failure.and_then(|error| Error::stopping(path, error)) {
            return Err(error);
        }
        if self.before {
            self.text.clear();
        }
        let whole = ends_with_result(&self.text);
        let must = self.source.content().ends_with_result;
        if must && !whole && !self.text.is_empty() {
            self.failure
                .get_or_insert_with(|| io::Error::other("the text ends inside a game"));
        }
        let rest = std::mem::take(&mut self.text);
        self.border = None;
        let keep = !self.oversized && !rest.is_empty() && (whole || self.failure.is_none());
        if keep {
            return Ok(Some(Chunk::Games(rest)));
        }
        let Some(error) = self.failure.take() else {
            return Ok(None);
        };
        let damage = Damage {
            offset: self.consumed(),
            message: error.to_string(),
            places: 1,
        };
        Err(Error::damaged(self.source.path(), &damage))
    }

    /// Reads a piece more.
    fn fill(&mut self) -> io::Result<()> {
        if let Some(frame) = &mut self.frame {
            let mut piece = (&mut frame.text).take(PIECE_BYTES);
            if piece.read_to_end(&mut self.text)? > 0 {
                return Ok(());
            }
            let damage = frame.damage.take();
            self.frame = None;
            return damage.map_or(Ok(()), Err);
        }
        // Each part looks for the start of a game in its own text alone.
        if self.border.is_some() && self.source.is_at_later_part() {
            self.border = Some(self.text.len());
        }
        match self.source.next_part(Vec::new()) {
            None if self.source.is_at_border() && self.border.is_none() && !self.before => {
                self.border = Some(self.text.len());
            }
            None => self.ended = true,
            Some((Ok(Part::Text(text)), _)) => self.text.extend_from_slice(&text),
            Some((Ok(Part::Frame(frame)), _)) => self.frame = Some(FrameText::decode(&frame)?),
            Some((Err(error), _)) => return Err(error),
        }
        Ok(())
    }

    /// Takes everything up to the start of the last game off the text; behind the end
    /// of a part, up to the first game of the next.
    fn cut(&mut self) -> Option<Chunk> {
        let boundary = self.source.content().boundary;
        // Told of the text behind the border alone, as the next part tells it.
        let end = self.border.and_then(|border| {
            let first = boundary.first(&self.text[border..]);
            first.map(|at| border + at)
        });
        if let Some(end) = end {
            self.text.truncate(end);
            (self.border, self.ended) = (None, true);
        }
        if self.oversized || self.before {
            let start = boundary.first(&self.text);
            let passed = match start {
                None if self.before && self.text.len() <= MAX_GAME_BYTES => 0,
                None => self.text.len().saturating_sub(OVERLAP),
                Some(start) => start,
            };
            self.text.drain(..passed);
            self.move_border(passed);
            let begun = start.is_some();
            (self.oversized, self.before) = (self.oversized && !begun, self.before && !begun);
        }
        if end.is_some() {
            let rest = std::mem::take(&mut self.text);
            return (!self.oversized && !rest.is_empty()).then_some(Chunk::Games(rest));
        }
        match boundary.last(&self.text) {
            _ if self.before => None,
            Some(end) if !self.oversized => {
                let tail = self.text.split_off(end);
                self.move_border(end);
                Some(Chunk::Games(std::mem::replace(&mut self.text, tail)))
            }
            _ if self.text.len() > MAX_GAME_BYTES => {
                self.oversized = true;
                Some(Chunk::Oversized)
            }
            _ => None,
        }
    }

    /// Notes that so many bytes were taken off the text's beginning.
    fn move_border(&mut self, bytes: usize) {
        self.border = self.border.map(|border| border.saturating_sub(bytes));
    }
}

impl FrameText {
    fn decode(frame: &[u8]) -> io::Result<FrameText> {
        let (text, damage) = whole_text(frame)?;
        Ok(FrameText {
            text: Cursor::new(text),
            damage,
            bytes: frame.len() as u64,
        })
    }

    /// Compressed bytes that its text was not yet taken of, about.
    fn left(&self) -> u64 {
        let text = self.text.get_ref().len() as u64;
        let left = text.saturating_sub(self.text.position());
        self.bytes * left / text.max(1)
    }
}
