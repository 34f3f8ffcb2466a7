//! How the rules end a game.

use cozy_chess::Color;

use crate::board::rules::FIFTY_MOVES;
use crate::board::{Position, has_legal_move, insufficient_material};

/// How a game has ended by the rules alone, without clocks or agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Checkmate.
    Checkmate {
        /// The side that mates.
        winner: Color,
    },
    /// Stalemate.
    Stalemate,
    /// The position stands for the third time.
    Repetition,
    /// A hundred plies without capture or pawn move.
    FiftyMoves,
    /// Neither side can mate ([`insufficient_material`]).
    InsufficientMaterial,
}

impl Ending {
    /// Who won, `None` for a draw.
    pub fn winner(self) -> Option<Color> {
        match self {
            Ending::Checkmate { winner } => Some(winner),
            _ => None,
        }
    }
}

impl Position {
    /// How the game has ended, `None` while it goes on. Mate comes before any
    /// draw. A draw that a player could claim (third occurrence, fifty moves)
    /// needs no claim, as in games between engines.
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
    fn each_ending_by_position() {
        let mates = |winner| Some(Ending::Checkmate { winner });
        let cases = [
            ("4R1k1/5ppp/8/8/8/8/8/K7 b - - 0 1", mates(Color::White)),
            ("k7/8/8/8/8/8/PPP5/1K2r3 w - - 0 1", mates(Color::Black)),
            // The mating move was the hundredth ply.
            ("4R1k1/5ppp/8/8/8/8/8/K7 b - - 100 80", mates(Color::White)),
            ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", Some(Ending::Stalemate)),
            // Dead material too, but first there is no move.
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
    fn the_third_occurrence_ends_the_game() {
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
