//! One game of a PGN: its tags, its moves, its labelled positions.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use pgn_reader::{Outcome, RawComment, RawTag, SanPlus, Skip, Visitor};
use serde::{Deserialize, Serialize};
use shakmaty::{CastlingMode, Chess, Position};

use crate::hash::hash_bytes;
use crate::start::{castling_mode, start_position};
use crate::{EvalComment, GameResult, Month, Origin, Record, parse_eval};

/// Which of the two sets a game's positions belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Split {
    /// Positions to train on.
    Train,
    /// Positions of held-out games.
    Validation,
}

/// What decides which games and positions enter a dataset. A dataset keeps
/// the filters it was made with, and takes no more data with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filters {
    /// Games in a hundred that are held out for validation.
    pub validation_percent: u8,
    /// Whether games of Chess960 are taken too.
    pub chess960: bool,
    /// At most so many positions: those of the smallest keys.
    pub max_positions: Option<u64>,
}

impl Default for Filters {
    /// One game in twenty is held out: enough to measure on, little to lose.
    fn default() -> Filters {
        Filters {
            validation_percent: 5,
            chess960: false,
            max_positions: None,
        }
    }
}

/// Who a game is: the hash of its Lichess id, else of its seven-tag roster and
/// moves. Two copies of one game have one identity, so that a game never
/// stands on both sides of the split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GameId(u64);

impl GameId {
    /// The side of the split that the game falls on, by its identity alone.
    pub fn split(self, validation_percent: u8) -> Split {
        if self.0 % 100 < u64::from(validation_percent) {
            Split::Validation
        } else {
            Split::Train
        }
    }
}

/// Why something in a source was left out. Each is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// A game without any `[%eval`.
    Unannotated,
    /// An annotated game of another variant.
    Variant,
    /// An annotated game whose FEN tag is no legal position.
    BadFen,
    /// A game cut at a move that is illegal or cannot be read; what came
    /// before was kept.
    IllegalMove,
    /// A game whose text breaks off or cannot be parsed; what came before was
    /// kept.
    MalformedGame,
    /// Text of more than 16 MiB without the start of a game.
    OversizedGame,
    /// An `[%eval` that cannot be read.
    MalformedEval,
    /// An `[%eval` before the first move, which labels nothing that was
    /// played.
    EvalBeforeFirstMove,
    /// An `[%eval` on a mate or a stalemate.
    FinishedPosition,
    /// A second `[%eval` after one move.
    SecondEval,
}

/// What was read from a source, and what was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Games seen.
    pub games: u64,
    /// Games with at least one `[%eval`.
    pub games_annotated: u64,
    /// Games that gave at least one labelled position.
    pub games_kept: u64,
    /// Labelled positions, before duplicates are merged.
    pub labels: u64,
    /// Labels that are mates.
    pub mates: u64,
    /// Plies of kept games that had no label, the last one aside.
    pub gaps: u64,
    /// Labels by the month their game was played in.
    pub months: BTreeMap<Month, u64>,
    /// How often something was left out, by reason.
    pub skipped: BTreeMap<SkipReason, u64>,
}

impl Tally {
    /// Counts one thing left out.
    pub fn skip(&mut self, reason: SkipReason) {
        *self.skipped.entry(reason).or_default() += 1;
    }

    /// Adds another tally to this one.
    pub fn add(&mut self, other: &Tally) {
        self.games += other.games;
        self.games_annotated += other.games_annotated;
        self.games_kept += other.games_kept;
        self.labels += other.labels;
        self.mates += other.mates;
        self.gaps += other.gaps;
        for (&month, count) in &other.months {
            *self.months.entry(month).or_default() += count;
        }
        for (&reason, count) in &other.skipped {
            *self.skipped.entry(reason).or_default() += count;
        }
    }
}

/// The tags that matter.
#[derive(Default)]
pub struct Tags {
    /// Whether there was any.
    any: bool,
    /// The seven-tag roster's names and values, in the order of the file.
    roster: Vec<u8>,
    lichess_id: Option<[u8; 8]>,
    variant: Option<Vec<u8>>,
    fen: Option<Vec<u8>>,
    result: Option<GameResult>,
    unfair_end: bool,
    month: Month,
}

