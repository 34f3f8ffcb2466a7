//! Games of a source as text, in order.

use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::atomic::Ordering;

use crate::reading::Damage;
use crate::reading::parallel::{MAX_GAME_BYTES, OVERLAP};
use crate::source::{PIECE_BYTES, PartOf, PartRead, Segment, Source, SourceError, whole_text};
use records::games::ends_with_result;

/// A piece of a source.
pub enum Chunk {
    /// Text of whole games.
    Games(Vec<u8>),
    /// More than 16 MiB without the start of a game, skipped.
    Oversized,
}

/// Single-threaded reader of a source's games in chunks, up to the first damage: for work that
/// costs more than reading.
pub struct GameTexts {
    source: Source,
    frame: Option<FrameText>,
    /// Text not yet returned.
    text: Vec<u8>,
    ended: bool,
    /// Whether an oversized stretch of text is being skipped.
    oversized: bool,
    /// Whether no game of this part has begun yet: text before it belongs to the previous part.
    before: bool,
    /// Offset in `text` where the next part begins, once reading has passed it.
    border: Option<usize>,
    /// Read error, to be reported after the complete games.
    failure: Option<io::Error>,
}

/// Decoded text of a frame, with the error after it.
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
    /// As [`Source::open`]; [`SourceError::NotPgn`] for evaluated positions in another format.
    pub fn open(path: &Path) -> Result<GameTexts, SourceError> {
        GameTexts::of(Source::open(path)?)
    }

    /// Opens a part of a source: the games that begin in it.
    ///
    /// # Errors
    /// As [`Source::open_part`]; [`SourceError::NotPgn`] for evaluated positions in another format.
    pub fn open_part(path: &Path, part: PartOf) -> Result<GameTexts, SourceError> {
        GameTexts::of(Source::open_part(path, part)?)
    }

    fn of(source: Source) -> Result<GameTexts, SourceError> {
        let content = source.content();
        if content.positions.is_some() || content.packed.is_some() {
            return Err(SourceError::NotPgn {
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

    /// The source being read.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Returns the result of reading a part, at its end; `None` for a whole source.
    ///
    /// # Errors
    /// As [`GameTexts::next_chunk`].
    pub fn part_read(&mut self) -> Result<Option<PartRead>, SourceError> {
        Ok(self.source.end()?.part)
    }

    /// Returns the compressed bytes already returned as text, estimated within a frame.
    pub fn consumed(&self) -> u64 {
        let read = self.source.consumed().load(Ordering::Relaxed);
        let left = self.frame.as_ref().map_or(0, FrameText::left);
        read.saturating_sub(left)
    }

    /// Returns the next chunk; `None` at the end.
    ///
    /// # Errors
    /// [`SourceError::Damaged`] where the source is truncated or corrupt, after every complete game
    /// before that; [`SourceError::Interrupted`] if the connection is lost.
    pub fn next_chunk(&mut self) -> Result<Option<Chunk>, SourceError> {
        loop {
            // Return complete games before reporting a failure.
            if let Some(chunk) = self.cut() {
                return Ok(Some(chunk));
            }
            if self.ended || self.failure.is_some() {
                return self.last_chunk();
            }
            self.failure = self.fill().err();
        }
    }

    /// Returns the remaining text at the end or at a failure, then the failure.
    fn last_chunk(&mut self) -> Result<Option<Chunk>, SourceError> {
        let path = self.source.path();
        let failure = self.failure.as_ref();
        if let Some(error) = failure.and_then(|error| SourceError::stopping(path, error)) {
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
        Err(SourceError::damaged(self.source.path(), &damage))
    }

    /// Reads one more piece.
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
        // Each part looks for the start of a game in its own text only.
        if self.border.is_some() && self.source.is_at_later_part() {
            self.border = Some(self.text.len());
        }
        match self.source.next_segment(Vec::new()) {
            None if self.source.is_at_border() && self.border.is_none() && !self.before => {
                self.border = Some(self.text.len());
            }
            None => self.ended = true,
            Some((Ok(Segment::Text(text)), _)) => self.text.extend_from_slice(&text),
            Some((Ok(Segment::Frame(frame)), _)) => self.frame = Some(FrameText::decode(&frame)?),
            Some((Err(error), _)) => return Err(error),
        }
        Ok(())
    }

    /// Removes the text up to the start of its last game; after the end of a part, up to the first
    /// game of the next.
    fn cut(&mut self) -> Option<Chunk> {
        let boundary = self.source.content().boundary;
        // Searched in the text after the border only, as the next part does.
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

    /// Adjusts the border after `bytes` bytes were removed from the start of the text.
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

    /// Returns the estimated compressed size of the text not yet taken.
    fn left(&self) -> u64 {
        let text = self.text.get_ref().len() as u64;
        let left = text.saturating_sub(self.text.position());
        self.bytes * left / text.max(1)
    }
}
