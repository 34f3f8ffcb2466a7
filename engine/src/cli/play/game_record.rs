//! Record of the game.

use cozy_chess::{Board, Color, Move, util};
use engine::{Ending, Position, pgn};

/// A game in progress: opening, moves and current position.
pub struct GameRecord {
    opening: Board,
    moves: Vec<Move>,
    position: Position,
}

impl GameRecord {
    pub fn new(opening: Board) -> GameRecord {
        GameRecord {
            position: Position::of(opening.clone()),
            moves: Vec::new(),
            opening,
        }
    }

    pub fn position(&self) -> &Position {
        &self.position
    }

    /// Returns how the game has ended; `None` while it goes on.
    pub fn ending(&self) -> Option<Ending> {
        self.position.ending()
    }

    /// Returns result and reason as text; `None` while the game goes on.
    pub fn verdict(&self) -> Option<String> {
        let why = match self.ending()? {
            Ending::Checkmate { winner } => format!("checkmate: {winner:?} wins"),
            Ending::Stalemate => "draw: stalemate".to_string(),
            Ending::Repetition => "draw: threefold repetition".to_string(),
            Ending::FiftyMoves => "draw: fifty moves".to_string(),
            Ending::InsufficientMaterial => "draw: neither side can mate".to_string(),
        };
        Some(format!("{} {why}", self.result()))
    }

    fn result(&self) -> &'static str {
        self.ending()
            .map_or("*", |ending| pgn::result(ending.winner()))
    }

    /// Returns a legal move with its number: `12. Nf3` or `12... Nf6`.
    pub fn san(&self, mv: Move) -> String {
        let board = self.position.board();
        let san = util::display_san_move(board, mv);
        format!("{} {san}", pgn::number(board))
    }

    /// Plays a legal move and returns its text with the number.
    pub fn play(&mut self, mv: Move) -> String {
        let text = self.san(mv);
        if self.position.play(mv).is_ok() {
            self.moves.push(mv);
        }
        text
    }

    /// Goes back to before `player`'s last move; returns false if there is none.
    pub fn undo(&mut self, player: Color) -> bool {
        let first = self.opening.side_to_move();
        let is_players = |index: usize| index.is_multiple_of(2) == (player == first);
        let Some(last) = (0..self.moves.len()).rev().find(|&index| is_players(index)) else {
            return false;
        };
        let moves = self.moves[..last].to_vec();
        *self = GameRecord::new(self.opening.clone());
        for mv in moves {
            self.play(mv);
        }
        true
    }

    /// Returns the game as PGN.
    pub fn pgn(&self, human: Color) -> String {
        let names = match human {
            Color::White => ["Human", "Kibitz"],
            Color::Black => ["Kibitz", "Human"],
        };
        let result = self.result();
        let tags = pgn::roster("engine play", "-", names, result);
        let opening = pgn::opening_tags(&self.opening);
        let moves = self.moves.iter().map(|&mv| (mv, None));
        let words = pgn::words(&self.opening, moves).flatten();
        let movetext = pgn::wrap(words.chain([result.to_string()]));
        format!("{tags}{opening}\n{movetext}\n")
    }
}
