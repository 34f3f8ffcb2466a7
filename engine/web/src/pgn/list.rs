//! Splits a PGN text into games, without reading their moves.

use serde::Serialize;

use crate::error::RequestError;
use crate::pgn::tokens::{Token, Tokens};

/// An unparsed game.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct GameText {
    pub tags: Vec<(String, String)>,
    pub text: String,
}

/// Splits a PGN text into games.
///
/// # Errors
/// If it has none.
pub fn list(text: &str) -> Result<Vec<GameText>, RequestError> {
    let mut tokens = Tokens::of(text);
    let mut games = Vec::new();
    let mut begin = tokens.at();
    while let Some((end, tags)) = next_game(&mut tokens) {
        let text = text[begin..end].trim().to_string();
        begin = end;
        if let Some(tags) = tags {
            games.push(GameText { tags, text });
        }
    }
    match games.is_empty() {
        true => Err(RequestError::NoGame),
        false => Ok(games),
    }
}

type Tags = Vec<(String, String)>;

/// Returns the end of the next game and its tags; `None` for the tags if it is empty.
fn next_game(tokens: &mut Tokens) -> Option<(usize, Option<Tags>)> {
    let mut tags: Tags = Vec::new();
    let mut movetext = false;
    let mut any = false;
    loop {
        let before = tokens.at();
        let Some(token) = tokens.next() else {
            // The end of the text: nothing is left, or a game without a result.
            return any.then(|| (tokens.at(), kept(tags, movetext)));
        };
        any = true;
        match token {
            Token::Tag { name, value } => {
                let again = name == "Event" && tags.iter().any(|(known, _)| known == "Event");
                if movetext || again {
                    tokens.seek(before);
                    return Some((before, kept(tags, movetext)));
                }
                tags.push((name.to_string(), value));
            }
            Token::Result(_) if !tokens.closes() => {
                return Some((tokens.at(), kept(tags, movetext)));
            }
            Token::Move(_) | Token::Number { .. } => movetext = true,
            _ => {}
        }
    }
}

fn kept(tags: Tags, movetext: bool) -> Option<Tags> {
    (movetext || !tags.is_empty()).then_some(tags)
}
