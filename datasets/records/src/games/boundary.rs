//! Where one unit of a text, a game or a line, ends and the next begins.

use std::sync::LazyLock;

use memchr::memmem::{Finder, FinderRev};
use serde::{Deserialize, Serialize};

/// The first tag of a game, as the standard orders them.
const EVENT: &[u8] = b"\n[Event \"";

// A finder takes longer to build than many a game to search.
static EVENT_FINDER: LazyLock<Finder> = LazyLock::new(|| Finder::new(EVENT));
static EVENT_FINDER_REV: LazyLock<FinderRev> = LazyLock::new(|| FinderRev::new(EVENT));

/// How the units of a text are told apart: decided once for each source, so
/// that it makes no difference where the text is cut into pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Boundary {
    /// A game begins at an Event tag.
    Event,
    /// In a PGN without Event tags, at any tag after a blank line.
    AnyTag,
    /// Each line stands for itself.
    Line,
    /// A source of bytes rather than text, which comes in whole units.
    Piece,
}

impl Boundary {
    /// What parts the games of a PGN that begins like this.
    pub fn of_pgn(text: &[u8]) -> Boundary {
        let has_event = text.starts_with(&EVENT[1..]) || EVENT_FINDER.find(text).is_some();
        if has_event {
            Boundary::Event
        } else {
            Boundary::AnyTag
        }
    }

    /// The start of a unit behind the one that the text begins with: of the
    /// first that can be told where the text may begin in the middle of a line.
    pub fn first(self, text: &[u8]) -> Option<usize> {
        match self {
            // If tags begin right behind the first line, it may be the rest of
            // one that belongs to them.
            Boundary::Event => memchr::memchr(b'\n', text).and_then(|end| next_game(text, end + 1)),
            Boundary::AnyTag => any_tags(text).next(),
            Boundary::Line => memchr::memchr(b'\n', text).map(|at| at + 1),
            Boundary::Piece => Some(0),
        }
    }

    /// The start of the last unit, unless it is the one that the text begins
    /// with. What lies before is whole.
    pub fn last(self, text: &[u8]) -> Option<usize> {
        match self {
            Boundary::Event => EVENT_FINDER_REV
                .rfind(text)
                .map(|at| tags_start(text, at + 1)),
            Boundary::AnyTag => any_tags(text).last(),
            Boundary::Line => memchr::memrchr(b'\n', text).map(|at| at + 1),
            Boundary::Piece => Some(text.len()),
        }
        .filter(|&start| start > 0)
    }
}

/// The start of the first game with an Event tag that begins behind `from`.
pub(crate) fn next_game(text: &[u8], from: usize) -> Option<usize> {
    event_tags(text, from)
        .map(|event| tags_start(text, event + 1))
        .find(|&start| start > from)
}

/// The Event tags behind `from`: the ends of the lines before them.
pub(crate) fn event_tags(text: &[u8], from: usize) -> impl Iterator<Item = usize> {
    EVENT_FINDER
        .find_iter(&text[from..])
        .map(move |at| from + at)
}

/// The games of a text whose games begin at any tag after a blank line.
pub fn any_tag_games(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    any_tags(text).chain([text.len()]).map(move |end| {
        let game = &text[start..end];
        start = end;
        game
    })
}

/// Every line that begins with `[` behind a blank one.
fn any_tags(text: &[u8]) -> impl Iterator<Item = usize> {
    memchr::memchr_iter(b'[', text).filter(|&at| {
        let above = text[..at].strip_suffix(b"\n");
        let above = above.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        above.is_some_and(|line| line.ends_with(b"\n"))
    })
}

/// So many tags are looked for before an Event tag. Without a limit, text of
/// nothing but tags would be read over and over, as more and more of it comes.
const TAGS_BEFORE_EVENT: usize = 64;

