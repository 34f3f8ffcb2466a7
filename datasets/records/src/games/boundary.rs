//! Where one unit of a text, a game or a line, ends and the next begins.

use std::sync::LazyLock;

use memchr::memmem::{Finder, FinderRev};
use serde::{Deserialize, Serialize};

use crate::games::header::{MARK, begins_tag, without_mark};
use crate::selection::names_start_tag;

/// The first tag of a game, as the standard orders them.
const EVENT: &[u8] = b"[Event \"";

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
        let has_event =
            without_mark(text).starts_with(EVENT) || event_tags(text, 0).next().is_some();
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
            Boundary::Event => line_ends(text).next().and_then(|end| next_game(text, end)),
            Boundary::AnyTag => any_tags(text).next(),
            Boundary::Line => line_ends(text).next(),
            Boundary::Piece => Some(0),
        }
    }

    /// The start of the last unit, unless it is the one that the text begins
    /// with. What lies before is whole.
    pub fn last(self, text: &[u8]) -> Option<usize> {
        match self {
            Boundary::Event => EVENT_FINDER_REV
                .rfind_iter(text)
                .find(|&at| begins_game(text, at))
                .map(|at| tags_start(text, at)),
            Boundary::AnyTag => any_tags(text).last(),
            Boundary::Line => {
                let ends = memchr::memchr2_iter(b'\n', b'\r', text).rev();
                ends.filter_map(|at| line_end(text, at)).next()
            }
            Boundary::Piece => Some(text.len()),
        }
        .filter(|&start| start > 0)
    }
}

/// The start of the first game with an Event tag that begins behind `from`.
pub(crate) fn next_game(text: &[u8], from: usize) -> Option<usize> {
    event_tags(text, from)
        .map(|event| tags_start(text, event))
        .find(|&start| start > from)
}

/// The Event tags from `from` on that begin a game, but not one that begins the text.
pub(crate) fn event_tags(text: &[u8], from: usize) -> impl Iterator<Item = usize> {
    EVENT_FINDER
        .find_iter(&text[from..])
        .map(move |at| from + at)
        .filter(|&at| begins_game(text, at))
}

/// Returns whether a game begins with the Event tag at `at`: it begins a line, or stands
/// behind the result of the game before.
pub(crate) fn begins_game(text: &[u8], at: usize) -> bool {
    text[at..].starts_with(EVENT) && (is_line_start(text, at) || is_behind_result(text, at))
}

/// Returns whether a line begins behind another one at `at`, or at the byte order mark before
/// it: of a file that was appended to another.
pub(crate) fn is_line_start(text: &[u8], at: usize) -> bool {
    matches!(before_mark(text, at).last(), Some(b'\n' | b'\r'))
}

/// Returns whether a line begins at `at` behind a blank one.
pub(crate) fn is_behind_blank_line(text: &[u8], at: usize) -> bool {
    let above = text[..at].strip_suffix(b"\n");
    let above = above.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let above = above.or(text[..at].strip_suffix(b"\r"));
    above.is_some_and(|line| line.ends_with(b"\n") || line.ends_with(b"\r"))
}

/// The text before `at`, and before the byte order mark that may stand there.
fn before_mark(text: &[u8], at: usize) -> &[u8] {
    text[..at].strip_suffix(MARK).unwrap_or(&text[..at])
}

/// Returns whether a result stands before `at`, on the same line.
pub(crate) fn is_behind_result(text: &[u8], at: usize) -> bool {
    let line = before_mark(&text[at.saturating_sub(32)..at], at.min(32));
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let end = line.iter().rposition(|byte| !blank(byte));
    let line = end.map_or(&line[..0], |end| &line[..=end]);
    RESULTS.iter().any(|result| line.ends_with(result))
}

/// The words that end a game.
pub(crate) const RESULTS: [&[u8]; 4] = [b"1-0", b"0-1", b"1/2-1/2", b"*"];

