//! Rewrites a game's text from PGN's import format to its export format, before pgn-reader
//! tokenises it.
//!
//! pgn-reader skips words that it cannot read, as PGN readers do. That would corrupt labels: after
//! a skipped move, every later one would be played on the wrong board, and might even be legal
//! there.

use std::borrow::Cow;
use std::fmt;

use shakmaty::san::SanPlus;

use crate::games::boundary::{self, is_behind_blank_line, is_line_start};
use crate::games::header::{begins_tag, rewrite_tags, tag_value};
use crate::games::rewriter::Rewriter;
use crate::games::spelling::{is_remark, result, spelled, with_letters};
use crate::selection::SkipReason;

/// Text of a game, and of further games in the same text, rewritten for pgn-reader.
#[derive(Debug)]
pub(crate) struct Imported<'a> {
    /// The readable part.
    pub(crate) text: Cow<'a, [u8]>,
    /// Reason that the text ends early; `None` if all of it was read.
    pub(crate) cut: Option<Cut>,
    /// Tags of a further game were found.
    pub(crate) has_further: bool,
}

/// Point at which a game became unreadable, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Why the game was cut.
    pub reason: SkipReason,
    /// Word or line at the cut, and the name of the game.
    pub example: String,
}

/// Rewrites a game's text up to the first word, outside comments and variations, that is neither a
/// move in a known spelling nor a move number, a glyph, a remark or a result. Unknown words after a
/// result are removed.
///
/// # Errors
/// [`SkipReason::BadTags`] if the game's tags are ambiguous.
pub(crate) fn import(game: &[u8]) -> Result<Imported<'_>, Cut> {
    let mut text = Rewriter::new(game);
    let bad_tags = |line, start: usize| Cut::at(SkipReason::BadTags, line, &game[start..]);
    let mut at = rewrite_tags(&mut text, 0).map_err(|line| bad_tags(line, 0))?;
    // Start of the current game's tags.
    let mut start = 0;
    let mut has_further = false;
    let mut depth = 0u32;
    let mut over = false;
    // Movetext has followed the tags.
    let mut begun = !game[..at].contains(&b'[');
    let mut behind_move = false;
    let cut = loop {
        let Some(&byte) = game.get(at) else {
            break None;
        };
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
            b'[' if is_line_start(game, at) || over && begins_tag(rest) => {
                let before = text.savepoint();
                if !line_start {
                    text.replace(at, 0, b"\n\n");
                }
                // Tags begin a further game, unless only a comment separates them from those above.
                let is_torn = !begun && !is_behind_blank_line(game, at);
                let tags = match is_torn {
                    true => Err(line(rest)),
                    false => rewrite_tags(&mut text, at),
                };
                has_further = true;
                match tags {
                    Ok(end) => (start, at) = (at, end),
                    Err(line) => {
                        text.rewind(before);
                        break Some(bad_tags(line, at));
                    }
                }
                (depth, over, begun, behind_move) = (0, false, false, false);
            }
            _ if is_separator(byte) => at += 1,
            _ if blank_length(rest) > 0 => {
                let length = blank_length(rest);
                text.replace(at, length, b" ");
                at += length;
            }
            _ if depth > 0 => at += word(rest).len(),
            _ => {
                let word = word(rest);
                let behind = &rest[word.len()..];
                let meaning = match meaning(word) {
                    Ok((Kind::Letter, _)) if !behind_move || may_begin_square(behind) => {
                        Err(SkipReason::UnreadableMove)
                    }
                    meaning => meaning,
                };
                let (kind, new) = match meaning {
                    Err(reason) if !over => {
                        break Some(Cut::at(reason, word, &game[start..]));
                    }
                    // A word after a result belongs to no game.
                    Err(_) => (Kind::Sign, Some(String::new())),
                    Ok(meaning) => meaning,
                };
                if let Some(new) = new {
                    text.replace(at, word.len(), new.as_bytes());
                    if !behind.is_empty() && !ends_word(behind) {
                        text.replace(at + word.len(), 0, b" ");
                    }
                }
                at += word.len();
                over |= kind == Kind::Result;
                if !matches!(kind, Kind::Sign | Kind::Letter) {
                    (begun, behind_move) = (true, kind == Kind::Move);
                }
            }
        }
    };
    Ok(Imported {
        text: text.end(at),
        cut,
        has_further,
    })
}

