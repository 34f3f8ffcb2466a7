//! Boundaries between the units of a source: games, lines or packed units.

use std::sync::LazyLock;

use memchr::memmem::{Finder, FinderRev};
use serde::{Deserialize, Serialize};

use crate::games::header::{MARK, begins_tag, without_mark};
use crate::selection::names_start_tag;

/// The first tag of a game, as the standard orders them.
const EVENT: &[u8] = b"[Event \"";

// Building a finder takes longer than searching many games.
static EVENT_FINDER: LazyLock<Finder> = LazyLock::new(|| Finder::new(EVENT));
static EVENT_FINDER_REV: LazyLock<FinderRev> = LazyLock::new(|| FinderRev::new(EVENT));

/// Boundary between the units of a text. Decided once a source, so that results do not depend on
/// where the text is cut into pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Boundary {
    /// A game begins at an Event tag.
    Event,
    /// A game begins at any tag after a blank line, in a PGN without Event tags.
    AnyTag,
    /// Each line is a unit.
    Line,
    /// Packed bytes, which arrive in whole units.
    Piece,
}

impl Boundary {
    /// Returns the boundary of a PGN source, from its first bytes.
    pub fn of_pgn(text: &[u8]) -> Boundary {
        let has_event =
            without_mark(text).starts_with(EVENT) || event_tags(text, 0).next().is_some();
        if has_event {
            Boundary::Event
        } else {
            Boundary::AnyTag
        }
    }

    /// Returns the start of the first unit after the one at the beginning of the text. The text may
    /// begin in the middle of a line; a unit whose start is then ambiguous is passed over.
    pub fn first(self, text: &[u8]) -> Option<usize> {
        match self {
            // Tags right after the first line may belong to it, if it is the rest of a tag.
            Boundary::Event => line_ends(text).next().and_then(|end| next_game(text, end)),
            Boundary::AnyTag => any_tags(text).next(),
            Boundary::Line => line_ends(text).next(),
            Boundary::Piece => Some(0),
        }
    }

    /// Returns the start of the last unit, or `None` if the text begins with it. All units before
    /// it are whole.
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

/// Returns the start of the first game with an Event tag that begins after `from`.
pub(crate) fn next_game(text: &[u8], from: usize) -> Option<usize> {
    event_tags(text, from)
        .map(|event| tags_start(text, event))
        .find(|&start| start > from)
}

/// Returns the positions of Event tags from `from` on that begin a game, except one at the start of
/// the text.
pub(crate) fn event_tags(text: &[u8], from: usize) -> impl Iterator<Item = usize> {
    EVENT_FINDER
        .find_iter(&text[from..])
        .map(move |at| from + at)
        .filter(|&at| begins_game(text, at))
}

/// Returns whether the Event tag at `at` begins a game: at the start of a line, or after the result
/// of the previous game on the same line.
pub(crate) fn begins_game(text: &[u8], at: usize) -> bool {
    text[at..].starts_with(EVENT) && (is_line_start(text, at) || is_behind_result(text, at))
}

/// Returns whether `at` is the start of a line other than the first. A byte order mark before `at`
/// is ignored: files may be concatenated.
pub(crate) fn is_line_start(text: &[u8], at: usize) -> bool {
    matches!(before_mark(text, at).last(), Some(b'\n' | b'\r'))
}

/// Returns whether a line begins at `at` after a blank one.
pub(crate) fn is_behind_blank_line(text: &[u8], at: usize) -> bool {
    let above = text[..at].strip_suffix(b"\n");
    let above = above.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let above = above.or(text[..at].strip_suffix(b"\r"));
    above.is_some_and(|line| line.ends_with(b"\n") || line.ends_with(b"\r"))
}

/// Returns the text before `at`, without a byte order mark at its end.
fn before_mark(text: &[u8], at: usize) -> &[u8] {
    text[..at].strip_suffix(MARK).unwrap_or(&text[..at])
}

/// Returns whether a result stands before `at`, on the same line.
pub(crate) fn is_behind_result(text: &[u8], at: usize) -> bool {
    let line = before_mark(&text[at.saturating_sub(32)..at], at.min(32));
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let end = line.iter().rposition(|byte| !blank(byte));
    let line = end.map_or(&line[..0], |end| &line[..=end]);
    let mut results = RESULTS.iter();
    results.any(|result| line.ends_with(result.as_bytes()))
}

/// Result tokens, which end a game.
pub(crate) const RESULTS: [&str; 4] = ["1-0", "0-1", "1/2-1/2", "*"];

/// Parses a result token.
pub(crate) fn result(word: &[u8]) -> Option<&'static str> {
    let mut results = RESULTS.into_iter();
    results.find(|result| result.as_bytes() == word)
}

