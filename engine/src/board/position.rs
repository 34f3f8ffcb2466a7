//! The state of a game: the board and the keys that the repetition rule needs; moves in UCI
//! notation.

use cozy_chess::{Board, Color, File, Move, Piece, Rank, Square};
use thiserror::Error;

use crate::board::{FenError, parse_fen, position_key};

/// A move that cannot be played.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum MoveError {
    /// Text that is not of the form `e2e4` or `e7e8q`.
    #[error("{0:?} is not a move, which is written like e2e4 or e7e8q")]
    Unreadable(String),
    /// A well-formed move that is illegal in the position.
    #[error("move {0} is illegal here")]
    Illegal(String),
}

/// A board and the keys of the positions that led to it.
#[derive(Clone, Debug)]
pub struct Position {
    board: Board,
    earlier: Vec<u64>,
}

impl Position {
    /// Returns the start of a standard game.
    pub fn startpos() -> Position {
        Position::of(Board::startpos())
    }

    /// Parses a FEN as a position without history.
    ///
    /// # Errors
    /// As [`parse_fen`].
    pub fn from_fen(fen: &str) -> Result<Position, FenError> {
        Ok(Position::of(parse_fen(fen)?))
    }

    /// Returns a position without history.
    pub fn of(board: Board) -> Position {
        Position {
            board,
            earlier: Vec::new(),
        }
    }

    /// Returns the current board.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Returns the keys of the positions since the last capture or pawn move, oldest first, without
    /// the current one.
    pub fn earlier_keys(&self) -> &[u64] {
        &self.earlier
    }

    /// Plays a legal move.
    ///
    /// # Errors
    /// [`MoveError::Illegal`]; the position is then unchanged.
    pub fn play(&mut self, mv: Move) -> Result<(), MoveError> {
        let key = position_key(&self.board);
        self.board
            .try_play(mv)
            .map_err(|_| MoveError::Illegal(mv.to_string()))?;
        self.earlier.push(key);
        if self.board.halfmove_clock() == 0 {
            self.earlier.clear();
        }
        Ok(())
    }

    /// Returns how often the current position has occurred, this time included.
    pub fn occurrences(&self) -> usize {
        let key = position_key(&self.board);
        1 + self
            .earlier
            .iter()
            .filter(|&&earlier| earlier == key)
            .count()
    }
}

/// Parses a move in UCI notation: castling as `e1g1` or as king takes rook. The result is legal on
/// `board` and castles as king takes rook.
///
/// # Errors
/// [`MoveError::Unreadable`] for malformed text, [`MoveError::Illegal`] for an illegal move.
pub fn parse_move(board: &Board, text: &str) -> Result<Move, MoveError> {
    let unreadable = || MoveError::Unreadable(text.chars().take(10).collect());
    let promotes = text.ends_with(['n', 'b', 'r', 'q']);
    if !text.is_ascii() || text.len() != 4 + usize::from(promotes) {
        return Err(unreadable());
    }
    let mv: Move = text.parse().map_err(|_| unreadable())?;
    [Some(mv), king_takes_rook(board, mv)]
        .into_iter()
        .flatten()
        .find(|&candidate| board.is_legal(candidate))
        .ok_or_else(|| MoveError::Illegal(text.to_string()))
}

/// Returns castling given as `e1g1` in the form `e1h1`; `None` unless the king steps to the g or c
/// file and has the right.
fn king_takes_rook(board: &Board, mv: Move) -> Option<Move> {
    let mover = board.side_to_move();
    let home = Rank::First.relative_to(mover);
    if board.king(mover) != mv.from || mv.to.rank() != home {
        return None;
    }
    let rights = board.castle_rights(mover);
    let rook = match mv.to.file() {
        File::G => rights.short?,
        File::C => rights.long?,
        _ => return None,
    };
    Some(Move {
        to: Square::new(rook, home),
        ..mv
    })
}

/// Returns a move in UCI notation. Castling is king takes rook under `chess960`, and wherever
/// `e1g1` would be ambiguous.
pub fn write_move(board: &Board, mv: Move, chess960: bool) -> String {
    let castles = is_castling(board, mv);
    let standard = mv.from.file() == File::E && matches!(mv.to.file(), File::A | File::H);
    if !castles || chess960 || !standard {
        return mv.to_string();
    }
    let file = if mv.to.file() == File::H {
        File::G
    } else {
        File::C
    };
    Move {
        to: Square::new(file, mv.to.rank()),
        ..mv
    }
    .to_string()
}

/// Returns whether a legal move castles.
pub fn is_castling(board: &Board, mv: Move) -> bool {
    let mover: Color = board.side_to_move();
    board.colored_pieces(mover, Piece::King).has(mv.from) && board.colors(mover).has(mv.to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_castling_in_both_notations() {
        let board = parse_fen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1").unwrap();
        for (text, inner) in [("e1g1", "e1h1"), ("e1h1", "e1h1"), ("e1c1", "e1a1")] {
            let mv = parse_move(&board, text).unwrap();
            assert_eq!(mv.to_string(), inner);
            assert_eq!(write_move(&board, mv, true), inner);
        }
        let short = parse_move(&board, "e1g1").unwrap();
        assert_eq!(write_move(&board, short, false), "e1g1");
    }

    #[test]
    fn a_king_step_is_not_castling() {
        let board = parse_fen("1k6/8/8/8/8/8/8/R4K1R w HA - 0 1").unwrap();
        assert_eq!(parse_move(&board, "f1g1").unwrap().to_string(), "f1g1");
        let castles = parse_move(&board, "f1h1").unwrap();
        assert_eq!(write_move(&board, castles, false), "f1h1");
    }

    #[test]
    fn refuses_unreadable_and_illegal_moves() {
        let board = Board::startpos();
        for text in ["", "e2", "e2e4k", "e2e4qq", "i2i4", "0000", "héé4", "e2e44"] {
            assert!(
                matches!(parse_move(&board, text), Err(MoveError::Unreadable(_))),
                "{text}"
            );
        }
        for text in ["e2e5", "e7e5", "e1g1", "e2e4q", "d1d3"] {
            assert!(
                matches!(parse_move(&board, text), Err(MoveError::Illegal(_))),
                "{text}"
            );
        }
        let promotion = parse_fen("8/4P1k1/8/8/8/8/8/4K3 w - - 0 1").unwrap();
        assert!(parse_move(&promotion, "e7e8q").is_ok());
        assert!(parse_move(&promotion, "e7e8").is_err());
    }

    #[test]
    fn occurrences_count_until_a_pawn_moves() {
        let mut position = Position::startpos();
        let mut play = |moves: &str| {
            for text in moves.split(' ') {
                let mv = parse_move(position.board(), text).unwrap();
                position.play(mv).unwrap();
            }
            position.occurrences()
        };
        assert_eq!(play("g1f3 g8f6 f3g1 f6g8"), 2);
        assert_eq!(play("g1f3 g8f6 f3g1 f6g8"), 3);
        assert_eq!(play("e2e4"), 1);
    }
}
