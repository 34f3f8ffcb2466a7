//! Transcripts: games with tags, moves, clocks and evaluations, kept to be written again. Labels
//! are read by [`crate::games::chunk`] instead.

use std::collections::HashSet;
use std::ops::ControlFlow;

use pgn_reader::{KnownOutcome, Outcome, RawComment, RawTag, SanPlus, Skip, Visitor};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Move, Position};

use crate::games::boundary::{self, ends_with_result, is_behind_result, line_ends};
use crate::games::clock::clock;
use crate::games::general::reader;
use crate::games::header::{begins_tag, without_mark};
use crate::games::movetext::{Cut, import, with_plain_space};
use crate::games::spelling::find_move;
use crate::position::{EvalComment, Label, parse_eval};
use crate::selection::{SkipReason, StartTags};

/// Longest possible game: the 75-move rule ends it after 5,898 moves and a half.
const MAX_PLIES: usize = 11_797;

/// A game of standard chess or Chess960. Variations, glyphs and other comments are dropped.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// Names and raw values of all tags, in the order of the text.
    pub tags: Vec<(Vec<u8>, Vec<u8>)>,
    /// Start position.
    pub start: Chess,
    /// Standard chess or Chess960.
    pub castling_mode: CastlingMode,
    /// Moves, each legal after those before it.
    pub plies: Vec<Ply>,
    /// `1-0`, `0-1`, `1/2-1/2` or `*`: the result after the moves, else the Result tag.
    pub result: &'static str,
    /// Reason that the moves end before the text does; `None` if they do not.
    pub cut: Option<Cut>,
}

/// A move with its clock and evaluation comments.
#[derive(Clone, Debug)]
pub struct Ply {
    /// The move.
    pub m: Move,
    /// Score after the move, from White's point of view, and the search depth in plies (0 if
    /// unknown). `None` without a readable `[%eval`.
    pub eval: Option<(Label, u8)>,
    /// The player's clock after the move, such as `0:02:58`; `None` if unknown.
    pub clock: Option<String>,
}

/// Splits a text that begins and ends at game boundaries into games; the slices add up to the text.
/// A game begins at an Event tag, at any tag after a result, or, after a blank line, at a tag that
/// follows moves or repeats a tag of the current game.
pub fn games(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (mut start, mut event) = (0, 0);
    std::iter::from_fn(move || {
        if start == text.len() {
            return None;
        }
        if event <= start {
            event = boundary::next_game(text, start).unwrap_or(text.len());
        }
        let rest = &text[start..event];
        let game = &rest[..next_tags(rest).unwrap_or(rest.len())];
        start += game.len();
        Some(game)
    })
}

/// Returns the start of the second game's tags.
fn next_tags(text: &[u8]) -> Option<usize> {
    let (mut start, mut moves, mut blank, mut over) = (0, false, false, false);
    let mut names: HashSet<&[u8]> = HashSet::new();
    for end in line_ends(text).chain([text.len()]) {
        let line = without_mark(&text[start..end]);
        let words = line.trim_ascii();
        let is_tag = line.starts_with(b"[") && words.ends_with(b"\"]");
        if is_tag {
            let name = line.split(|&b| b == b'"').next().unwrap_or(line);
            let is_known = !names.insert(name);
            if over || blank && (moves || is_known) {
                return Some(start);
            }
        } else if words.ends_with(b"\"]") {
            let mut tags = memchr::memchr_iter(b'[', line).map(|at| end - line.len() + at);
            let tag = tags.find(|&at| begins_tag(&text[at..]) && is_behind_result(text, at));
            if tag.is_some() {
                return tag;
            }
        }
        moves |= !words.is_empty() && !words.starts_with(b"[");
        blank = words.is_empty();
        over = !is_tag && ends_with_result(line) || over && blank;
        start = end;
    }
    None
}

