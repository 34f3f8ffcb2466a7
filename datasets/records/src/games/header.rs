//! Tag sections, rewritten where pgn-reader would miss a tag.
//!
//! pgn-reader ends the tags at unexpected text between them. A FEN tag below would be lost, and the
//! moves played from the usual start position.

use crate::games::rewriter::Rewriter;
use crate::selection::names_start_tag;

/// UTF-8's byte order mark, which may begin a file.
pub(crate) const MARK: &[u8] = b"\xef\xbb\xbf";

/// Rewrites the tags that begin at `at`, with the blank and escaped lines between them. Returns
/// their end: after their last line, or after the last pair of a line that continues with movetext.
///
/// # Errors
/// The line at which the tags become ambiguous.
pub(crate) fn rewrite_tags<'a>(text: &mut Rewriter<'a>, mut at: usize) -> Result<usize, &'a [u8]> {
    let game = text.original();
    while at < game.len() {
        let end = memchr::memchr(b'\n', &game[at..]).map_or(game.len(), |end| at + end + 1);
        let line = &game[at..end];
        let content = without_mark(line);
        let content = &content[blanks(content)..];
        if !matches!(content.first(), None | Some(b'[' | b'%' | b';')) {
            break;
        }
        // pgn-reader expects a byte order mark only at the beginning.
        if at > 0 && line.starts_with(MARK) {
            text.replace(at, MARK.len(), b"");
        }
        let start = end - content.len();
        match content.first() {
            // pgn-reader would end the tags at a comment.
            Some(b';') => text.replace(start, content.len(), b""),
            Some(b'[') => {
                let behind = rewrite_pairs(text, start, end).ok_or(line)?;
                if behind < end {
                    return Ok(behind);
                }
            }
            _ => {}
        }
        at = end;
    }
    Ok(at)
}

/// Returns the end of the tags at the beginning of a game. `None` if pgn-reader would miss a tag
/// without rewriting.
pub(crate) fn tags_end(game: &[u8]) -> Option<usize> {
    let mut text = Rewriter::new(game);
    let end = rewrite_tags(&mut text, 0).ok()?;
    text.is_unchanged().then_some(end)
}

/// Rewrites the tag pairs of a line from `start` to `end`. Returns their end; `None` if it is
/// ambiguous.
fn rewrite_pairs(text: &mut Rewriter, start: usize, end: usize) -> Option<usize> {
    let game = text.original();
    let line = game[start..end].strip_suffix(b"\n");
    let line = line.unwrap_or(&game[start..end]);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut at = 0;
    loop {
        at += blanks(&line[at..]);
        let rest = &line[at..];
        match rest.first() {
            None => return Some(end),
            Some(b'[') => match pair(rest) {
                Pair::Ends(length) => at += length,
                Pair::WithoutBracket => {
                    text.replace(start + line.len(), 0, b"]");
                    return Some(end);
                }
                Pair::Malformed => {
                    text.replace(start, line.len(), &with_quotes_escaped(line)?);
                    return Some(end);
                }
            },
            // Further tags may follow a comment or a superfluous bracket.
            _ if rest[0] == b';' || rest.iter().all(|byte| b"] \t".contains(byte)) => {
                text.replace(start + at, rest.len(), b"");
                return Some(end);
            }
            _ => return Some(start + at),
        }
    }
}

/// A tag pair at the beginning of a text, as pgn-reader reads it.
enum Pair {
    /// Length of the pair in bytes. Without its closing quote or bracket it extends to the end of
    /// the line; a pair without a value is skipped.
    Ends(usize),
    /// A pair with neither value nor bracket.
    WithoutBracket,
    /// A pair with an unescaped quote or an escaped line end, or possibly a start-position tag that
    /// pgn-reader would skip.
    Malformed,
}

fn pair(line: &[u8]) -> Pair {
    let open = memchr::memchr2(b'"', b']', line).unwrap_or(line.len());
    let name = &line[1..open];
    let has_value = line.get(open) == Some(&b'"');
    if name.contains(&b'[') || !has_value && names_start_tag(name) {
        return Pair::Malformed;
    }
    if open == line.len() {
        return Pair::WithoutBracket;
    }
    let mut at = open + 1;
    if !has_value {
        return Pair::Ends(at);
    }
    loop {
        let Some(rest) = line.get(at..) else {
            return Pair::Malformed;
        };
        let Some(length) = memchr::memchr2(b'"', b'\\', rest) else {
            return Pair::Ends(line.len());
        };
        if rest[length] == b'\\' {
            at += length + 2;
            continue;
        }
        at += length + 1;
        at += blanks(&line[at..]);
        match line.get(at) {
            None => return Pair::Ends(at),
            Some(b']') => return Pair::Ends(at + 1),
            Some(_) => return Pair::Malformed,
        }
    }
}

/// Returns a one-tag line with the quotes in its value escaped; the last quote of the line ends the
/// value. `None` if that is ambiguous.
fn with_quotes_escaped(line: &[u8]) -> Option<Vec<u8>> {
    let tag = line.trim_ascii().strip_prefix(b"[")?;
    let name = tag.iter().take_while(|byte| is_of_name(byte)).count();
    let value = tag[name..].trim_ascii_start().strip_prefix(b"\"")?;
    let value = value.strip_suffix(b"\"]")?;
    let has_tag = memchr::memchr_iter(b'[', value)
        .any(|at| begins_tag(&value[at..]) || names_start_tag(&value[at + 1..]));
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
    escaped.extend_from_slice(b"\"]");
    Some(escaped)
}

