//! Rewrites a game's text from PGN's import format to its export format, before pgn-reader
//! tokenises it.
//!
//! pgn-reader passes over words that it cannot read, as PGN readers do. For
//! labels that will not do: after an unread move, every later one would be
//! played on the wrong board, and might even be legal there.

use std::borrow::Cow;
use std::fmt;

use shakmaty::san::SanPlus;

use crate::games::boundary::RESULTS;
use crate::games::spelling::{is_remark, result, spelled};
use crate::selection::SkipReason;

/// The text of a game, and of those that follow in the same text, for pgn-reader.
#[derive(Debug)]
pub(crate) struct Imported<'a> {
    /// Up to where it can be read.
    pub(crate) text: Cow<'a, [u8]>,
    /// Why it cannot be read further, if it is not all.
    pub(crate) cut: Option<Cut>,
}

/// Why a game is read no further, or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Why.
    pub reason: SkipReason,
    /// The word or line at the cut, and the game's name.
    pub example: String,
}

/// Rewrites a game's text up to the first word, outside comments and variations, that is
/// neither a move, in any spelling that is known, nor a move number, a glyph, a remark or
/// a result.
///
/// # Errors
/// [`SkipReason::BadTags`] if it cannot be told where the value of a tag ends.
pub(crate) fn import(game: &[u8]) -> Result<Imported<'_>, Cut> {
    let mut text = Rewriter::new(game);
    let mut at = 0;
    let tags = &game[..tags_end(game)];
    for line in tags.split_inclusive(|&byte| byte == b'\n') {
        if !text.rewrite_tags(at, line) {
            return Err(Cut::at(SkipReason::BadTags, line, tags));
        }
        at += line.len();
    }
    let mut depth = 0u32;
    let mut over = false;
    while let Some(&byte) = game.get(at) {
        let rest = &game[at..];
        let line_start = at == 0 || game[at - 1] == b'\n';
        match byte {
            b'{' => at = skip_past(game, at, b'}'),
            b';' => at = skip_past(game, at, b'\n'),
            b'%' if line_start => at = skip_past(game, at, b'\n'),
            b'(' => {
                depth += 1;
                at += 1;
            }
            b')' => {
                depth = depth.saturating_sub(1);
                at += 1;
            }
            // The tags of a further game.
            b'[' if line_start || over && begins_tag(rest) => {
                if !line_start {
                    text.replace(at, 0, b"\n\n");
                }
                let end = skip_past(game, at, b'\n');
                if !text.rewrite_tags(at, &game[at..end]) {
                    let cut = Cut::at(SkipReason::BadTags, &game[at..end], game);
                    return Ok(text.end(at, Some(cut)));
                }
                (at, depth, over) = (end, 0, false);
            }
            _ if is_separator(byte) => at += 1,
            _ if blank_length(rest) > 0 => {
                let length = blank_length(rest);
                text.replace(at, length, b" ");
                at += length;
            }
            _ => {
                let word = word(rest);
                if depth == 0 {
                    match meaning(word) {
                        Meaning::AsItStands => over |= RESULTS.contains(&word),
                        Meaning::Other(other) => {
                            over |= RESULTS.contains(&other.as_bytes());
                            text.replace(at, word.len(), other.as_bytes());
                        }
                        Meaning::Unknown(reason) => {
                            let cut = Cut::at(reason, word, &game[..at]);
                            return Ok(text.end(at, Some(cut)));
                        }
                    }
                }
                at += word.len();
            }
        }
    }
    Ok(text.end(game.len(), None))
}

impl std::error::Error for Cut {}

/// What was found, and where: `an illegal move: Ke4 in https://lichess.org/abcdefgh`.
impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = match self.reason {
            SkipReason::Variant => "another variant",
            SkipReason::BadFen => "a FEN of no legal position",
            SkipReason::BadTags => "tags that cannot be trusted",
            SkipReason::IllegalMove => "an illegal move",
            SkipReason::UnreadableMove => "a word that is no move",
            SkipReason::NullMove => "a null move",
            _ => "a malformed game",
        };
        write!(f, "{found}: {}", self.example)
    }
}

