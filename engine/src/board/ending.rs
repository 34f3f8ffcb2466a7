//! End of a game by the rules: mate, stalemate and automatic draws.

use cozy_chess::Color;

use crate::board::rules::FIFTY_MOVES;
use crate::board::{Position, has_legal_move, insufficient_material};

/// A game's ending by the rules alone, without clocks or agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Checkmate.
    Checkmate {
        /// The side that mates.
        winner: Color,
    },
    /// Stalemate.
    Stalemate,
    /// Third occurrence of the position.
    Repetition,
    /// A hundred plies without capture or pawn move.
    FiftyMoves,
    /// Neither side can mate ([`insufficient_material`]).
    InsufficientMaterial,
}

impl Ending {
    /// Returns the winner; `None` for a draw.
    pub fn winner(self) -> Option<Color> {
        match self {
            Ending::Checkmate { winner } => Some(winner),
            _ => None,
        }
    }
}

impl Position {
    /// Returns how the game has ended; `None` while it goes on. Mate comes before any draw. Draws
    /// that a player could claim (third occurrence, fifty moves) are automatic, as in engine games.
    pub fn ending(&self) -> Option<Ending> {
        let board = self.board();
        if !has_legal_move(board) {
            return Some(match board.checkers().is_empty() {
                true => Ending::Stalemate,
                false => Ending::Checkmate {
                    winner: !board.side_to_move(),
                },
            });
        }
        let draws = [
            (insufficient_material(board), Ending::InsufficientMaterial),
            (self.occurrences() >= 3, Ending::Repetition),
            (board.halfmove_clock() >= FIFTY_MOVES, Ending::FiftyMoves),
        ];
        let drawn = draws.into_iter().find(|draw| draw.0);
        drawn.map(|(_, ending)| ending)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::parse_move;

    #[test]
    fn classifies_endings() {
        let mates = |winner| Some(Ending::Checkmate { winner });
        let cases = [
            ("4R1k1/5ppp/8/8/8/8/8/K7 b - - 0 1", mates(Color::White)),
            ("k7/8/8/8/8/8/PPP5/1K2r3 w - - 0 1", mates(Color::Black)),
            // The mating move was the hundredth ply.
            ("4R1k1/5ppp/8/8/8/8/8/K7 b - - 100 80", mates(Color::White)),
            ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", Some(Ending::Stalemate)),
            // Stalemate takes precedence over insufficient material.
            ("k7/8/1K6/4B3/8/8/8/8 b - - 0 1", Some(Ending::Stalemate)),
            (
                "7k/8/8/8/8/8/8/KB6 w - - 0 1",
                Some(Ending::InsufficientMaterial),
            ),
            ("7k/8/8/8/8/6R1/8/K7 b - - 100 80", Some(Ending::FiftyMoves)),
            ("7k/8/8/8/8/6R1/8/K7 b - - 99 80", None),
            ("7k/6Q1/8/8/8/8/8/K7 b - - 0 1", None),
        ];
        for (fen, ending) in cases {
            assert_eq!(Position::from_fen(fen).unwrap().ending(), ending, "{fen}");
        }
    }

    #[test]
    fn ends_at_the_third_occurrence() {
        let mut game = Position::startpos();
        let mut play = |moves: &str| {
            for text in moves.split(' ') {
                assert_eq!(game.ending(), None, "before {text}");
                let mv = parse_move(game.board(), text).unwrap();
                game.play(mv).unwrap();
            }
            game.ending()
        };
        assert_eq!(play("g1f3 g8f6 f3g1 f6g8"), None);
        assert_eq!(play("g1f3 g8f6 f3g1 f6g8"), Some(Ending::Repetition));
    }
}
