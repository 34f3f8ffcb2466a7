//! Perft: counts the leaves of the tree of legal moves.

use cozy_chess::{Board, Move};

/// Returns the number of leaves `depth` plies deep. Bulk counting: the last ply is counted, not
/// played.
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

fn below(board: &Board, mv: Move, depth: u32) -> u64 {
    let mut child = board.clone();
    child.play_unchecked(mv);
    perft(&child, depth - 1)
}
