//! Tokenizer of PGN texts.

use std::borrow::Cow;

/// A PGN token.
#[derive(Clone, Debug, PartialEq)]
pub enum Token<'a> {
    /// A tag pair.
    Tag { name: &'a str, value: String },
    /// A comment in braces or after a semicolon.
    Comment(Cow<'a, str>),
    /// A comment without its closing brace, up to the next game's tags or the end.
    OpenComment(&'a str),
    /// `(`
    Open,
    /// `)`
    Close,
    /// A glyph (NAG), such as `$4` or `??`.
    Glyph(u8),
    /// A move number; `black` after more than one dot.
    Number { number: u32, black: bool },
    /// The game's result.
    Result(&'static str),
    /// A word in some move notation, legal or not.
    Move(&'a str),
    /// Any other word.
    Other(&'a str),
}

const RESULTS: [(&str, &str); 7] = [
    ("1/2-1/2", "1/2-1/2"),
    ("1-0", "1-0"),
    ("0-1", "0-1"),
    ("1–0", "1-0"),
    ("0–1", "0-1"),
    ("½-½", "1/2-1/2"),
    ("*", "*"),
];

/// Null moves in the notations of other programs.
const NULL_MOVES: [&str; 5] = ["--", "Z0", "0000", "@@@@", "null"];

/// Glyphs written as signs; a sign comes after the longer ones that it begins.
const SIGNS: [(&str, u8); 21] = [
    ("!!", 3),
    ("??", 4),
    ("!?", 5),
    ("?!", 6),
    ("!", 1),
    ("?", 2),
    ("‼", 3),
    ("⁇", 4),
    ("⁉", 5),
    ("⁈", 6),
    ("□", 7),
    ("∞", 13),
    ("⩲", 14),
    ("⩱", 15),
    ("±", 16),
    ("∓", 17),
    ("+-", 18),
    ("-+", 19),
    ("+=", 14),
    ("=+", 15),
    ("=", 10),
];

/// Iterator over the tokens of a text.
pub struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    pub fn of(text: &'a str) -> Tokens<'a> {
        let byte_order_mark = '\u{feff}';
        let at = text.len() - text.trim_start_matches(byte_order_mark).len();
        Tokens { text, at }
    }

    /// Returns the current byte offset.
    pub fn at(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Continues at a byte offset.
    pub fn seek(&mut self, at: usize) {
        self.at = at;
    }

    /// Returns whether the next token is a closing parenthesis.
    pub fn closes(&self) -> bool {
        self.rest().trim_start().starts_with(')')
    }

    fn take(&mut self, length: usize) -> &'a str {
        let taken = &self.rest()[..length];
        self.at += length;
        taken
    }

    /// Skips whitespace and lines that begin with `%`, the escape of the PGN standard.
    fn skip(&mut self) {
        loop {
            let blank = |c: char| c.is_whitespace() || c == '\u{feff}';
            self.at = self.text.len() - self.rest().trim_start_matches(blank).len();
            let begins = self.at == 0 || self.text[..self.at].ends_with('\n');
            if !(begins && self.rest().starts_with('%')) {
                return;
            }
            let line = self.rest().find('\n').unwrap_or(self.rest().len());
            self.at += line;
        }
    }

    fn tag(&mut self) -> Option<Token<'a>> {
        let (name, value, length) = tag(self.rest())?;
        self.at += length;
        Some(Token::Tag { name, value })
    }

    fn comment(&mut self) -> Token<'a> {
        let body = &self.rest()[1..];
        let close = body.find('}');
        // Tags of the next game inside the comment mean that its brace is missing.
        let next = next_tags(&body[..close.unwrap_or(body.len())]);
        match (next, close) {
            (None, Some(close)) => {
                self.at += close + 2;
                Token::Comment(Cow::Borrowed(&body[..close]))
            }
            (next, _) => {
                let end = next.unwrap_or(body.len());
                self.at += 1 + end;
                Token::OpenComment(&body[..end])
            }
        }
    }

    fn number(&mut self) -> Option<Token<'a>> {
        let rest = self.rest();
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let after = &rest[digits..];
        let dots = after.len() - after.trim_start_matches(['.', '…']).len();
        if digits == 0 || dots == 0 {
            return None;
        }
        let black = after.starts_with("..") || after.starts_with('…');
        let number = rest[..digits].parse().unwrap_or(0);
        self.at += digits + dots;
        Some(Token::Number { number, black })
    }

    fn sign(&mut self) -> Option<Token<'a>> {
        let (sign, glyph) = (SIGNS.iter()).find(|(sign, _)| self.rest().starts_with(sign))?;
        self.at += sign.len();
        Some(Token::Glyph(*glyph))
    }

    fn result(&mut self) -> Option<Token<'a>> {
        let (text, result) = (RESULTS.iter()).find(|(text, _)| {
            let after = self.rest().strip_prefix(text);
            after.is_some_and(|after| !after.starts_with(|c: char| c.is_ascii_alphanumeric()))
        })?;
        self.at += text.len();
        Some(Token::Result(result))
    }

    fn word(&mut self) -> Token<'a> {
        let ends = |c: char| c.is_whitespace() || "{}()[];$!?‼⁇⁉⁈□∞⩲⩱±∓".contains(c);
        let rest = self.rest();
        let first = rest.chars().next().map_or(1, char::len_utf8);
        let length = rest[first..].find(ends).map_or(rest.len(), |at| at + first);
        let word = self.take(length);
        match looks_like_move(word) {
            true => Token::Move(word),
            false => Token::Other(word),
        }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.skip();
        let first = self.rest().chars().next()?;
        let special = match first {
            '[' => self.tag(),
            '{' => Some(self.comment()),
            ';' => {
                let line = self.rest().find('\n').unwrap_or(self.rest().len());
                let body = &self.take(line)[1..];
                // Braces are allowed here; `comment_text` replaces them on writing.
                Some(Token::Comment(Cow::Borrowed(body)))
            }
            '(' | ')' => {
                self.at += 1;
                Some(match first {
                    '(' => Token::Open,
                    _ => Token::Close,
                })
            }
            '$' => {
                let digits = self.rest()[1..].trim_start_matches(|c: char| c.is_ascii_digit());
                let length = self.rest().len() - digits.len();
                let text = self.take(length);
                Some(match text[1..].parse() {
                    Ok(glyph) => Token::Glyph(glyph),
                    Err(_) => Token::Other(text),
                })
            }
            _ => None,
        };
        special
            .or_else(|| self.result())
            .or_else(|| self.number())
            .or_else(|| self.sign())
            .or_else(|| Some(self.word()))
    }
}

