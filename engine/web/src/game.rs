//! A game from its start and its moves, as the page asks about it.

use engine::cozy_chess::{Board, Move};
use engine::{FenError, Position, parse_fen, parse_move};
use serde::{Deserialize, Serialize};

use crate::error::RequestError;

/// A game so far.
#[derive(Deserialize, Serialize)]
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
        opening(self.start.as_deref())
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

/// The board of a FEN, or of the usual start.
pub fn opening(start: Option<&str>) -> Result<Board, RequestError> {
    Ok(match start {
        Some(fen) => read_fen(fen)?,
        None => Board::startpos(),
    })
}

/// Reads a FEN of which all but the placement may be missing: White is to move then, and a
/// king that stands at home with a rook may castle.
pub fn read_fen(text: &str) -> Result<Board, FenError> {
    let mut fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let rights;
    if fields.len() == 1 {
        fields.push("w");
    }
    if fields.len() == 2 {
        rights = rights_at_home(fields[0]);
        fields.push(&rights);
    }
    if fields.len() == 3 {
        fields.push("-");
    }
    parse_fen(&fields.join(" "))
}

/// `KQkq`, as far as kings and rooks of a placement stand where a game begins.
fn rights_at_home(placement: &str) -> String {
    // By rank, the files that are empty written as dots.
    let rank = |text: Option<&str>| -> Vec<char> {
        let mut squares = Vec::new();
        for symbol in text.unwrap_or_default().chars() {
            match symbol.to_digit(10) {
                Some(empty) => squares.extend(std::iter::repeat_n('.', empty as usize)),
                None => squares.push(symbol),
            }
        }
        squares
    };
    let (black, white) = (
        rank(placement.split('/').next()),
        rank(placement.split('/').next_back()),
    );
    let mut rights = String::new();
    for (squares, king, rook, letters) in [(&white, 'K', 'R', "KQ"), (&black, 'k', 'r', "kq")] {
        if squares.get(4) != Some(&king) {
            continue;
        }
        for (file, letter) in [7, 0].into_iter().zip(letters.chars()) {
            if squares.get(file) == Some(&rook) {
                rights.push(letter);
            }
        }
    }
    if rights.is_empty() {
        rights.push('-');
    }
    rights
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::write_fen;

    #[test]
    fn a_placement_alone_is_a_position() {
        let board = read_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR").unwrap();
        assert_eq!(board, Board::startpos());
        for (text, fen) in [
            ("4k2r/8/8/8/8/8/8/R3K3", "4k2r/8/8/8/8/8/8/R3K3 w Qk - 0 1"),
            ("4k3/8/8/8/8/8/8/K7 b", "4k3/8/8/8/8/8/8/K7 b - - 0 1"),
            ("4k2r/8/8/8/8/8/8/K7 b -", "4k2r/8/8/8/8/8/8/K7 b - - 0 1"),
        ] {
            assert_eq!(write_fen(&read_fen(text).unwrap()), fen);
        }
        for text in ["", "x", "8/8", "4k3/8/8/8/8/8/8/4K9"] {
            assert!(read_fen(text).is_err(), "{text}");
        }
    }
}
