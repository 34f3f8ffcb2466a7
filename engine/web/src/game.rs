//! A game from its start and its moves, as the page keeps it.

use engine::cozy_chess::{Board, Move};
use engine::{Position, parse_fen, parse_move};
use serde::Deserialize;

use crate::error::RequestError;

/// A game so far.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Game {
    /// A FEN; `null` for the usual start.
    pub start: Option<String>,
    /// As UCI writes them.
    #[serde(default)]
    pub moves: Vec<String>,
}

impl Game {
    /// The board that the game begins with.
    pub fn opening(&self) -> Result<Board, RequestError> {
        Ok(match &self.start {
            Some(fen) => parse_fen(fen)?,
            None => Board::startpos(),
        })
    }

    /// Plays the game, and tells of every move before it is made.
    pub fn replay(&self, mut each: impl FnMut(&Position, Move)) -> Result<Position, RequestError> {
        let mut position = Position::of(self.opening()?);
        for text in &self.moves {
            let mv = parse_move(position.board(), text)?;
            each(&position, mv);
            position.play(mv)?;
        }
        Ok(position)
    }
}