/// Returns whether the text ends with a result.
pub fn ends_with_result(text: &[u8]) -> bool {
    let text = text.trim_ascii_end();
    RESULTS.iter().any(|result| {
        text.strip_suffix(result.as_bytes())
            .is_some_and(|rest| rest.last().is_none_or(|b| b.is_ascii_whitespace()))
    })
}

/// Returns the starts of all lines but the first: after `\n`, `\r\n` or `\r`.
pub(crate) fn line_ends(text: &[u8]) -> impl Iterator<Item = usize> {
    memchr::memchr2_iter(b'\n', b'\r', text).filter_map(|at| line_end(text, at))
}

/// Returns the end of the line that the byte at `at` terminates. `None` if the next byte also
/// belongs to the line end, or might once more text has arrived.
fn line_end(text: &[u8], at: usize) -> Option<usize> {
    let ends = text[at] == b'\n' || text.get(at + 1).is_some_and(|&next| next != b'\n');
    ends.then_some(at + 1)
}

/// Returns the games of a text in which every tag after a blank line begins a game.
pub fn any_tag_games(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    any_tags(text).chain([text.len()]).map(move |end| {
        let game = &text[start..end];
        start = end;
        game
    })
}

/// Returns the start of every line that begins with `[` after a blank line or after a byte order
/// mark.
fn any_tags(text: &[u8]) -> impl Iterator<Item = usize> {
    memchr::memchr_iter(b'[', text).filter_map(|at| {
        let start = before_mark(text, at).len();
        let begins = is_behind_blank_line(text, at) || start < at && is_line_start(text, at);
        begins.then_some(start)
    })
}

/// Most tags that are looked for before an Event tag. Without a limit, text of nothing but tags
/// would be reread as more of it arrives.
const TAGS_BEFORE_EVENT: usize = 64;

/// Returns the start of the game with its Event tag at `event`: some files put other tags first.
/// Tags above belong to the game up to the Event tag of another one; otherwise the limit could
/// start a game before an earlier one has its Event tag, and the result would depend on how much
/// text is present.
pub(crate) fn tags_start(text: &[u8], event: usize) -> usize {
    let mut start = event;
    for _ in 0..TAGS_BEFORE_EVENT {
        // A byte order mark begins a file, so tags do not extend above it.
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
        // The first tag of the game may follow the result of the previous game on its line.
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

    /// A text that begins inside a game's tags does not contain that game's start.
    #[test]
    fn a_game_does_not_begin_inside_its_tags() {
        let text = b"[FEN \"x\"]\n[Round \"1\"]\n[Event \"y\"]\n\n1. d4 *\n\n[Event \"z\"]\n";
        let z = memchr::memmem::find(text, b"[Event \"z").unwrap();
        let y = memchr::memmem::find(text, b"[Event \"y").unwrap();
        for from in 0..y {
            assert_eq!(Boundary::Event.first(&text[from..]), Some(z - from));
        }
    }

    /// The text before the start of a game is the same text with and without that game, for any
    /// number of tags.
    #[test]
    fn a_game_does_not_begin_before_an_earlier_event_tag() {
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
                    // The result on an incomplete line does not count.
                    for from in first.len() - 2..first.len() + 2 {
                        assert_eq!(Boundary::Event.first(&text[from..]), Some(c - from));
                    }
                }
            }
        }
        let comment = b"[Event \"a\"]\n\n1. e4 { see [Event \"b\"] } *\n";
        assert_eq!(Boundary::Event.last(comment), None);
    }

    /// Byte order marks inside a text come from `cat` joining files.
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
    fn line_boundaries_are_found() {
        assert_eq!(Boundary::Line.first(b"a\nb\nc"), Some(2));
        assert_eq!(Boundary::Line.last(b"a\nb\nc"), Some(4));
        assert_eq!(Boundary::Line.last(b"abc"), None);
    }
}