/// The state of the game that is being read.
struct Game {
    tags: Tags,
    position: Chess,
    /// Moves in UCI notation, for the identity of games without an id.
    moves: Vec<u8>,
    plies: u32,
    /// Whether any `[%eval` was seen.
    annotated: bool,
    labelled: bool,
    unlabelled_plies: u64,
    comment: Vec<u8>,
    records: Vec<Record>,
}

/// Reads games, one at a time, into labelled positions.
pub(crate) struct GameReader<'a, F> {
    filters: &'a Filters,
    tally: &'a mut Tally,
    /// Whether this is the first game of its text; a later one has tags.
    first: bool,
    /// Receives each kept game.
    each: F,
    game: Option<Game>,
}

impl<'a, F: FnMut(GameId, &[Record])> GameReader<'a, F> {
    pub(crate) fn new(filters: &'a Filters, tally: &'a mut Tally, first: bool, each: F) -> Self {
        GameReader {
            filters,
            tally,
            first,
            each,
            game: None,
        }
    }

    /// Ends the game that is being read where its text cannot be followed any
    /// further. What was accepted of it is kept.
    pub(crate) fn broken_off(&mut self, reason: SkipReason) {
        self.tally.skip(reason);
        self.finish();
    }

    /// Hands over what was accepted of the game that is being read.
    fn finish(&mut self) {
        let Some(game) = self.game.take() else { return };
        self.tally.games += 1;
        if game.annotated {
            self.tally.games_annotated += 1;
        } else {
            self.tally.skip(SkipReason::Unannotated);
        }
        if game.records.is_empty() {
            return;
        }
        self.tally.games_kept += 1;
        self.tally.labels += game.records.len() as u64;
        self.tally.gaps += game.unlabelled_plies;
        let month = self.tally.months.entry(game.tags.month).or_default();
        *month += game.records.len() as u64;
        let mates = game.records.iter().filter(|r| r.label().mate().is_some());
        self.tally.mates += mates.count() as u64;
        let id = match game.tags.lichess_id {
            Some(id) => GameId(hash_bytes(&id)),
            None => GameId(hash_bytes(&[game.tags.roster, game.moves].concat())),
        };
        (self.each)(id, &game.records);
    }

    fn start_position(&self, tags: &Tags) -> Result<Chess, SkipReason> {
        let mode = castling_mode(tags.variant.as_deref())?;
        if mode.is_chess960() && !self.filters.chess960 {
            return Err(SkipReason::Variant);
        }
        start_position(tags.fen.as_deref(), mode)
    }