impl Cut {
    /// A cut of the last game that begins in `text`, at a word or a line.
    pub(crate) fn at(reason: SkipReason, word: &[u8], text: &[u8]) -> Cut {
        let shown = String::from_utf8_lossy(word.trim_ascii());
        let shown: String = shown.chars().take(EXAMPLE_CHARS).collect();
        let name = name_of(text);
        let example = match &*shown {
            "" => name,
            _ => format!("{shown} in {name}"),
        };
        Cut { reason, example }
    }
}

/// The longest part of a text that is shown in an example.
const EXAMPLE_CHARS: usize = 60;

/// The last game that begins in a text, by its Site tag or its players.
fn name_of(text: &[u8]) -> String {
    let value = |name: &str| {
        let mut lines = text.rsplit(|&byte| byte == b'\n');
        let value = lines.find_map(|line| {
            let line = line.strip_prefix(b"[")?.strip_prefix(name.as_bytes())?;
            line.trim_ascii().strip_prefix(b"\"")?.strip_suffix(b"\"]")
        });
        let value = String::from_utf8_lossy(value.unwrap_or(b"?"));
        value.chars().take(EXAMPLE_CHARS).collect::<String>()
    };
    match &*value("Site ") {
        "?" | "" => format!("{} - {}", value("White "), value("Black ")),
        site => site.to_string(),
    }
}

/// Copies a text with some stretches of it replaced.
struct Rewriter<'a> {
    text: &'a [u8],
    /// The rewritten text before `copied`.
    new: Vec<u8>,
    copied: usize,
}

impl<'a> Rewriter<'a> {
    fn new(text: &'a [u8]) -> Rewriter<'a> {
        Rewriter {
            text,
            new: Vec::new(),
            copied: 0,
        }
    }

    fn replace(&mut self, at: usize, length: usize, by: &[u8]) {
        self.new.extend_from_slice(&self.text[self.copied..at]);
        self.new.extend_from_slice(by);
        self.copied = at + length;
    }

    /// Escapes the quotes in the value of a tag. Returns whether all values on the line end
    /// where pgn-reader sees them end.
    fn rewrite_tags(&mut self, at: usize, line: &[u8]) -> bool {
        if !is_malformed_tag(without_mark(line)) {
            return true;
        }
        let Some(escaped) = with_quotes_escaped(without_mark(line)) else {
            return false;
        };
        self.replace(at, line.len(), &escaped);
        true
    }

    /// The text up to `end`.
    fn end(mut self, end: usize, cut: Option<Cut>) -> Imported<'a> {
        let text = match self.copied {
            0 => Cow::Borrowed(&self.text[..end]),
            copied => {
                self.new.extend_from_slice(&self.text[copied..end]);
                Cow::Owned(self.new)
            }
        };
        Imported { text, cut }
    }
}

/// A text whose lines end with line feeds, as pgn-reader wants them: a carriage return
/// alone ends lines too.
pub(crate) fn with_line_feeds(text: &[u8]) -> Cow<'_, [u8]> {
    let mut returns = memchr::memchr_iter(b'\r', text);
    if returns.all(|at| text.get(at + 1) == Some(&b'\n')) {
        return Cow::Borrowed(text);
    }
    let mut text = text.to_vec();
    for at in 0..text.len() {
        if text[at] == b'\r' && text.get(at + 1) != Some(&b'\n') {
            text[at] = b'\n';
        }
    }
    Cow::Owned(text)
}

/// A line of a tag without the byte order mark that a file may begin with.
fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
}

/// A line of one tag, the quotes in its value escaped: the last on the line ends it. `None`
/// if that is not certain.
fn with_quotes_escaped(line: &[u8]) -> Option<Vec<u8>> {
    let tag = line.trim_ascii().strip_prefix(b"[")?;
    let name = tag.iter().take_while(|byte| is_of_name(byte)).count();
    let value = tag[name..].trim_ascii_start().strip_prefix(b"\"")?;
    let value = value.strip_suffix(b"\"]")?;
    let has_tag = memchr::memchr_iter(b'[', value).any(|at| begins_tag(&value[at..]));
    if has_tag || value.ends_with(b"\\") {
        return None;
    }
    let mut escaped = [b"[", &tag[..name], b" \""].concat();
    let mut is_escaped = false;
    for &byte in value {
        if byte == b'"' && !is_escaped {
            escaped.push(b'\\');
        }
        is_escaped = byte == b'\\' && !is_escaped;
        escaped.push(byte);
    }
    escaped.extend_from_slice(b"\"]\n");
    Some(escaped)
}

