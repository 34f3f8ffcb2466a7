//! Visitor that turns one PGN game (tags, moves, comments) into rows.

use std::ops::ControlFlow;

use pgn_reader::{Outcome, RawComment, RawTag, SanPlus, Skip, Visitor};
use shakmaty::san::San;
use shakmaty::{CastlingMode, Chess, Position};

use crate::games::spelling::find_move;
use crate::games::{Collector, Ending};
use crate::selection::{Filters, GameId, SkipReason, SourceCounts, Tags};

struct Game<C> {
    tags: Tags,
    position: Chess,
    /// Moves in UCI notation, hashed as the identity of a game without a Lichess id; otherwise
    /// empty.
    moves: Vec<u8>,
    rows: C,
    /// Collected parts of a comment longer than
    /// [`COMMENT_BYTES`](crate::games::general::COMMENT_BYTES).
    comment: Vec<u8>,
}

impl<C> Game<C> {
    fn id(&self) -> GameId {
        match self.tags.lichess_id {
            Some(id) => GameId::of_bytes(&id),
            None => GameId::of_bytes(&[&self.tags.roster[..], &self.moves].concat()),
        }
    }
}

/// Reads games, one at a time, into rows.
pub(crate) struct GameReader<'a, C, F> {
    filters: &'a Filters,
    tally: &'a mut SourceCounts,
    previous: Previous,
    /// Receives each kept game.
    each: F,
    game: Option<Game<C>>,
    /// The game has ended; further text does not belong to it.
    pub(crate) over: bool,
    /// Text that follows without tags is skipped: the game, or its rest, was skipped.
    left_out: bool,
    /// Reason and word at which the game was cut, if it was.
    pub(crate) cut: Option<(SkipReason, String)>,
    /// Roster of the finished game, as [`Tags::roster`].
    pub(crate) roster: Option<Vec<u8>>,
}

/// Predecessor of a game in its text.
#[derive(Clone, Copy)]
pub(crate) enum Previous {
    /// No predecessor: the game begins the text.
    Nothing,
    /// A game that was read. Text without tags after it is its rest, broken off by a blank line.
    Game,
    /// A game that was skipped, wholly or in part. Text without tags after it is skipped too.
    LeftOut,
}

impl<'a, C: Collector, F: FnMut(GameId, &[C::Row])> GameReader<'a, C, F> {
    pub(crate) fn new(
        filters: &'a Filters,
        tally: &'a mut SourceCounts,
        previous: Previous,
        each: F,
    ) -> Self {
        GameReader {
            filters,
            tally,
            previous,
            each,
            game: None,
            over: false,
            left_out: false,
            cut: None,
            roster: None,
        }
    }

    /// Returns the [`Previous`] of the next game.
    pub(crate) fn as_previous(&self) -> Previous {
        match self.left_out {
            true => Previous::LeftOut,
            false => Previous::Game,
        }
    }

    /// Ends the current game at text that cannot be followed. Keeps the rows accepted so far.
    pub(crate) fn broken_off(&mut self, reason: SkipReason, word: &str) {
        self.tally.skip(reason);
        self.cut = Some((reason, word.to_string()));
        self.over = true;
        self.finish(false);
    }

    /// Ends the current game and passes its accepted rows to `each`. `whole` says that its
    /// result is that of the moves read.
    pub(crate) fn finish(&mut self, whole: bool) {
        let Some(mut game) = self.game.take() else {
            return;
        };
        self.tally.games += 1;
        let rows = std::mem::take(&mut game.rows);
        match rows.has_any() {
            true => self.tally.games_annotated += 1,
            false => self.tally.skip(C::NOTHING),
        }
        let ending = Ending {
            result: game.tags.fair_result().filter(|_| whole),
            tags: &game.tags,
        };
        let (filters, tally) = (self.filters, &mut *self.tally);
        let each = |id, rows: &[C::Row]| (self.each)(id, rows);
        rows.finish(&game.position, || game.id(), ending, filters, tally, each);
        self.roster = Some(game.tags.roster);
    }