    fn read_comment(&mut self) {
        let Some(game) = &mut self.game else { return };
        let comment = std::mem::take(&mut game.comment);
        let eval = parse_eval(&comment);
        game.annotated |= eval != EvalComment::Absent;
        let (label, depth) = match eval {
            EvalComment::Absent => return,
            EvalComment::Malformed => return self.tally.skip(SkipReason::MalformedEval),
            EvalComment::Eval { label, depth } => (label, depth),
        };
        if game.plies == 0 {
            return self.tally.skip(SkipReason::EvalBeforeFirstMove);
        }
        if game.labelled {
            return self.tally.skip(SkipReason::SecondEval);
        }
        game.labelled = true;
        if game.position.legal_moves().is_empty() {
            return self.tally.skip(SkipReason::FinishedPosition);
        }
        let result = game.tags.result.filter(|_| !game.tags.unfair_end);
        let origin = Origin {
            result,
            month: game.tags.month,
            depth,
        };
        game.records
            .push(Record::new(&game.position, label, origin));
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
        let value = value.decode();
        tags.any = true;
        match name {
            b"Event" | b"Site" | b"Date" | b"Round" | b"White" | b"Black" | b"Result" => {
                tags.roster.extend_from_slice(name);
                tags.roster.push(b'=');
                tags.roster.extend_from_slice(&value);
                tags.roster.push(b'\n');
            }
            _ => {}
        }
        match name {
            b"Site" => tags.lichess_id = tags.lichess_id.or(lichess_id_of_url(&value)),
            b"GameId" => tags.lichess_id = lichess_id(&value).or(tags.lichess_id),
            b"Variant" => tags.variant = Some(value.into_owned()),
            b"FEN" => tags.fen = Some(value.into_owned()),
            b"Result" => {
                tags.result = match &*value {
                    b"1-0" => Some(GameResult::WhiteWins),
                    b"0-1" => Some(GameResult::BlackWins),
                    b"1/2-1/2" => Some(GameResult::Draw),
                    _ => None,
                }
            }
            b"Termination" => {
                // Games that did not end on the board: their result says
                // little about the position.
                tags.unfair_end = matches!(
                    &*value,
                    b"Abandoned" | b"Rules infraction" | b"Time forfeit"
                );
            }
            b"UTCDate" => tags.month = month_of_date(&value),
            b"Date" if tags.month == Month::default() => tags.month = month_of_date(&value),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Tags) -> ControlFlow<(), ()> {
        if !self.first && !tags.any {
            // The rest of a game that a blank line broke off.
            self.tally.skip(SkipReason::MalformedGame);
            return ControlFlow::Break(());
        }
        match self.start_position(&tags) {
            Err(reason) => {
                self.tally.games += 1;
                self.tally.games_annotated += 1;
                self.tally.skip(reason);
                ControlFlow::Break(())
            }
            Ok(position) => {
                self.game = Some(Game {
                    tags,
                    position,
                    moves: Vec::new(),
                    plies: 0,
                    annotated: false,
                    // The start needs no label.
                    labelled: true,
                    unlabelled_plies: 0,
                    comment: Vec::new(),
                    records: Vec::new(),
                });
                ControlFlow::Continue(())
            }
        }
    }

    fn san(&mut self, (): &mut (), san: SanPlus) -> ControlFlow<()> {
        let Some(game) = &mut self.game else {
            return ControlFlow::Break(());
        };
        let Ok(m) = san.san.to_move(&game.position) else {
            self.broken_off(SkipReason::IllegalMove);
            return ControlFlow::Break(());
        };
        game.unlabelled_plies += u64::from(!game.labelled);
        game.labelled = false;
        game.plies += 1;
        game.moves
            .extend(m.to_uci(CastlingMode::Chess960).to_string().as_bytes());
        game.position.play_unchecked(m);
        ControlFlow::Continue(())
    }

    fn partial_comment(&mut self, (): &mut (), comment: RawComment<'_>) -> ControlFlow<()> {
        if let Some(game) = &mut self.game {
            game.comment.extend_from_slice(comment.as_bytes());
        }
        ControlFlow::Continue(())
    }

    fn comment(&mut self, (): &mut (), comment: RawComment<'_>) -> ControlFlow<()> {
        let _ = self.partial_comment(&mut (), comment);
        self.read_comment();
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, (): &mut ()) -> ControlFlow<(), Skip> {
        ControlFlow::Continue(Skip(true))
    }

    /// The game is over, whatever its text goes on to say.
    fn outcome(&mut self, (): &mut (), _: Outcome) -> ControlFlow<()> {
        self.finish();
        ControlFlow::Break(())
    }

    fn end_game(&mut self, (): ()) {
        self.finish();
    }
}

/// The id in `https://lichess.org/abcdefgh`, with `#12`, `/white` or `/black`
/// behind it or not.
fn lichess_id_of_url(url: &[u8]) -> Option<[u8; 8]> {
    let url = url
        .strip_prefix(b"https://")
        .or_else(|| url.strip_prefix(b"http://"))?;
    let path = url.strip_prefix(b"lichess.org/")?;
    let (id, rest) = path.split_at_checked(8)?;
    let game = rest.is_empty() || rest.starts_with(b"#") || rest == b"/white" || rest == b"/black";
    if game { lichess_id(id) } else { None }
}

fn lichess_id(text: &[u8]) -> Option<[u8; 8]> {
    let id: [u8; 8] = text.try_into().ok()?;
    id.iter().all(u8::is_ascii_alphanumeric).then_some(id)
}

/// `2021.10.01`; dates with `?` are of no month.
fn month_of_date(date: &[u8]) -> Month {
    let number =
        |field: Option<&[u8]>| -> Option<u32> { std::str::from_utf8(field?).ok()?.parse().ok() };
    let mut fields = date.split(|&b| b == b'.');
    match (number(fields.next()), number(fields.next())) {
        (Some(year), Some(month)) => Month::new(year, month),
        _ => Month::default(),
    }
}