/// Returns whether a tag pair begins a text.
pub fn begins_tag(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"[") else {
        return false;
    };
    let name = rest.iter().take_while(|byte| is_of_name(byte)).count();
    let blanks = rest[name..].iter().take_while(|&&byte| byte == b' ');
    let begins = rest.first().is_some_and(u8::is_ascii_alphabetic);
    begins && rest.get(name + blanks.count()) == Some(&b'"')
}

fn is_of_name(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_+#=:-".contains(byte)
}

/// The length of the longest line among the tags.
pub(crate) fn longest_tag(game: &[u8]) -> usize {
    let tags = &game[..tags_end(game)];
    let lines = tags.split_inclusive(|&byte| byte == b'\n');
    lines.map(<[u8]>::len).max().unwrap_or(0)
}

/// Where the leading lines end that begin with `[`, are blank, or are escaped by
/// `%`.
pub(crate) fn tags_end(game: &[u8]) -> usize {
    let mut end = 0;
    while end < game.len() {
        let rest = &game[end..];
        let line = &rest[..memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1)];
        let text = without_mark(line).trim_ascii_start();
        if !(text.is_empty() || text.starts_with(b"[") || text.starts_with(b"%")) {
            break;
        }
        end += line.len();
    }
    end
}

fn skip_past(game: &[u8], from: usize, end: u8) -> usize {
    memchr::memchr(end, &game[from..]).map_or(game.len(), |at| from + at + 1)
}

fn is_separator(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'.'
}

/// Length in bytes of a non-ASCII space at the beginning of a text: no-break, narrow or
/// zero-width. 0 without one.
fn blank_length(text: &[u8]) -> usize {
    const BLANKS: [&str; 7] = [
        "\u{a0}", "\u{2009}", "\u{200a}", "\u{200b}", "\u{202f}", "\u{2060}", "\u{feff}",
    ];
    match text.first() {
        Some(0xC2 | 0xE2 | 0xEF) => {
            let mut blanks = BLANKS.iter().map(|blank| blank.as_bytes());
            blanks
                .find(|blank| text.starts_with(blank))
                .map_or(0, <[u8]>::len)
        }
        _ => 0,
    }
}

/// The word at the beginning of the text.
fn word(text: &[u8]) -> &[u8] {
    let ends = |at: &usize| {
        let byte = text[*at];
        is_separator(byte) || b"{}();!?$".contains(&byte) || blank_length(&text[*at..]) > 0
    };
    // The byte after the first may end it; the first is part of it.
    let mut length = (1..text.len()).find(ends).unwrap_or(text.len());
    // `e.p.` is one word, by itself or behind a move.
    let behind = &text[length..];
    if text[length - 1] == b'e' && behind.starts_with(b".p") {
        match behind[2..].first() {
            Some(b'.') => length += 3,
            Some(byte) if byte.is_ascii_alphanumeric() => {}
            _ => length += 2,
        }
    }
    // The tags of the next game may stand right behind a result.
    let tag = memchr::memchr(b'[', &text[..length]).filter(|&at| begins_tag(&text[at..]));
    tag.filter(|&at| RESULTS.contains(&&text[..at]))
        .map_or(&text[..length], |at| &text[..at])
}

/// Meaning of a word in the movetext.
enum Meaning {
    /// pgn-reader reads it, or passes over it rightly.
    AsItStands,
    /// Text of the export format that means the same.
    Other(String),
    /// No meaning, with the reason to cut the game.
    Unknown(SkipReason),
}

fn meaning(word: &[u8]) -> Meaning {
    if NULL_MOVES.contains(&word) {
        Meaning::Unknown(SkipReason::NullMove)
    } else if is_known(word) {
        Meaning::AsItStands
    } else if let Some(san) = spelled(word) {
        Meaning::Other(san.to_string())
    } else if let Some(result) = result(word) {
        Meaning::Other(result.to_string())
    } else if is_remark(word) {
        Meaning::Other(String::new())
    } else {
        Meaning::Unknown(SkipReason::UnreadableMove)
    }
}

