//! One game of a PGN: its tags, its moves, its labelled positions.

use std::ops::ControlFlow;

use pgn_reader::{Outcome, RawComment, RawTag, SanPlus, Skip, Visitor};
use shakmaty::san::San;
use shakmaty::{CastlingMode, Chess, Position};

use crate::games::evaluations::{Ending, Evaluations};
use crate::games::spelling::find_move;
use crate::position::{EvalComment, Origin, Record, parse_eval, parse_match_score};
use crate::selection::{Filters, GameId, SkipReason, SourceCounts, Tags};

/// The state of the game that is being read.
struct Game {
    tags: Tags,
    position: Chess,
    /// Moves in UCI notation, for the identity of a game without an id; empty
    /// where it has one.
    moves: Vec<u8>,
    /// Whether any `[%eval` was seen.
    annotated: bool,
    evaluations: Evaluations,
    /// The pieces so far of a comment that is too long to be read in one.
    comment: Vec<u8>,
}

impl Game {
    fn id(&self) -> GameId {
        match self.tags.lichess_id {
            Some(id) => GameId::of_bytes(&id),
            None => GameId::of_bytes(&[&self.tags.roster[..], &self.moves].concat()),
        }
    }
}

/// Reads games, one at a time, into labelled positions.
pub(crate) struct GameReader<'a, F> {
    filters: &'a Filters,
    tally: &'a mut SourceCounts,
    previous: Previous,
    /// Receives each kept game.
    each: F,
    game: Option<Game>,
    /// Whether what follows in the text no longer matters to the game.
    pub(crate) over: bool,
    /// Whether what follows without tags is left out: the game is for what its tags say, or
    /// its rest is.
    left_out: bool,
    /// Why the game could not be followed any further, and the word there, if so.
    pub(crate) cut: Option<(SkipReason, String)>,
    /// The tags of the game that was ended, as [`Tags::roster`].
    pub(crate) roster: Option<Vec<u8>>,
}

/// What stands before a game in its text.
#[derive(Clone, Copy)]
pub(crate) enum Previous {
    /// Nothing.
    Nothing,
    /// A game. What follows without tags is the rest of it, which a blank line
    /// broke off.
    Game,
    /// A game that was left out, or its rest was, and what follows with it.
    LeftOut,
}

impl<'a, F: FnMut(GameId, &[Record])> GameReader<'a, F> {
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

    /// What the game is to the next one.
    pub(crate) fn as_previous(&self) -> Previous {
        match self.left_out {
            true => Previous::LeftOut,
            false => Previous::Game,
        }
    }

    /// Ends the game that is being read where its text cannot be followed any
    /// further. What was accepted of it is kept.
    pub(crate) fn broken_off(&mut self, reason: SkipReason, word: &str) {
        self.tally.skip(reason);
        self.cut = Some((reason, word.to_string()));
        self.over = true;
        self.finish(false);
    }

    /// Hands over what was accepted of the game that is being read: `whole` if its result is
    /// that of the moves.
    pub(crate) fn finish(&mut self, whole: bool) {
        let Some(mut game) = self.game.take() else {
            return;
        };
        self.tally.games += 1;
        if game.annotated {
            self.tally.games_annotated += 1;
        } else {
            self.tally.skip(SkipReason::Unannotated);
        }
        let evaluations = std::mem::take(&mut game.evaluations);
        let ending = Ending {
            result: game.tags.fair_result().filter(|_| whole),
            month: game.tags.month,
            rating: game.tags.mean_rating(),
        };
        let (filters, tally) = (self.filters, &mut *self.tally);
        let each = |id, records: &[Record]| (self.each)(id, records);
        evaluations.finish(&game.position, || game.id(), ending, filters, tally, each);
        self.roster = Some(game.tags.roster);
    }

    /// The position a game starts from, if the game is one to take.
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

    /// Plays a move of the game that is being read; `None` if it is illegal.
    pub(crate) fn play(&mut self, san: &San) -> Option<()> {
        let game = self.game.as_mut()?;
        let m = find_move(&game.position, san)?;
        game.evaluations.play(m, self.filters, self.tally);
        if game.tags.lichess_id.is_none() {
            game.moves
                .extend(m.to_uci(CastlingMode::Chess960).to_string().as_bytes());
        }
        game.position.play_unchecked(m);
        Some(())
    }

    pub(crate) fn read_comment(&mut self, comment: &[u8]) {
        let Some(game) = &mut self.game else { return };
        let mut eval = parse_eval(comment);
        if eval == EvalComment::Absent {
            eval = parse_match_score(comment, !game.position.turn());
        }
        game.annotated |= eval != EvalComment::Absent;
        let (label, depth) = match eval {
            EvalComment::Absent => return,
            EvalComment::Malformed => return self.tally.skip(SkipReason::MalformedEval),
            EvalComment::Eval { label, depth } => (label, depth),
        };
        if game.evaluations.plies() == 0 {
            return self.tally.skip(SkipReason::EvalBeforeFirstMove);
        }
        if game.evaluations.has_latest() {
            return self.tally.skip(SkipReason::SecondEval);
        }
        let origin = Origin {
            result: game.tags.fair_result(),
            month: game.tags.month,
            depth,
        };
        let record = Record::new(&game.position, label, origin);
        game.evaluations.add(record, self.filters, self.tally);
    }
}

impl<F: FnMut(GameId, &[Record])> Visitor for GameReader<'_, F> {
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
                    // Text behind a further blank line is not counted again.
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
                    annotated: false,
                    evaluations: Evaluations::default(),
                    comment: Vec::new(),
                });
                ControlFlow::Continue(())
            }
        }
    }

    fn san(&mut self, (): &mut (), san: SanPlus) -> ControlFlow<()> {
        if self.play(&san.san).is_none() {
            // Games that no tags part are not told apart.
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

    /// Ends the game: moves that its text goes on with are counted, and not played.
    fn outcome(&mut self, (): &mut (), _: Outcome) -> ControlFlow<()> {
        self.over = true;
        self.finish(true);
        ControlFlow::Continue(())
    }

    /// Ends nothing: whether the game is whole depends on the text behind it ([`Self::finish`]).
    fn end_game(&mut self, (): ()) {}
}
