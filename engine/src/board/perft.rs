//! Perft: the number of lines of legal moves of a given length.

use cozy_chess::{Board, Move};

use crate::board::legal_moves;

/// Leaves of the tree of legal moves `depth` plies deep. The last ply is
/// counted, not played.
pub fn perft(board: &Board, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let mut nodes = 0;
    board.generate_moves(|moves| {
        if depth == 1 {
            nodes += moves.len() as u64;
        } else {
            nodes += moves
                .into_iter()
                .map(|mv| below(board, mv, depth))
                .sum::<u64>();
        }
        false
    });
    nodes
}

/// [`perft`] below each legal move, in the generator's order, counted as it is
/// asked for; nothing at depth 0.
pub fn divide(board: &Board, depth: u32) -> impl Iterator<Item = (Move, u64)> {
    let moves = match depth {
        0 => Vec::new(),
        _ => legal_moves(board),
    };
    moves
        .into_iter()
        .map(move |mv| (mv, below(board, mv, depth)))
}

fn below(board: &Board, mv: Move, depth: u32) -> u64 {
    let mut child = board.clone();
    child.play_unchecked(mv);
    perft(&child, depth - 1)
}