/// Null moves, as which a game cannot go on. pgn-reader passes over the first two as move
/// numbers or glyphs.
const NULL_MOVES: [&[u8]; 4] = [b"0000", b"@@@@", b"--", b"Z0"];

/// Returns whether a tag in `header` has an unescaped quote in its value. pgn-reader ends the
/// header there: a FEN tag below would be lost, and the moves played from the usual start.
pub(crate) fn has_malformed_tag(header: &[u8]) -> bool {
    let mut lines = header.split(|&byte| byte == b'\n');
    lines.any(|line| is_malformed_tag(without_mark(line)))
}

fn is_malformed_tag(line: &[u8]) -> bool {
    let mut rest = line.trim_ascii();
    while let Some(tag) = rest.strip_prefix(b"[") {
        let name = tag
            .iter()
            .take_while(|&&byte| !b" \t\"[]".contains(&byte))
            .count();
        let Some(value) = tag[name..].trim_ascii_start().strip_prefix(b"\"") else {
            return false;
        };
        let mut escaped = false;
        let end = value.iter().position(|&byte| {
            let closes = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            closes
        });
        let behind = end.map_or(&b""[..], |end| value[end + 1..].trim_ascii_start());
        match behind.strip_prefix(b"]") {
            Some(behind) => rest = behind.trim_ascii_start(),
            // Without its quote or its bracket a tag is read up to the end of its line.
            None => return !behind.is_empty(),
        }
    }
    false
}

/// Returns whether pgn-reader reads a word, or passes over it rightly: moves, castling with
/// zeros, move numbers, results, `$4`, and signs with neither letter nor digit, such as
/// `!?` or `+-`.
fn is_known(word: &[u8]) -> bool {
    let number = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    let castling = word
        .strip_suffix(b"+")
        .or(word.strip_suffix(b"#"))
        .unwrap_or(word);
    let is_sign = !word.iter().any(u8::is_ascii_alphanumeric);
    // "½-½" is a result.
    (is_sign && !word.starts_with("½".as_bytes()))
        || number(word.strip_prefix(b"$").unwrap_or(word))
        || RESULTS.contains(&word)
        || matches!(castling, b"0-0" | b"0-0-0")
        || is_plain_move(castling)
        || SanPlus::from_ascii(word).is_ok()
}