/// Returns whether the text begins with a tag pair.
pub fn begins_tag(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"[") else {
        return false;
    };
    let name = rest.iter().take_while(|byte| is_of_name(byte)).count();
    let blanks = rest[name..].iter().take_while(|byte| b" \t".contains(byte));
    let begins = rest.first().is_some_and(u8::is_ascii_alphabetic);
    begins && rest.get(name + blanks.count()) == Some(&b'"')
}

fn is_of_name(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_+#=:-".contains(byte)
}

pub(crate) fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(MARK).unwrap_or(line)
}

/// Returns the number of leading bytes that pgn-reader skips between tags.
fn blanks(text: &[u8]) -> usize {
    let blanks = text.iter().take_while(|byte| b" \t\r\n".contains(byte));
    blanks.count()
}

/// Returns the length of the longest tag line of a text.
pub(crate) fn longest_tag(text: &[u8]) -> usize {
    let (mut start, mut longest) = (0, 0);
    for end in memchr::memchr_iter(b'\n', text).chain([text.len()]) {
        let line = &text[start..end];
        if without_mark(line).trim_ascii_start().starts_with(b"[") {
            longest = longest.max(line.len() + 1);
        }
        start = (end + 1).min(text.len());
    }
    longest
}

/// Returns the raw value of a tag at the beginning of a game.
pub(crate) fn tag_value<'a>(game: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let lines = game.split(|&byte| byte == b'\n');
    let mut lines = lines
        .map(|line| without_mark(line).trim_ascii())
        .take_while(|line| matches!(line.first(), None | Some(b'[' | b'%' | b';')));
    lines.find_map(|line| {
        let value = line.strip_prefix(b"[")?.strip_prefix(name.as_bytes())?;
        let value = value.strip_suffix(b"\"]")?;
        value.trim_ascii_start().strip_prefix(b"\"")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the rewritten tags and the text after them.
    fn rewritten(game: &str) -> Option<(String, &str)> {
        let mut text = Rewriter::new(game.as_bytes());
        let end = rewrite_tags(&mut text, 0).ok()?;
        let tags = text.end(end).into_owned();
        Some((String::from_utf8(tags).unwrap(), &game[end..]))
    }

    #[test]
    fn tags_that_pgn_reader_finds_stay() {
        for tags in [
            "[A \"a\"]\n",
            "\u{feff}  [A  \"a\" ]\r\n\r\n% x\n[ B \"b\"]",
            "[A \"a \\\"b\\\" \\\\\"]\n",
            "[A \"a\"] [B \"b\"]\n",
            "[%eval 1]\n",
            "[A a] [B \"b\"]\n",
            "[A \"a\n[B \"b\"\n",
            "\n",
            "",
        ] {
            assert_eq!(tags_end(tags.as_bytes()), Some(tags.len()), "{tags}");
        }
    }

    #[test]
    fn tags_are_rewritten() {
        for (tags, expected) in [
            ("[A \"a\"b\"]\r\n", "[A \"a\\\"b\"]\r\n"),
            ("\u{feff}[A \"a\"b\"]", "\u{feff}[A \"a\\\"b\"]"),
            ("[A \"a\"]\n\u{feff}[B \"b\"]\n", "[A \"a\"]\n[B \"b\"]\n"),
            ("[A \"a\"]; x\n;\n[B \"b\"]] \n", "[A \"a\"]\n[B \"b\"]\n"),
            ("[A a\n% x\n[B \"b\"]\n", "[A a]\n% x\n[B \"b\"]\n"),
        ] {
            assert_eq!(rewritten(tags), Some((expected.to_string(), "")), "{tags}");
            assert_eq!(tags_end(tags.as_bytes()), None, "{tags}");
        }
    }

    #[test]
    fn tags_end_behind_the_last_pair_of_a_line() {
        for (tags, movetext) in [
            ("[A \"a\"]\n\n", "1. e4 [x]\n"),
            ("[A \"a\"] ", "1. e4\n"),
            ("[A \"a\"]\n[B \"b\"] [C c] ", "{ x }\n[D \"d\"]\n"),
        ] {
            let expected = Some((tags.to_string(), movetext));
            assert_eq!(rewritten(&format!("{tags}{movetext}")), expected);
        }
    }

    #[test]
    fn ambiguous_tags_are_errors() {
        for tags in [
            "[A \"a\"b\"] [B \"b\"]",
            "[A \"a\"] [B \"b\"c\"]",
            "[A \"a\"b\\\"]",
            "[A \"a\"b\" x]",
            "[A \"a\\\n[B \"b\"]",
            "[A \"a\\\r\n",
            "[A [B \"b\"]",
            "[A \"a\" [ FEN\t\"b\"]",
            "[FEN \u{201c}b\u{201d}]",
            "[ setup 1]",
            "[Variant",
        ] {
            assert_eq!(rewritten(tags), None, "{tags}");
        }
    }

    #[test]
    fn the_longest_tag_may_be_of_any_game() {
        let text = b"[A \"a\"]\n\n1. e4 { a long comment } *\n\n [B \"bcdef\"]\n[C \"c\"]";
        assert_eq!(longest_tag(text), 13);
        assert_eq!(longest_tag(b"1. e4"), 0);
    }
}
