//! A game in a request: a start position and UCI moves; and FENs with missing fields.

use engine::cozy_chess::{Board, Move};
use engine::{FenError, Position, parse_fen, parse_move};
use serde::{Deserialize, Serialize};

use crate::error::RequestError;

/// A start position and the moves played from it.
#[derive(Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Game {
    /// FEN; `null` for the standard start.
    pub start: Option<String>,
    /// UCI moves.
    #[serde(default)]
    pub moves: Vec<String>,
}

impl Game {
    /// Returns the start position.
    pub fn opening(&self) -> Result<Board, RequestError> {
        opening(self.start.as_deref())
    }

    /// Plays the game and returns its last position; `each` gets the position before every move.
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

/// Parses the FEN of a start; `None` is the standard start.
pub fn opening(start: Option<&str>) -> Result<Board, RequestError> {
    Ok(match start {
        Some(fen) => read_fen(fen)?,
        None => Board::startpos(),
    })
}

/// Parses a FEN whose fields after the placement are optional. Defaults: White to move, and
/// castling rights wherever king and rook stand on their home squares.
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

/// Returns the castling rights, such as `KQkq` or `-`, of kings and rooks on home squares.
fn rights_at_home(placement: &str) -> String {
    // The squares of a rank, `.` for an empty one.
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
    fn parses_fens_with_missing_fields() {
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