/// The shapes that most moves have, told without parsing them.
fn is_plain_move(word: &[u8]) -> bool {
    let (start, square) = word.split_at(word.len().saturating_sub(2));
    let piece = |byte: u8| b"NBRQK".contains(&byte);
    matches!(square, [b'a'..=b'h', b'1'..=b'8'])
        && match *start {
            [] | [b'a'..=b'h', b'x'] => matches!(square[1], b'2'..=b'7'),
            [role] | [role, b'x'] => piece(role),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let imported = import(text.as_bytes()).unwrap();
        String::from_utf8(imported.text.into_owned()).unwrap()
    }

    fn cut(text: &str) -> Option<(SkipReason, String)> {
        let cut = import(text.as_bytes()).unwrap().cut?;
        Some((cut.reason, cut.example))
    }

    #[test]
    fn everything_in_a_good_game_is_readable() {
        for text in [
            "[Event \"x\"]\n\n1. e4?! $4 { Sf3 } (1. Sf3 (x) d5) e5 2.Nf3!! Nc6 3... O-O-O+ 4. e8=Q# 1-0\n",
            "[Event \"x\"]\r\n\r\n1. e4 ; Sf3\r\n e5\n% Sf3\n 0-0 Qa1xb2 ! 1/2-1/2\r\n\r\n",
            "1. e4 e5 *\n\n[White \"y\"]\n\n1. e4 *",
            "1. e4 { never closed",
        ] {
            assert_eq!(read(text), text);
        }
    }

    #[test]
    fn reading_ends_at_the_first_unknown_word() {
        assert_eq!(read("1. e4 e5 2. Sf3 Sc6 3. d4"), "1. e4 e5 2. ");
        assert_eq!(read("1. e4 { a } e7_e5 2. d4"), "1. e4 { a } ");
        let game = "[Site \"?\"]\n[White \"w\"]\n[Black \"b\"]\n\n1. e4 Sf6 *";
        let example = "Sf6 in w - b".to_string();
        assert_eq!(cut(game), Some((SkipReason::UnreadableMove, example)));
        // A further game is looked over too.
        let games = "1. e4 *\n\n[Site \"s\"]\n\n1. e4 e5 2. Sf3 *";
        assert_eq!(read(games), games[..games.len() - 5]);
        let example = "Sf3 in s".to_string();
        assert_eq!(cut(games), Some((SkipReason::UnreadableMove, example)));
    }

    #[test]
    fn null_moves_are_no_move_numbers() {
        for null in ["0000", "@@@@", "--", "Z0"] {
            let game = format!("1. Kd2 {null} 2. Ne4");
            assert_eq!(read(&game), "1. Kd2 ");
            assert_eq!(cut(&game).unwrap().0, SkipReason::NullMove);
        }
    }

    #[test]
    fn other_spellings_are_rewritten() {
        for (text, rewritten) in [
            ("1. e2-e4 e7-e5 2. Ng1-f3", "1. e2e4 e7e5 2. Ng1f3"),
            ("1. a8Q! Kg7 2. bxa8N+", "1. a8=Q! Kg7 2. bxa8=N"),
            (
                "3. exd6e.p. exd6 e.p. {a} 4. dxe6ep",
                "3. exd6 exd6  {a} 4. dxe6",
            ),
            ("1.\u{a0}e4\u{202f}D e5 N 2. Nf3N", "1. e4  e5  2. Nf3"),
            ("1. e4 (1. Sf3\u{a0}) e5 1–0", "1. e4 (1. Sf3 ) e5 1-0"),
            ("1. e4 ½-½", "1. e4 1/2-1/2"),
            (
                "1. e4 1-0[White \"b\"]\n\n1. d4 * [White \"c\"]\n\n1. c4 *",
                "1. e4 1-0\n\n[White \"b\"]\n\n1. d4 * \n\n[White \"c\"]\n\n1. c4 *",
            ),
            ("[A \"a\"b\"]\n\n1. e4 *", "[A \"a\\\"b\"]\n\n1. e4 *"),
            (
                "1. e4 *\n\n[A \"a\"b\\\"c\"]\r\n\r\n1. d4 *",
                "1. e4 *\n\n[A \"a\\\"b\\\"c\"]\n\r\n1. d4 *",
            ),
        ] {
            assert_eq!(read(text), rewritten);
            assert_eq!(cut(text), None, "{text}");
        }
    }

    #[test]
    fn a_value_of_a_tag_must_have_a_certain_end() {
        for tags in ["[A \"a\"b\"] [B \"b\"]", "[A \"a\"b\\\"]", "[A \"a\"b\" x]"] {
            let cut = import(tags.as_bytes()).unwrap_err();
            assert_eq!(cut.reason, SkipReason::BadTags, "{tags}");
        }
    }

    #[test]
    fn carriage_returns_alone_become_line_feeds() {
        assert!(matches!(with_line_feeds(b"a\r\nb\n"), Cow::Borrowed(_)));
        assert_eq!(&*with_line_feeds(b"a\rb\r\r\nc\r"), b"a\nb\n\r\nc\n");
    }

    #[test]
    fn quotes_in_a_tag_are_escaped_or_it_is_malformed() {
        for tag in [
            "[TimeControl \"15'/game & 10\"/move\"]",
            "\u{feff}[Event \"a\"b\"]",
            "[A \"a\"] [B \"b\"c\"]",
        ] {
            let header = format!("{tag}\n[FEN \"x\"]\n");
            assert!(has_malformed_tag(header.as_bytes()), "{tag}");
        }
        for tag in [
            "[A \"a\"]",
            "  [A  \"a\" ]\r",
            "[A \"a \\\"b\\\" \\\\\"]",
            "[A \"a\"] [B \"b\"]",
            "[A \"a\"] 1. e4 { \"x\" }",
            "[%eval 1]",
            "[A \"a",
            "[A \"a\"",
            "",
        ] {
            assert!(!has_malformed_tag(tag.as_bytes()), "{tag}");
        }
    }
}