impl Transcript {
    /// Reads the game of a slice from [`games`]. `None` if it is blank.
    ///
    /// # Errors
    /// A [`Cut`] with [`SkipReason::Variant`], [`SkipReason::BadFen`] or [`SkipReason::BadTags`],
    /// or with [`SkipReason::MalformedGame`] if not even the tags can be read.
    pub fn read(text: &[u8]) -> Result<Option<Transcript>, Cut> {
        let text = with_plain_space(text);
        let imported = import(&text)?;
        let mut reader = reader(&imported.text);
        let mut scribe = Scribe::default();
        let read = reader.read_game(&mut scribe);
        if let Ok(None) = read {
            return imported.cut.map_or(Ok(None), Err);
        }
        let cut = |reason, word: &str| Cut::at(reason, word.as_bytes(), &text);
        if let Some(reason) = scribe.refused {
            return Err(cut(reason, ""));
        }
        let malformed = || cut(SkipReason::MalformedGame, "");
        let mut game = scribe.game.ok_or_else(malformed)?;
        game.cut = match scribe.cut {
            Some((reason, word)) => Some(cut(reason, &word)),
            None if read.is_err() => Some(malformed()),
            None if scribe.over && !imported.has_further => None,
            // Moves after a blank line would belong to another game.
            None if matches!(reader.has_more(), Ok(true)) => Some(malformed()),
            None => imported.cut,
        };
        Ok(Some(game))
    }

    /// Returns the FEN after the last move. A double pawn push always sets the en-passant square.
    pub fn last_fen(&self) -> String {
        let mut position = self.start.clone();
        for ply in &self.plies {
            position.play_unchecked(ply.m);
        }
        Fen::from_position(&position, EnPassantMode::Always).to_string()
    }
}

/// All tags, and those that affect reading.
#[derive(Default)]
struct Tags {
    all: Vec<(Vec<u8>, Vec<u8>)>,
    start: StartTags,
    result: Option<&'static str>,
}

/// Visitor that records one game. Keeps what it recorded when the text breaks off.
#[derive(Default)]
struct Scribe {
    game: Option<Transcript>,
    position: Chess,
    comment: Vec<u8>,
    refused: Option<SkipReason>,
    /// The result has been read.
    over: bool,
    /// Reason and word at which the moves became unreadable.
    cut: Option<(SkipReason, String)>,
}

impl Scribe {
    fn begin(&mut self, tags: Tags) -> Result<(), SkipReason> {
        let castling_mode = tags.start.castling_mode()?;
        self.position = tags.start.position(castling_mode)?;
        self.game = Some(Transcript {
            tags: tags.all,
            start: self.position.clone(),
            castling_mode,
            plies: Vec::new(),
            result: tags.result.unwrap_or("*"),
            cut: None,
        });
        Ok(())
    }

    /// Reads a whole comment; only the first evaluation and the first clock after a move count.
    fn read_comment(&mut self) {
        let comment = std::mem::take(&mut self.comment);
        if self.over {
            return;
        }
        let Some(ply) = self.game.as_mut().and_then(|game| game.plies.last_mut()) else {
            return;
        };
        if let EvalComment::Eval { label, depth } = parse_eval(&comment) {
            ply.eval.get_or_insert((label, depth));
        }
        ply.clock = ply
            .clock
            .take()
            .or_else(|| clock(&comment).map(str::to_owned));
    }
}

impl Visitor for Scribe {
    type Tags = Tags;
    type Movetext = ();
    type Output = ();

    fn begin_tags(&mut self) -> ControlFlow<(), Tags> {
        ControlFlow::Continue(Tags::default())
    }