impl std::error::Error for Cut {}

/// Formats reason, word and game: `an illegal move: Ke4 in https://lichess.org/abcdefgh`.
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
    /// Returns a cut at a word or line of the game at the beginning of `game`.
    pub(crate) fn at(reason: SkipReason, word: &[u8], game: &[u8]) -> Cut {
        Cut::of(reason, word, |name| tag_value(game, name))
    }

    /// Returns a cut at a word or line of a game. `tag` looks up its tags.
    pub(crate) fn of<'a>(
        reason: SkipReason,
        word: &[u8],
        tag: impl Fn(&str) -> Option<&'a [u8]>,
    ) -> Cut {
        let value = |name| shown(tag(name).unwrap_or(b"?"));
        let name = match &*value("Site") {
            "?" | "" => format!("{} - {}", value("White"), value("Black")),
            site => site.to_string(),
        };
        let example = match &*shown(word.trim_ascii()) {
            "" => name,
            word => format!("{word} in {name}"),
        };
        Cut { reason, example }
    }
}

/// Most characters of a text that an example shows.
const EXAMPLE_CHARS: usize = 60;

/// Returns the beginning of a text, with control characters replaced: a terminal might obey them.
fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let harmless = |char: char| match char.is_control() {
        true => char::REPLACEMENT_CHARACTER,
        false => char,
    };
    text.chars().take(EXAMPLE_CHARS).map(harmless).collect()
}

/// Returns a text with only the white space that pgn-reader knows: lone carriage returns become
/// line feeds, form feeds and vertical tabs become blanks.
pub(crate) fn with_plain_space(text: &[u8]) -> Cow<'_, [u8]> {
    let plain = |at: usize| match text[at] {
        b'\r' if text.get(at + 1) == Some(&b'\n') => b'\r',
        b'\r' => b'\n',
        _ => b' ',
    };
    let spaces = || memchr::memchr3_iter(b'\r', b'\x0B', b'\x0C', text);
    if spaces().all(|at| text[at] == plain(at)) {
        return Cow::Borrowed(text);
    }
    let mut new = text.to_vec();
    for at in spaces() {
        new[at] = plain(at);
    }
    Cow::Owned(new)
}

fn line(text: &[u8]) -> &[u8] {
    &text[..skip_past(text, 0, b'\n')]
}

fn skip_past(game: &[u8], from: usize, end: u8) -> usize {
    memchr::memchr(end, &game[from..]).map_or(game.len(), |at| from + at + 1)
}

fn is_separator(byte: u8) -> bool {
    b" \t\r\n.".contains(&byte)
}

/// Returns the length in bytes of a leading non-ASCII space (no-break, narrow or zero-width), 0
/// without one.
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

/// Returns whether a text begins with the end of a word.
fn ends_word(text: &[u8]) -> bool {
    is_separator(text[0]) || b"{}();!?$".contains(&text[0]) || blank_length(text) > 0
}

/// Returns whether the next non-blank byte could continue a move after its piece letter.
fn may_begin_square(text: &[u8]) -> bool {
    let next = text.iter().find(|&&byte| !is_separator(byte));
    next.is_some_and(|byte| matches!(byte, b'a'..=b'h' | b'x' | b':') || !byte.is_ascii())
}

/// Returns the first word of a text.
fn word(text: &[u8]) -> &[u8] {
    // The first byte always belongs to the word.
    let mut ends = 1..text.len();
    let mut length = ends
        .find(|&at| ends_word(&text[at..]))
        .unwrap_or(text.len());
    // `e.p.` is one word, alone or after a move.
    let behind = &text[length..];
    if text[length - 1] == b'e' && behind.starts_with(b".p") {
        match behind[2..].first() {
            Some(b'.') => length += 3,
            Some(byte) if byte.is_ascii_alphanumeric() => {}
            _ => length += 2,
        }
    }
    // Tags of the next game may directly follow a result.
    let tag = memchr::memchr(b'[', &text[..length]).filter(|&at| begins_tag(&text[at..]));
    tag.filter(|&at| boundary::result(&text[..at]).is_some())
        .map_or(&text[..length], |at| &text[..at])
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Move,
    MoveNumber,
    Result,
    /// A glyph, sign or remark, which does not affect the moves.
    Sign,
    /// `N` or `D`: after a move a novelty or diagram, otherwise a piece letter.
    Letter,
}

