//! Random openings: lines of uniformly drawn legal moves.

use cozy_chess::{Board, Move};

use crate::board::{Position, legal_moves};

/// Lines drawn before giving up, when the rules end the game within each.
const TRIES: usize = 1000;

/// Returns `plies` random legal moves from `start`, each drawn uniformly. `choose(n)` picks an
/// index below `n`.
///
/// `None` if 1000 lines all ended the game, which short lines from the standard start do not.
pub fn random_moves(
    start: &Board,
    plies: usize,
    choose: &mut dyn FnMut(usize) -> usize,
) -> Option<Vec<Move>> {
    (0..TRIES).find_map(|_| line(start, plies, choose))
}

/// Draws one line; `None` if the rules end the game before or after its last ply.
fn line(start: &Board, plies: usize, choose: &mut dyn FnMut(usize) -> usize) -> Option<Vec<Move>> {
    let mut game = Position::of(start.clone());
    let mut line = Vec::with_capacity(plies);
    while game.ending().is_none() {
        if line.len() == plies {
            return Some(line);
        }
        let moves = legal_moves(game.board());
        let mv = moves[choose(moves.len())];
        game.play(mv).expect("a generated move is legal");
        line.push(mv);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::parse_fen;

    /// Linear congruential generator.
    fn dice(mut state: u64) -> impl FnMut(usize) -> usize {
        move |sides| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) as usize % sides
        }
    }

    #[test]
    fn lines_are_legal_and_differ() {
        let start = Board::startpos();
        let mut dice = dice(1);
        let mut ends = std::collections::HashSet::new();
        for _ in 0..200 {
            let moves = random_moves(&start, 8, &mut dice).unwrap();
            let mut game = Position::of(start.clone());
            moves.iter().for_each(|&mv| game.play(mv).unwrap());
            assert_eq!((moves.len(), game.ending()), (8, None));
            ends.insert(game.board().hash());
        }
        assert!(ends.len() > 190, "{}", ends.len());
    }

    #[test]
    fn every_move_is_drawn_and_no_line_ends_the_game() {
        let start = Board::startpos();
        let mut first = std::collections::HashSet::new();
        let mut dice = dice(2);
        for _ in 0..500 {
            first.extend(random_moves(&start, 1, &mut dice).unwrap());
        }
        assert_eq!(first.len(), 20);
        // Black's king has one move that does not take the last pawn.
        let ends = parse_fen("8/8/8/8/8/k1K5/P7/8 b - - 0 1").unwrap();
        for _ in 0..50 {
            let line = random_moves(&ends, 1, &mut dice).unwrap();
            assert_eq!(line[0].to_string(), "a3a4");
        }
        let ended = parse_fen("8/8/8/8/8/8/k1K5/8 w - - 0 1").unwrap();
        assert_eq!(random_moves(&ended, 1, &mut dice), None);
    }
}