    fn tag(&mut self, tags: &mut Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<()> {
        let name = name.trim_ascii();
        tags.start.read(name, &value.decode());
        if name == b"Result" {
            tags.result = boundary::result(value.as_bytes());
        }
        let value = value.as_bytes();
        // Without a closing quote the value extends to the end of the line.
        let value = value.strip_suffix(b"\r").unwrap_or(value);
        tags.all.push((name.to_vec(), value.to_vec()));
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Tags) -> ControlFlow<(), ()> {
        match self.begin(tags) {
            Ok(()) => ControlFlow::Continue(()),
            Err(reason) => {
                self.refused = Some(reason);
                ControlFlow::Break(())
            }
        }
    }

    fn san(&mut self, (): &mut (), san: SanPlus) -> ControlFlow<()> {
        let Some(game) = &mut self.game else {
            return ControlFlow::Break(());
        };
        let m = match find_move(&self.position, &san.san) {
            // Moves after a result without tags between may belong to another game.
            _ if self.over => Err(SkipReason::MalformedGame),
            Some(m) if game.plies.len() < MAX_PLIES => Ok(m),
            _ => Err(SkipReason::IllegalMove),
        };
        let m = match m {
            Ok(m) => m,
            Err(reason) => {
                self.cut = Some((reason, san.to_string()));
                return ControlFlow::Break(());
            }
        };
        self.position.play_unchecked(m);
        game.plies.push(Ply {
            m,
            eval: None,
            clock: None,
        });
        ControlFlow::Continue(())
    }

    fn partial_comment(&mut self, (): &mut (), comment: RawComment<'_>) -> ControlFlow<()> {
        self.comment.extend_from_slice(comment.as_bytes());
        ControlFlow::Continue(())
    }

    fn comment(&mut self, (): &mut (), comment: RawComment<'_>) -> ControlFlow<()> {
        self.comment.extend_from_slice(comment.as_bytes());
        self.read_comment();
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, (): &mut ()) -> ControlFlow<(), Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn outcome(&mut self, (): &mut (), outcome: Outcome) -> ControlFlow<()> {
        if let Some(game) = self.game.as_mut().filter(|_| !self.over) {
            game.result = match outcome {
                Outcome::Known(KnownOutcome::Draw) => "1/2-1/2",
                Outcome::Known(KnownOutcome::Decisive { winner }) => winner.fold_wb("1-0", "0-1"),
                Outcome::Unknown => "*",
            };
        }
        self.over = true;
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, (): ()) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Transcript {
        Transcript::read(text.as_bytes()).unwrap().unwrap()
    }

    #[test]
    fn tags_clocks_and_evaluations_are_recorded() {
        let game = read(
            "[Event \"a \\\"b\\\"\"]\r\n[White \" x \"]\r\n[Event \"twice\"]\r\n\r\n{ [%eval 9] } 1. e4?! \
             { [%eval 0.3,12] [%clk 0:01:00] } (1. d4 { [%clk 9:00:00] }) 1... e5 { [%clk 0:00:59.5] } \
             { Good. [%eval #-3] } { [%eval 5] } 2. Nf3 $4 { [%clk x] } 1-0\r\n",
        );
        let tag = |i: usize| {
            let (name, value): &(Vec<u8>, Vec<u8>) = &game.tags[i];
            (&name[..], &value[..])
        };
        assert_eq!(tag(0), (&b"Event"[..], &b"a \\\"b\\\""[..]));
        assert_eq!(tag(1), (&b"White"[..], &b" x "[..]));
        assert_eq!(tag(2), (&b"Event"[..], &b"twice"[..]));
        let plies: Vec<_> = game
            .plies
            .iter()
            .map(|ply| (ply.eval, ply.clock.as_deref()))
            .collect();
        assert_eq!(
            plies,
            [
                (Some((Label::from_centipawns(30), 12)), Some("0:01:00")),
                (
                    Label::from_mate(-3).map(|mate| (mate, 0)),
                    Some("0:00:59.5")
                ),
                (None, None),
            ]
        );
        assert_eq!((game.result, game.cut), ("1-0", None));
        assert_eq!(
            read("[Site \"here\"]\n\n1. e4 Ke4 *").cut.unwrap().example,
            "Ke4 in here"
        );
    }

    #[test]
    fn a_game_is_cut_where_it_cannot_be_followed() {
        let illegal = Some(SkipReason::IllegalMove);
        let unreadable = Some(SkipReason::UnreadableMove);
        let malformed = Some(SkipReason::MalformedGame);
        for (moves, plies, result, cut) in [
            ("1. e4 e5 1/2-1/2", 2, "1/2-1/2", None),
            ("1. e4 e5", 2, "0-1", None),
            ("0-1", 0, "0-1", None),
            ("", 0, "0-1", None),
            ("1. e4 Ke4 2. d4 1-0", 1, "0-1", illegal),
            ("1. e4 e5 2. Sf3 1-0", 2, "0-1", unreadable),
            ("1. e2-e4 e7e5 2. Nf3N 1–0", 3, "1-0", None),
            ("1. e4 { never closed", 1, "0-1", malformed),
            ("1. e4\n\n1... e5 *", 1, "0-1", malformed),
            ("1. e4 * Sf3", 1, "*", None),
            ("1. e4 * { [%eval 1] } 0-1", 1, "*", None),
            ("1. e4 *\n1. d4 *", 1, "*", malformed),
            // Tags of further games.
            ("1. e4 *\n[White \"b\"]\n\n1. d4 *", 1, "*", malformed),
            ("1. e4 *\n\n2. d4 *\n[White \"b\"]\n", 1, "*", malformed),
            ("1. e4 *\n[FEN x]\n", 1, "*", Some(SkipReason::BadTags)),
        ] {
            let game = read(&format!("[Result \"0-1\"]\n\n{moves}\n\n"));
            let reason = game.cut.map(|cut| cut.reason);
            assert_eq!(
                (game.plies.len(), game.result, reason),
                (plies, result, cut),
                "{moves}"
            );
        }
    }

    #[test]
    fn a_game_without_end_is_cut() {
        let game = read(&"Nf3 Nf6 Ng1 Ng8 ".repeat(3000));
        assert_eq!(game.plies.len(), MAX_PLIES);
        assert_eq!(game.cut.unwrap().reason, SkipReason::IllegalMove);
    }

    #[test]
    fn other_games_are_refused() {
        for (tags, reason) in [
            ("[Variant \"Antichess\"]", SkipReason::Variant),
            ("[FEN \"8/8/8/8/8/8/8/8 w - - 0 1\"]", SkipReason::BadFen),
            ("[SetUp \"1\"]", SkipReason::BadTags),
            ("[Event \"a\"b\"] [White \"c\"]", SkipReason::BadTags),
        ] {
            let read = Transcript::read(format!("{tags}\n\n1. e4 *\n").as_bytes());
            assert_eq!(read.unwrap_err().reason, reason, "{tags}");
        }
        let words = Transcript::read(b"what is this").unwrap_err();
        assert_eq!(words.reason, SkipReason::UnreadableMove);
        assert!(Transcript::read(b"\n \r\n").unwrap().is_none());
    }

    #[test]
    fn games_without_event_tags_are_separated() {
        let text = "[White \"a\"]\n\n[Black \"b\"]\n\n1. e4 *\n\n[White \"c\"]\r\n\r\n1. d4 *\r\n\r\n\
                    [Black \"d\"]\n[Event \"e\"]\n\n1. c4 { \n[%clk 1] } *\n\n[Round \"1\"]\n\n*\n\n\
                    [Round \"2\"]\n[FEN \"x\"]\n\n[Round \"3\"]\n";
        let games: Vec<_> = games(text.as_bytes()).collect();
        assert_eq!(games.concat(), text.as_bytes());
        let tags: Vec<usize> = games
            .iter()
            .map(|game| game.split(|&b| b == b'[').count() - 1)
            .collect();
        assert_eq!(tags, [2, 1, 3, 1, 2, 1]);
        let game = "[White \"a\"]\n[Black \"b\"]\n\n1. e4 { x }\n1-0";
        for line_end in ["\n", "\r\n", "\r"] {
            for between in ["", " ", "\n", "\n\n", "\n\u{feff}"] {
                let text = [game; 3].join(between).replace('\n', line_end);
                let games: Vec<_> = super::games(text.as_bytes()).collect();
                assert_eq!(games.len(), 3, "{text:?}");
                assert_eq!(games.concat(), text.as_bytes());
                for game in games {
                    let game = read(std::str::from_utf8(game).unwrap());
                    let found = (game.tags.len(), game.plies.len(), game.cut);
                    assert_eq!(found, (2, 1, None), "{text:?}");
                }
            }
        }
    }

    /// Runs in linear time.
    #[test]
    fn many_games_without_event_tags_are_separated() {
        let text = format!(
            "[Event \"a\"]\n\n*\n\n{}[Event \"b\"]\n\n*\n",
            "[White \"a\"]\n\n*\n\n".repeat(200_000)
        );
        assert_eq!(games(text.as_bytes()).count(), 200_002);
        let tags: String = (0..100_000).map(|i| format!("[A{i} \"\"]\n")).collect();
        assert_eq!(games(tags.as_bytes()).count(), 1);
    }
}