/// Returns a word's kind, and its text in the export format, or `None` if pgn-reader handles the
/// word as it stands.
///
/// # Errors
/// The reason to cut the game, if the word is unknown.
fn meaning(word: &[u8]) -> Result<(Kind, Option<String>), SkipReason> {
    if let Some(kind) = known(word)? {
        return Ok((kind, None));
    }
    let (kind, new) = if let Some(san) = spelled(word) {
        (Kind::Move, san.to_string())
    } else if let Some(result) = result(word) {
        (Kind::Result, result.to_string())
    } else if matches!(word, b"N" | b"D") {
        (Kind::Letter, String::new())
    } else if is_remark(word) {
        (Kind::Sign, String::new())
    } else {
        return Err(SkipReason::UnreadableMove);
    };
    Ok((kind, Some(new)))
}

/// Null moves, at which a game is cut. pgn-reader would skip the first two as move numbers or
/// glyphs.
const NULL_MOVES: [&[u8]; 4] = [b"0000", b"@@@@", b"Z0", b"<>"];

/// Informator signs and other non-ASCII ones. Signs for an idea or a better move are not among
/// them: they precede moves that were not played.
const SIGNS: &str = "±∓⩲⩱∞□⊙⨀⟳↻○⊕⨁⊞⊥⟂⯹→↑⇄⇆≅«»‼⁇⁉⁈…–—−";

/// Returns the kind of a word that pgn-reader reads or rightly skips: moves, castling with zeros,
/// move numbers, results, `$4`, and signs such as `!?` or `+-`. `None` for other words.
///
/// # Errors
/// [`SkipReason::NullMove`].
fn known(word: &[u8]) -> Result<Option<Kind>, SkipReason> {
    let number = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    let castling = word
        .strip_suffix(b"+")
        .or(word.strip_suffix(b"#"))
        .unwrap_or(word);
    Ok(Some(if is_plain_move(castling) {
        Kind::Move
    } else if boundary::result(word).is_some() {
        Kind::Result
    } else if is_null_move(word) {
        return Err(SkipReason::NullMove);
    } else if number(word) {
        Kind::MoveNumber
    } else if is_sign(word) || word.strip_prefix(b"$").is_some_and(number) {
        Kind::Sign
    } else if matches!(castling, b"0-0" | b"0-0-0") || SanPlus::from_ascii(word).is_ok() {
        Kind::Move
    } else {
        return Ok(None);
    }))
}

/// Returns whether a word is a null move. Two or more hyphens or dashes are one.
fn is_null_move(word: &[u8]) -> bool {
    let is_dashes = || {
        let word = with_letters(std::str::from_utf8(word).unwrap_or_default());
        word.len() > 1 && word.bytes().all(|byte| byte == b'-')
    };
    let may_be = word[0] == b'-' || !word[0].is_ascii();
    NULL_MOVES.contains(&word) || may_be && is_dashes()
}

/// Returns whether a word is a sign. Words that begin with `[` or `%` are not: after blanks,
/// pgn-reader may skip more than the word.
fn is_sign(word: &[u8]) -> bool {
    let is_sign = |char: char| char.is_ascii_punctuation() || SIGNS.contains(char);
    let word = std::str::from_utf8(word);
    word.is_ok_and(|word| !word.starts_with(['[', '%']) && word.chars().all(is_sign))
}

