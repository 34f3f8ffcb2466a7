//! Openings as games in PGN: the position after the last move counts.
//!
//! Comments, variations and glyphs are passed over. Only what books are made
//! of is read: nobody has to be told who played.

use cozy_chess::{Board, util};
use engine::{FenError, Position, parse_fen};
use thiserror::Error;

/// Why a book of games was refused.
#[derive(Debug, Error)]
pub enum GameError {
    /// The start of a game is no position.
    #[error("game {game}: {source}")]
    Start {
        /// Counted from 1.
        game: usize,
        /// What is wrong with its FEN.
        source: FenError,
    },
    /// A word of a game is no legal move.
    #[error("game {game}: {word:?} is no legal move")]
    Move {
        /// Counted from 1.
        game: usize,
        /// The word.
        word: String,
    },
}

/// The last positions of all games.
///
/// # Errors
/// [`GameError`] says which game is wrong.
pub fn last_positions(text: &str) -> Result<Vec<Board>, GameError> {
    let mut games = Vec::new();
    let mut present: Option<Position> = None;
    let (mut depth, mut moved) = (0u32, false);
    for token in Tokens(text) {
        // Without a result, a tag behind moves or another FEN begins the next game,
        // even where a variation was not closed.
        let ends = match token {
            Token::Tag(name, _) => {
                depth = 0;
                moved || is_fen(name)
            }
            Token::Result => depth == 0,
            _ => false,
        };
        if ends {
            games.extend(present.take().map(|position| position.board().clone()));
            moved = false;
        }
        let game = games.len() + 1;
        match token {
            Token::Tag(name, fen) if is_fen(name) => {
                let start = parse_fen(fen).map_err(|source| GameError::Start { game, source })?;
                present = Some(Position::of(start));
            }
            Token::Open => depth += 1,
            Token::Close => depth = depth.saturating_sub(1),
            Token::Word(word) if depth == 0 => {
                let position = present.get_or_insert_with(Position::startpos);
                play(position, word).ok_or_else(|| GameError::Move {
                    game,
                    word: word.chars().take(10).collect(),
                })?;
                moved = true;
            }
            Token::Tag(..) | Token::Word(_) | Token::Result => {}
        }
    }
    games.extend(present.map(|position| position.board().clone()));
    Ok(games)
}

/// Whether a tag of this name gives the start. Letter case does not count: below a FEN that is
/// overlooked the moves would be played from the usual start.
fn is_fen(name: &str) -> bool {
    name.eq_ignore_ascii_case("FEN")
}

fn play(position: &mut Position, san: &str) -> Option<()> {
    let mv = util::parse_san_move(position.board(), san.trim_end_matches(['!', '?'])).ok()?;
    position.play(mv).ok()
}

enum Token<'a> {
    /// A name and its value, which stays as it is written.
    Tag(&'a str, &'a str),
    Word(&'a str),
    /// Of a variation.
    Open,
    Close,
    Result,
}

struct Tokens<'a>(&'a str);