/// The start of the game whose Event tag is the line at `line`: some files put
/// other tags before it. They are its own up to the Event tag of another game:
/// or the limit could let a game begin before an earlier one has its Event tag,
/// and where that one begins would depend on how much of the text is there.
pub(crate) fn tags_start(text: &[u8], line: usize) -> usize {
    let mut start = line;
    for _ in 0..TAGS_BEFORE_EVENT {
        let Some(above) = start.checked_sub(1) else {
            break;
        };
        let previous = memchr::memrchr(b'\n', &text[..above]).map_or(0, |at| at + 1);
        let tag = text[previous..above].trim_ascii();
        let is_tag = tag.starts_with(b"[") && tag.ends_with(b"\"]");
        if !is_tag || text[previous..].starts_with(&EVENT[1..]) {
            break;
        }
        start = previous;
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_begins_at_its_first_tag() {
        let text = b"1. e4 *\n\n[FEN \"x\"]\r\n[Event \"y\"]\n\n1. d4 *\n";
        assert_eq!(Boundary::of_pgn(text), Boundary::Event);
        assert_eq!(Boundary::Event.first(text), Some(9));
        assert_eq!(Boundary::Event.last(text), Some(9));
        assert_eq!(Boundary::Event.first(&text[9..]), None);
        assert_eq!(Boundary::Event.last(&text[9..]), None);
        assert_eq!(Boundary::Event.last(b"1. e4 { \n[Event horizon] } *"), None);
    }

    /// Where text begins in the middle of a game's tags, that game's start is
    /// not there.
    #[test]
    fn a_game_does_not_begin_inside_its_tags() {
        let text = b"[FEN \"x\"]\n[Round \"1\"]\n[Event \"y\"]\n\n1. d4 *\n\n[Event \"z\"]\n";
        let z = memchr::memmem::find(text, b"[Event \"z").unwrap();
        let y = memchr::memmem::find(text, b"[Event \"y").unwrap();
        for from in 0..y {
            assert_eq!(Boundary::Event.first(&text[from..]), Some(z - from));
        }
    }

    /// However many tags there are, what stands before a game's start is the
    /// same text with the game and without.
    #[test]
    fn a_game_does_not_begin_before_another_ones_event_tag() {
        for tags in [0, 1, 20, 60, 70] {
            let tags = "[Round \"1\"]\n".repeat(tags);
            let text = format!("1. e4 *\n\n{tags}[Event \"y\"]\n{tags}[Event \"z\"]\n\n1. d4 *\n");
            let text = text.as_bytes();
            let y = memchr::memmem::find(text, b"[Event \"y").unwrap();
            let last = Boundary::Event.last(text).unwrap();
            assert!(y < last);
            let first = Boundary::Event.first(text);
            assert!(first.is_some_and(|first| first <= y));
            assert_eq!(Boundary::Event.first(&text[..last]), first);
        }
    }

    #[test]
    fn without_event_tags_a_game_begins_after_a_blank_line() {
        let text =
            b"[White \"a\"]\n\n1. e4 [x] *\r\n\r\n[White \"b\"]\n\n1. d4 *\n\n[White \"c\"]\n";
        assert_eq!(Boundary::of_pgn(text), Boundary::AnyTag);
        let b = memchr::memmem::find(text, b"[White \"b").unwrap();
        let c = memchr::memmem::find(text, b"[White \"c").unwrap();
        assert_eq!(Boundary::AnyTag.first(text), Some(b));
        assert_eq!(Boundary::AnyTag.last(text), Some(c));
        assert_eq!(Boundary::AnyTag.last(b"[White \"a\"]\n\n1. e4 *"), None);
    }

    #[test]
    fn lines_end_where_they_end() {
        assert_eq!(Boundary::Line.first(b"a\nb\nc"), Some(2));
        assert_eq!(Boundary::Line.last(b"a\nb\nc"), Some(4));
        assert_eq!(Boundary::Line.last(b"abc"), None);
    }
}