/// Returns whether a word is a move in some notation, legal or not.
fn looks_like_move(word: &str) -> bool {
    let castles = ["O-O", "0-0", "o-o"]
        .iter()
        .any(|start| word.starts_with(start));
    let bytes = word.as_bytes();
    let square = |pair: &[u8]| matches!(pair, [b'a'..=b'h', b'1'..=b'8']);
    castles || NULL_MOVES.contains(&word) || bytes.windows(2).any(square)
}

/// Parses a tag pair at the beginning of a text; returns name, value and length in bytes.
fn tag(text: &str) -> Option<(&str, String, usize)> {
    let body = text.strip_prefix('[')?.trim_start_matches([' ', '\t']);
    let name_end = body.find(|c: char| !(c.is_ascii_alphanumeric() || "_+#=:-".contains(c)))?;
    let (name, after) = body.split_at(name_end);
    let quoted = after.trim_start_matches([' ', '\t']).strip_prefix('"')?;
    if name.is_empty() {
        return None;
    }
    let line_end = quoted.find(['\n', '\r']).unwrap_or(quoted.len());
    let line = &quoted[..line_end];
    let strict = quote_end(line).filter(|&end| line[end + 1..].trim_start().starts_with(']'));
    // With unescaped quotes in the value, the line's last quote ends it.
    let last = || {
        line.rfind('"')
            .filter(|&end| line[end + 1..].trim_start().starts_with(']'))
    };
    let end = strict.or_else(last)?;
    let bracket = end + 1 + line[end + 1..].find(']')? + 1;
    let value = unescape(&line[..end]);
    Some((name, value, text.len() - quoted.len() + bracket))
}

/// Returns the offset of the first unescaped quote.
fn quote_end(line: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(at),
            _ => {}
        }
    }
    None
}

fn unescape(value: &str) -> String {
    let mut text = String::new();
    let mut chars = value.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(&next @ ('"' | '\\')) if c == '\\' => {
                text.push(next);
                chars.next();
            }
            _ => text.push(c),
        }
    }
    text
}

/// Returns the offset of another game's tags within a comment: a tag pair after an empty line.
fn next_tags(text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(found) = text[from..].find("\n[") {
        let at = from + found + 1;
        let empty_line = text[..at - 1]
            .trim_end_matches([' ', '\t', '\r'])
            .ends_with('\n');
        if empty_line && tag(&text[at..]).is_some() {
            return Some(at);
        }
        from = at;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token<'_>> {
        Tokens::of(text).collect()
    }

    #[test]
    fn splits_a_text_into_tokens() {
        let text = "\u{feff}[Event \"A \\\"b\\\" \\\\\"]\n% no word\n1.e4!? {a (b} 1...e5 $14 (2. ♘f3; x }\n) 1/2-1/2";
        let expected = [
            Token::Tag {
                name: "Event",
                value: "A \"b\" \\".to_string(),
            },
            Token::Number {
                number: 1,
                black: false,
            },
            Token::Move("e4"),
            Token::Glyph(5),
            Token::Comment("a (b".into()),
            Token::Number {
                number: 1,
                black: true,
            },
            Token::Move("e5"),
            Token::Glyph(14),
            Token::Open,
            Token::Number {
                number: 2,
                black: false,
            },
            Token::Move("♘f3"),
            Token::Comment(" x }".into()),
            Token::Close,
            Token::Result("1/2-1/2"),
        ];
        assert_eq!(tokens(text), expected);
    }

    #[test]
    fn castling_with_zeros_is_not_a_result() {
        let expected = [
            Token::Move("0-0"),
            Token::Move("0-0-0+"),
            Token::Result("0-1"),
        ];
        assert_eq!(tokens("0-0 0-0-0+ 0-1"), expected);
    }

    #[test]
    fn accepts_unescaped_quotes_in_values() {
        let expected = [Token::Tag {
            name: "Event",
            value: "Rated \"Blitz\" game".to_string(),
        }];
        assert_eq!(tokens("[Event \"Rated \"Blitz\" game\"]"), expected);
        let two = tokens("[White \"A\"] [Black \"B\"]");
        assert_eq!(two.len(), 2);
    }

    #[test]
    fn an_open_comment_ends_before_the_next_game() {
        let text = "1. e4 {open\n\n[Event \"next\"]\n\n1. d4 {closed} *";
        let kinds: Vec<bool> = (tokens(text).iter())
            .map(|token| matches!(token, Token::OpenComment("open\n\n")))
            .collect();
        assert_eq!(kinds.iter().filter(|&&open| open).count(), 1);
        assert_eq!(tokens("{a"), [Token::OpenComment("a")]);
    }
}