impl<'a> Tokens<'a> {
    /// Takes off everything before the first `end`, and that one itself.
    fn take_until(&mut self, end: char) -> &'a str {
        let (taken, rest) = self.0.split_once(end).unwrap_or((self.0, ""));
        self.0 = rest;
        taken
    }

    /// Takes off a tag behind its bracket. Several may stand on a line; what is
    /// no tag goes to the line's end.
    fn take_tag(&mut self) -> (&'a str, &'a str) {
        let line = self.0.lines().next().unwrap_or_default();
        let parts = line.split_once('"').and_then(|(name, rest)| {
            let (value, _) = rest.split_once("\"]")?;
            Some((name, value))
        });
        let Some((name, value)) = parts else {
            self.take_until('\n');
            return ("", "");
        };
        self.0 = &self.0[name.len() + 1 + value.len() + 2..];
        (name.trim(), value)
    }

    /// Takes off a word.
    fn take_word(&mut self) -> &'a str {
        let ends = |symbol: char| symbol.is_whitespace() || "{}()[];".contains(symbol);
        let (word, rest) = self.0.split_at(self.0.find(ends).unwrap_or(self.0.len()));
        self.0 = rest;
        word
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            self.0 = self.0.trim_start();
            let first = self.0.chars().next()?;
            if !"[{;()}]".contains(first) {
                match self.take_word() {
                    "1-0" | "0-1" | "1/2-1/2" | "*" => return Some(Token::Result),
                    // A null move is no move number: what follows is the other side's.
                    "0000" => return Some(Token::Word("0000")),
                    // With zeros, as some write it.
                    word if word.starts_with("0-0-0") => return Some(Token::Word("O-O-O")),
                    word if word.starts_with("0-0") => return Some(Token::Word("O-O")),
                    word => {
                        // Move numbers fall away.
                        let number = |symbol: char| symbol.is_ascii_digit() || symbol == '.';
                        let word = word.trim_start_matches(number);
                        if !word.is_empty() && !word.starts_with('$') {
                            return Some(Token::Word(word));
                        }
                        continue;
                    }
                }
            }
            self.0 = &self.0[1..];
            match first {
                '[' => {
                    let (name, value) = self.take_tag();
                    return Some(Token::Tag(name, value));
                }
                '{' => drop(self.take_until('}')),
                ';' => drop(self.take_until('\n')),
                '(' => return Some(Token::Open),
                ')' => return Some(Token::Close),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::write_fen;

    fn fens(text: &str) -> Vec<String> {
        last_positions(text)
            .unwrap()
            .iter()
            .map(write_fen)
            .collect()
    }

    #[test]
    fn comments_variations_and_glyphs_are_passed_over() {
        let text = "[Event \"a [b] {c}\"]\n[Result \"*\"]\n\n1. e4 {best; (by test)} 1... c5!? $14 (1... e5 \
                    2. Nf3 (2. f4 exf4) 2... Nc6) ; 2. f4\n2.Nf3 *\n\n[Event \"?\"]\n\n1. d4 d5\n\n\
                    [FEN \"8/P6k/8/8/8/8/8/R3K3 w Q - 0 40\"]\n[Result \"1-0\"]\n40. O-O-O Kg8 41. a8=Q+ 1-0\n";
        assert_eq!(
            fens(text),
            [
                "rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2",
                "rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w KQkq d6 0 2",
                "Q5k1/8/8/8/8/8/8/2KR4 b - - 0 41",
            ]
        );
    }

    #[test]
    fn games_are_read_as_people_write_them() {
        let castled = "r3k2r/8/8/8/8/8/8/R4RK1 b kq - 1 1";
        let fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
        for text in [
            format!("[White \"a\"] [SetUp \"1\"][FEN \"{fen}\"]\n\n1. 0-0 *"),
            format!("[Round ]\n[White \"a \\\"b\\\" c\"]\n[FEN \"{fen}\"]1.O-O *"),
            format!("[FEN \"{castled}\"]\n*"),
            format!("[SETUP \"1\"]\n[Fen \"{fen}\"]\n\n1. O-O *"),
        ] {
            assert_eq!(fens(&text), [castled], "{text}");
        }
        // Games without moves, some without a result.
        let bare = [fen, castled, fen].map(|fen| format!("[Round \"1\"]\n[FEN \"{fen}\"]\n"));
        let text = format!("{}\n*\n\n{}\n\n{}", bare[0], bare[1], bare[2]);
        assert_eq!(fens(&text), [fen, castled, fen]);
        let open = "[Round \"1\"]\n1. e4 (1. d4 (1. c4) *\n\n[Round \"2\"]\n1. d4 *\n1. c4 *";
        assert_eq!(fens(open).len(), 3, "a variation is not closed");
        let text = format!("[FEN \"{fen}\"]\n1. Rb1 0-0-0+ 2. Ra1 *");
        assert_eq!(fens(&text), ["2kr3r/8/8/8/8/8/8/R3K2R b K - 3 2"]);
    }

    #[test]
    fn refused_games_are_named() {
        for (text, reason) in [
            ("1. e4 *\n1. e4 e4 *", "game 2: \"e4\""),
            ("[FEN \"8/8 w\"]\n*", "game 1: "),
            ("what is this", "game 1: \"what\""),
            ("1. e4 0000 2. d4 *", "game 1: \"0000\""),
        ] {
            let error = last_positions(text).unwrap_err().to_string();
            assert!(error.starts_with(reason), "{error}");
        }
        assert!(fens("").is_empty());
    }
}
