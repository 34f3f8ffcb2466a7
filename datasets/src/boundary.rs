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
pub(crate) enum Boundary {
    /// A game begins at an Event tag.
    Event,
    /// In a PGN without Event tags, at any tag after a blank line.
    AnyTag,
    /// Each line stands for itself.
    Line,
}

impl Boundary {
    /// What parts the games of a PGN that begins like this.
    pub(crate) fn of_pgn(text: &[u8]) -> Boundary {
        let has_event = text.starts_with(&EVENT[1..]) || EVENT_FINDER.find(text).is_some();
        if has_event {
            Boundary::Event
        } else {
            Boundary::AnyTag
        }
    }

    /// The start of the first unit behind the one that the text begins with.
    pub(crate) fn first(self, text: &[u8]) -> Option<usize> {
        match self {
            Boundary::Event => next_game(text),
            Boundary::AnyTag => any_tags(text).next(),
            Boundary::Line => memchr::memchr(b'\n', text).map(|at| at + 1),
        }
    }

    /// The start of the last unit, unless it is the one that the text begins
    /// with. What lies before is whole.
    pub(crate) fn last(self, text: &[u8]) -> Option<usize> {
        match self {
            Boundary::Event => EVENT_FINDER_REV
                .rfind(text)
                .map(|at| tags_start(text, at + 1)),
            Boundary::AnyTag => any_tags(text).last(),
            Boundary::Line => memchr::memrchr(b'\n', text).map(|at| at + 1),
        }
        .filter(|&start| start > 0)
    }
}

/// The start of the next game with an Event tag, behind the one that the text
/// begins with.
pub(crate) fn next_game(text: &[u8]) -> Option<usize> {
    EVENT_FINDER
        .find_iter(text)
        .map(|at| tags_start(text, at + 1))
        .find(|&start| start > 0)
}

/// Every line that begins with `[` behind a blank one.
fn any_tags(text: &[u8]) -> impl Iterator<Item = usize> {
    memchr::memchr_iter(b'[', text).filter(|&at| {
        let above = text[..at].strip_suffix(b"\n");
        let above = above.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        above.is_some_and(|line| line.ends_with(b"\n"))
    })
}

/// The start of the block of tags that the line at `line` belongs to: some
/// files put other tags before Event.
fn tags_start(text: &[u8], line: usize) -> usize {
    let mut start = line;
    while let Some(above) = start.checked_sub(1) {
        let previous = memchr::memrchr(b'\n', &text[..above]).map_or(0, |at| at + 1);
        let tag = text[previous..above].trim_ascii();
        if !(tag.starts_with(b"[") && tag.ends_with(b"\"]")) {
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
        assert_eq!(
            Boundary::Event.last(b"1. e4 { \n[Event horizon] } *"),
            None
        );
    }

    #[test]
    fn without_event_tags_a_game_begins_after_a_blank_line() {
        let text = b"[White \"a\"]\n\n1. e4 [x] *\r\n\r\n[White \"b\"]\n\n1. d4 *\n\n[White \"c\"]\n";
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