/// Whether the text ends where a game does: with a result.
pub fn ends_with_result(text: &[u8]) -> bool {
    let text = text.trim_ascii_end();
    RESULTS.iter().any(|result| {
        text.strip_suffix(*result)
            .is_some_and(|rest| rest.last().is_none_or(|b| b.is_ascii_whitespace()))
    })
}

/// The starts of all lines but the first: behind `\n`, `\r\n` or `\r`.
pub(crate) fn line_ends(text: &[u8]) -> impl Iterator<Item = usize> {
    memchr::memchr2_iter(b'\n', b'\r', text).filter_map(|at| line_end(text, at))
}

/// The end of the line that the byte at `at` ends; `None` if the line end has another
/// byte, or may have one that is not there yet.
fn line_end(text: &[u8], at: usize) -> Option<usize> {
    let ends = text[at] == b'\n' || text.get(at + 1).is_some_and(|&next| next != b'\n');
    ends.then_some(at + 1)
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

/// Every line that begins with `[` behind a blank one, or behind a byte order mark.
fn any_tags(text: &[u8]) -> impl Iterator<Item = usize> {
    memchr::memchr_iter(b'[', text).filter_map(|at| {
        let start = before_mark(text, at).len();
        let begins = is_behind_blank_line(text, at) || start < at && is_line_start(text, at);
        begins.then_some(start)
    })
}

/// So many tags are looked for before an Event tag. Without a limit, text of
/// nothing but tags would be read over and over, as more and more of it comes.
const TAGS_BEFORE_EVENT: usize = 64;

/// The start of the game whose Event tag is at `event`: some files put
/// other tags before it. They are its own up to the Event tag of another game:
/// or the limit could let a game begin before an earlier one has its Event tag,
/// and where that one begins would depend on how much of the text is there.
pub(crate) fn tags_start(text: &[u8], event: usize) -> usize {
    let mut start = event;
    for _ in 0..TAGS_BEFORE_EVENT {
        // A byte order mark begins a file.
        if !is_line_start(text, start) || text[..start].ends_with(MARK) {
            break;
        }
        let above = match &text[..start] {
            [.., b'\r', b'\n'] => start - 2,
            _ => start - 1,
        };
        let previous = memchr::memrchr2(b'\n', b'\r', &text[..above]).map_or(0, |at| at + 1);
        let whole_line = without_mark(&text[previous..above]);
        let line = whole_line.trim_ascii();
        let is_tag = line.strip_prefix(b"[");
        let is_tag = is_tag.is_some_and(|tag| tag.ends_with(b"\"]") || names_start_tag(tag));
        if is_tag && !whole_line.starts_with(EVENT) {
            start = above - whole_line.len();
            continue;
        }
        // The first of its tags may stand behind the result of the game before.
        if line.ends_with(b"\"]") && !is_tag {
            let brackets = memchr::memchr_iter(b'[', &text[previous..above]);
            let mut tags = brackets.map(|at| previous + at).filter(|&at| {
                begins_tag(&text[at..]) && at > previous && is_behind_result(text, at)
            });
            start = tags
                .next()
                .filter(|&at| !text[at..].starts_with(EVENT))
                .unwrap_or(start);
        }
        break;
    }
    match before_mark(text, start) {
        before if before.is_empty() || is_line_start(text, start) => before.len(),
        _ => start,
    }
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
    fn a_game_may_begin_behind_the_result_of_another() {
        for result in ["1-0", "0-1", "1/2-1/2", "*"] {
            for gap in ["", " ", "\t "] {
                let first = format!("[Event \"a\"]\n\n1. e4 {result}{gap}");
                for tags in ["[Event \"b\"]\n", "[FEN \"x\"]\n[Event \"b\"]\n"] {
                    let text = format!("{first}{tags}\n1. d4 *\n\n[Event \"c\"]\n");
                    let text = text.as_bytes();
                    let c = memchr::memmem::find(text, b"[Event \"c").unwrap();
                    assert_eq!(
                        Boundary::Event.first(text),
                        Some(first.len()),
                        "{result}{gap}"
                    );
                    assert_eq!(Boundary::Event.last(&text[..c]), Some(first.len()));
                    // Where a line is not whole, what stands on it does not count.
                    for from in first.len() - 2..first.len() + 2 {
                        assert_eq!(Boundary::Event.first(&text[from..]), Some(c - from));
                    }
                }
            }
        }
        let comment = b"[Event \"a\"]\n\n1. e4 { see [Event \"b\"] } *\n";
        assert_eq!(Boundary::Event.last(comment), None);
    }

    /// As `cat` joins files.
    #[test]
    fn a_game_may_begin_behind_a_byte_order_mark() {
        for tags in ["[Event \"b\"]\n", "[FEN \"x\"]\n[Event \"b\"]\n"] {
            let first = "\u{feff}[FEN \"y\"]\n[Event \"a\"]\n\n1. e4 *\n";
            let text = format!("{first}\u{feff}{tags}\n1. d4 *\n\n[Event \"c\"]\n");
            let text = text.as_bytes();
            let c = memchr::memmem::find(text, b"[Event \"c").unwrap();
            assert_eq!(Boundary::Event.first(text), Some(first.len()));
            assert_eq!(Boundary::Event.last(&text[..c]), Some(first.len()));
            // The byte order mark that begins the file begins no further game.
            assert_eq!(Boundary::Event.last(&text[..first.len()]), None);
            for from in first.len() - 1..first.len() + 6 {
                assert_eq!(
                    Boundary::Event.first(&text[from..]),
                    Some(c - from),
                    "{from}"
                );
            }
        }
        let first = "[White \"a\"]\n\n1. e4 *\n";
        let text = format!("{first}\u{feff}[White \"b\"]\n\n1. d4 *\n");
        let text = text.as_bytes();
        assert_eq!(Boundary::AnyTag.first(text), Some(first.len()));
        assert_eq!(Boundary::AnyTag.last(text), Some(first.len()));
        assert_eq!(Boundary::AnyTag.first(&text[first.len() - 1..]), Some(1));
        assert_eq!(Boundary::AnyTag.first(&text[first.len()..]), None);
    }

    #[test]
    fn a_start_tag_without_quotes_belongs_to_the_game_below() {
        let text = b"1. e4 *\n\n[FEN x]\n[Event \"y\"]\n\n1. d4 *\n";
        assert_eq!(Boundary::Event.first(text), Some(9));
    }

    #[test]
    fn lines_may_end_with_carriage_returns_alone() {
        let text = b"1. e4 *\r\r[FEN \"x\"]\r[Event \"y\"]\r\r1. d4 *\r";
        assert_eq!(Boundary::of_pgn(text), Boundary::Event);
        assert_eq!(Boundary::Event.first(text), Some(9));
        assert_eq!(Boundary::Event.last(text), Some(9));
        assert_eq!(Boundary::AnyTag.first(text), Some(9));
        assert_eq!(Boundary::Line.first(b"a\rb\rc"), Some(2));
        assert_eq!(Boundary::Line.last(b"a\rb\rc"), Some(4));
        // A line feed may follow.
        assert_eq!(Boundary::Line.last(b"a\r\nb\r"), Some(3));
        assert_eq!(Boundary::Line.first(b"a\r"), None);
    }

    #[test]
    fn a_result_ends_a_game() {
        for text in ["e4 1-0\n\n", "e4 1/2-1/2", "*"] {
            assert!(ends_with_result(text.as_bytes()), "{text}");
        }
        for text in ["e4", "e4 { [%clk 0:00:30] }", "e11-0", ""] {
            assert!(!ends_with_result(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn lines_end_where_they_end() {
        assert_eq!(Boundary::Line.first(b"a\nb\nc"), Some(2));
        assert_eq!(Boundary::Line.last(b"a\nb\nc"), Some(4));
        assert_eq!(Boundary::Line.last(b"abc"), None);
    }
}
