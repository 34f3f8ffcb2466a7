//! Players that do not search: fixed points to measure learners by.

use std::fmt;
use std::str::FromStr;

use cozy_chess::{Board, Move, Piece};
use engine::{legal_moves, position_key};

/// A player without search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginner {
    /// Plays any legal move.
    Random,
    /// Takes the most valuable piece that it can; else plays any legal move.
    Greedy,
}

impl FromStr for Beginner {
    type Err = String;

    fn from_str(text: &str) -> Result<Beginner, String> {
        match text {
            "random" => Ok(Beginner::Random),
            "greedy" => Ok(Beginner::Greedy),
            _ => Err(format!("a beginner is random or greedy, not {text:?}")),
        }
    }
}

impl fmt::Display for Beginner {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Beginner::Random => "random",
            Beginner::Greedy => "greedy",
        })
    }
}

impl Beginner {
    /// Returns the move to play; `None` if there is none. Equal positions with equal move numbers
    /// get equal moves, so that games can be played again.
    pub fn best_move(self, board: &Board) -> Option<Move> {
        let moves = legal_moves(board);
        let taken = |mv: &Move| match self {
            Beginner::Random => None,
            Beginner::Greedy => captured(board, *mv),
        };
        let most = moves.iter().map(taken).max()?;
        let candidates: Vec<&Move> = moves.iter().filter(|mv| taken(mv) == most).collect();
        let seed = position_key(board) ^ u64::from(board.fullmove_number());
        fastrand::Rng::with_seed(seed).choice(candidates).copied()
    }
}

/// Returns the piece that a legal move captures, if any.
fn captured(board: &Board, mv: Move) -> Option<Piece> {
    match board.color_on(mv.to) {
        // Castling goes to the square of the own rook.
        Some(color) => (color != board.side_to_move()).then(|| board.piece_on(mv.to))?,
        None => {
            let en_passant = mv.from.file() != mv.to.file();
            (en_passant && board.piece_on(mv.from) == Some(Piece::Pawn)).then_some(Piece::Pawn)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::parse_fen;
    use std::collections::HashSet;

    #[test]
    fn the_greedy_one_takes_the_most_valuable_piece() {
        // Queen and rook hang; castling is legal.
        let board = parse_fen("4k3/8/8/1q3r2/2P1P3/8/8/R3K2R w KQ - 0 1").unwrap();
        let mv = Beginner::Greedy.best_move(&board).unwrap();
        assert_eq!(mv.to_string(), "c4b5");
        let passing = parse_fen("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1").unwrap();
        let mv = Beginner::Greedy.best_move(&passing).unwrap();
        assert_eq!(mv.to_string(), "e5d6");
    }

    #[test]
    fn without_captures_any_move_is_as_good_as_another() {
        for beginner in [Beginner::Random, Beginner::Greedy] {
            let moves: HashSet<String> = (1..500)
                .map(|number| {
                    let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0";
                    let board = parse_fen(&format!("{fen} {number}")).unwrap();
                    beginner.best_move(&board).unwrap().to_string()
                })
                .collect();
            assert_eq!(moves.len(), 20);
        }
    }

    #[test]
    fn nobody_moves_after_the_end() {
        let mated = parse_fen("R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1").unwrap();
        assert_eq!(Beginner::Random.best_move(&mated), None);
    }
}