    /// Returns the start position, or the reason to skip the game.
    fn admit(&self, tags: &Tags) -> Result<Chess, SkipReason> {
        let mode = tags.start.castling_mode()?;
        if mode.is_chess960() && !self.filters.chess960 {
            return Err(SkipReason::Variant);
        }
        if let Some(reason) = self.filters.reject_game(tags) {
            return Err(reason);
        }
        tags.start.position(mode)
    }

    /// Plays a move of the current game. `None` if it is illegal.
    pub(crate) fn play(&mut self, san: &San) -> Option<()> {
        let game = self.game.as_mut()?;
        let m = find_move(&game.position, san)?;
        let (filters, tally) = (self.filters, &mut *self.tally);
        game.rows
            .play(&game.position, m, &game.tags, filters, tally);
        if game.tags.lichess_id.is_none() {
            game.moves
                .extend(m.to_uci(CastlingMode::Chess960).to_string().as_bytes());
        }
        game.position.play_unchecked(m);
        Some(())
    }

    pub(crate) fn read_comment(&mut self, comment: &[u8]) {
        let Some(game) = &mut self.game else { return };
        let (filters, tally) = (self.filters, &mut *self.tally);
        game.rows
            .comment(comment, &game.position, &game.tags, filters, tally);
    }
}

impl<C: Collector, F: FnMut(GameId, &[C::Row])> Visitor for GameReader<'_, C, F> {
    type Tags = Tags;
    type Movetext = ();
    type Output = ();

    fn begin_tags(&mut self) -> ControlFlow<(), Tags> {
        ControlFlow::Continue(Tags::default())
    }

    fn tag(&mut self, tags: &mut Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<()> {
        tags.read(name, value.decode());
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Tags) -> ControlFlow<(), ()> {
        if !tags.any {
            match self.previous {
                Previous::Nothing => {}
                Previous::Game => {
                    self.broken_off(SkipReason::MalformedGame, "");
                    // Text after a further blank line is not counted again.
                    self.left_out = true;
                    return ControlFlow::Break(());
                }
                Previous::LeftOut => {
                    (self.over, self.left_out) = (true, true);
                    return ControlFlow::Break(());
                }
            }
        }
        match self.admit(&tags) {
            Err(reason) => {
                self.tally.games += 1;
                self.tally.games_annotated += 1;
                self.tally.skip(reason);
                (self.over, self.left_out) = (true, true);
                ControlFlow::Break(())
            }
            Ok(position) => {
                self.game = Some(Game {
                    tags,
                    position,
                    moves: Vec::new(),
                    rows: C::default(),
                    comment: Vec::new(),
                });
                ControlFlow::Continue(())
            }
        }
    }

    fn san(&mut self, (): &mut (), san: SanPlus) -> ControlFlow<()> {
        if self.play(&san.san).is_none() {
            // Moves after a result without tags between may belong to another game.
            let reason = match self.over {
                true => SkipReason::MalformedGame,
                false => SkipReason::IllegalMove,
            };
            self.broken_off(reason, &san.to_string());
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn partial_comment(&mut self, (): &mut (), comment: RawComment<'_>) -> ControlFlow<()> {
        if let Some(game) = &mut self.game {
            game.comment.extend_from_slice(comment.as_bytes());
        }
        ControlFlow::Continue(())
    }

    fn comment(&mut self, (): &mut (), comment: RawComment<'_>) -> ControlFlow<()> {
        let pieces = self
            .game
            .as_mut()
            .map(|game| std::mem::take(&mut game.comment));
        match pieces {
            Some(mut whole) if !whole.is_empty() => {
                whole.extend_from_slice(comment.as_bytes());
                self.read_comment(&whole);
            }
            _ => self.read_comment(comment.as_bytes()),
        }
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, (): &mut ()) -> ControlFlow<(), Skip> {
        ControlFlow::Continue(Skip(true))
    }

    /// Ends the game: further moves are counted as malformed, not played.
    fn outcome(&mut self, (): &mut (), _: Outcome) -> ControlFlow<()> {
        self.over = true;
        self.finish(true);
        ControlFlow::Continue(())
    }

    /// Does nothing: whether the game is whole depends on the text after it ([`Self::finish`]).
    fn end_game(&mut self, (): ()) {}
}
