//! A look over a game's text before it is replayed.
//!
//! pgn-reader passes over words that it cannot read, as PGN readers do. For
//! labels that will not do: after an unread move, every later one would be
//! played on the wrong board, and might even be legal there.

use shakmaty::san::SanPlus;

/// The length of the part of a game's text that can be read: up to the first
/// word, outside comments and variations, that is neither a move nor a move
/// number, a glyph or a result.
pub(crate) fn readable(game: &[u8]) -> usize {
    let mut at = tags_end(game);
    let mut depth = 0u32;
    while let Some(&byte) = game.get(at) {
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
            b'[' if line_start => return game.len(),
            _ if is_separator(byte) => at += 1,
            _ => {
                let word = word(&game[at..]);
                if depth == 0 && !is_known(word) {
                    return at;
                }
                at += word.len();
            }
        }
    }
    game.len()
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
        let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let text = text.trim_ascii_start();
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

/// The word at the beginning of the text.
fn word(text: &[u8]) -> &[u8] {
    let ends = |b: &u8| is_separator(*b) || b"{}();!?$".contains(b);
    // The byte after the first may end it; the first is part of it.
    let length = text[1..]
        .iter()
        .position(ends)
        .map_or(text.len(), |at| at + 1);
    &text[..length]
}

/// Null moves that pgn-reader passes over as move numbers or glyphs. It reads `--` and `Z0`
/// as moves.
const NULL_MOVES: [&[u8]; 2] = [b"0000", b"@@@@"];

/// Returns whether a tag in `header` has an unescaped quote in its value. pgn-reader ends the
/// header there: a FEN tag below would be lost, and the moves played from the usual start.
pub(crate) fn has_malformed_tag(header: &[u8]) -> bool {
    let mut lines = header.split(|&byte| byte == b'\n');
    lines.any(|line| is_malformed_tag(line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)))
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
    if NULL_MOVES.contains(&word) {
        return false;
    }
    let number = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    let castling = word
        .strip_suffix(b"+")
        .or(word.strip_suffix(b"#"))
        .unwrap_or(word);
    !word.iter().any(u8::is_ascii_alphanumeric)
        || number(word.strip_prefix(b"$").unwrap_or(word))
        || matches!(word, b"1-0" | b"0-1" | b"1/2-1/2")
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

/// Whether the text ends where a game does: with a result.
pub fn ends_with_result(text: &[u8]) -> bool {
    let text = text.trim_ascii_end();
    [&b"1-0"[..], b"0-1", b"1/2-1/2", b"*"]
        .iter()
        .any(|result| {
            text.strip_suffix(*result)
                .is_some_and(|rest| rest.last().is_none_or(|b| b.is_ascii_whitespace()))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> &str {
        &text[..readable(text.as_bytes())]
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
        assert_eq!(read("3. exd6e.p. exd6"), "3. ");
    }

    #[test]
    fn null_moves_are_no_move_numbers() {
        for null in ["0000", "@@@@"] {
            assert_eq!(read(&format!("1. Kd2 {null} 2. Ne4")), "1. Kd2 ");
        }
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

    #[test]
    fn a_result_ends_a_game() {
        for text in ["e4 1-0\n\n", "e4 1/2-1/2", "*"] {
            assert!(ends_with_result(text.as_bytes()), "{text}");
        }
        for text in ["e4", "e4 { [%clk 0:00:30] }", "e11-0", ""] {
            assert!(!ends_with_result(text.as_bytes()), "{text}");
        }
    }
}