/// Returns whether a word has one of the commonest shapes of a move, without parsing it.
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
        // Non-ASCII words, lone figurines and control characters.
        for word in [
            "♘ f3", "Кf3", "ｅ４", "∆ Nf3", "é", "\x0Ce4", "\x1b", "% x", "[ x",
        ] {
            assert_eq!(read(&format!("1. {word} e5")), "1. ", "{word}");
        }
        // A piece letter separated from its square by a blank.
        for moves in [
            "1. N f3",
            "1. e4 e5 2. D {x} f3",
            "1. N",
            "1. e4 N f6",
            "1. e4 D:d5",
        ] {
            assert_eq!(cut(moves).unwrap().0, SkipReason::UnreadableMove, "{moves}");
        }
        let game = "[Site \"?\"]\n[White \"w\"]\n[Black \"b\"]\n\n1. e4 Sf6 *";
        let example = "Sf6 in w - b".to_string();
        assert_eq!(cut(game), Some((SkipReason::UnreadableMove, example)));
        // A further game in the text is checked too.
        let games = "1. e4 *\n\n[Site \"s\"]\n\n1. e4 e5 2. Sf3 *";
        assert_eq!(read(games), games[..games.len() - 5]);
        let example = "Sf3 in s".to_string();
        assert_eq!(cut(games), Some((SkipReason::UnreadableMove, example)));
    }

    #[test]
    fn null_moves_are_not_move_numbers() {
        for null in ["0000", "@@@@", "--", "Z0", "––", "—-", "<>"] {
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
            (
                "1.\u{a0}e4\u{202f}D {x} e5! N 2. Nf3N",
                "1. e4  {x} e5!  2. Nf3",
            ),
            ("4. exd6e.p.Nc6 a8Qe.p.(x)", "4. exd6 Nc6 a8=Q(x)"),
            ("4. О-О о-о-о", "4. O-O O-O-O"),
            (
                "1. e4 ± e5 ⩲ 2. d4 +− ∞ – +/-",
                "1. e4 ± e5 ⩲ 2. d4 +− ∞ – +/-",
            ),
            ("[A \"a\"] 1. e2-e4 *", "[A \"a\"] 1. e2e4 *"),
            ("1. e4 * Sf3\n[B \"b\"]\n", "1. e4 * \n[B \"b\"]\n"),
            ("1. e4 *\n\u{feff}[B \"b\"]\n", "1. e4 *\n \n\n[B \"b\"]\n"),
            ("1. e4 (1. Sf3\u{a0}) e5 1–0", "1. e4 (1. Sf3 ) e5 1-0"),
            ("1. e4 ½-½", "1. e4 1/2-1/2"),
            (
                "1. e4 1-0[White \"b\"]\n\n1. d4 * [White \"c\"]\n\n1. c4 *",
                "1. e4 1-0\n\n[White \"b\"]\n\n1. d4 * \n\n[White \"c\"]\n\n1. c4 *",
            ),
            ("[A \"a\"b\"]\n\n1. e4 *", "[A \"a\\\"b\"]\n\n1. e4 *"),
            (
                "1. e4 *\n\n[A \"a\"b\\\"c\"]\r\n\r\n1. d4 *",
                "1. e4 *\n\n[A \"a\\\"b\\\"c\"]\r\n\r\n1. d4 *",
            ),
        ] {
            assert_eq!(read(text), rewritten);
            assert_eq!(cut(text), None, "{text}");
        }
    }

    #[test]
    fn ambiguous_tags_cut_the_text() {
        let wrong = "[FEN x]";
        assert_eq!(
            import(wrong.as_bytes()).unwrap_err().reason,
            SkipReason::BadTags
        );
        // Tags of a further game, and tags separated by a comment.
        for text in [
            "1. e4 *\n\n[FEN x]\n",
            "1. e4 * [A \"a\"b\"]\n[FEN x]\n",
            "[FEN \"x\"]\n{ x }\n[A \"a\"]\n\n1. e4",
        ] {
            assert_eq!(cut(text).unwrap().0, SkipReason::BadTags, "{text}");
        }
    }

    #[test]
    fn examples_name_their_own_game() {
        let games = "[Site \"a\"]\n\n1. e4 *\n\n[White \"\x1b[31m\"]\n\n1. \x07x";
        assert_eq!(cut(games).unwrap().1, "\u{fffd}x in \u{fffd}[31m - ?");
    }

    #[test]
    fn carriage_returns_alone_become_line_feeds() {
        assert!(matches!(with_plain_space(b"a\r\nb\n"), Cow::Borrowed(_)));
        assert_eq!(&*with_plain_space(b"a\rb\r\r\nc\r"), b"a\nb\n\r\nc\n");
        assert_eq!(&*with_plain_space(b"a\x0Bb\x0C\r\n"), b"a b \r\n");
    }
}
