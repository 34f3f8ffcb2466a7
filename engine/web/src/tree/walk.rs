//! The positions of a tree.

use engine::cozy_chess::{Board, Move};
use engine::{is_chess960, parse_move, write_move};

use crate::error::RequestError;
use crate::tree::Tree;

/// Every node's position, and the move that leads to it.
pub struct Walk {
    /// By node.
    pub boards: Vec<Board>,
    /// By node, but for the start.
    pub moves: Vec<Option<Move>>,
    /// How castling is written.
    pub chess960: bool,
}

impl Walk {
    /// Plays the moves of a tree.
    ///
    /// # Errors
    /// Where the tree is damaged, or a move is illegal.
    pub fn of(tree: &Tree) -> Result<Walk, RequestError> {
        tree.check()?;
        let opening = tree.opening()?;
        let mut walk = Walk {
            chess960: is_chess960(&opening),
            boards: vec![opening],
            moves: vec![None],
        };
        for node in tree.nodes.iter().skip(1) {
            let mv = parse_move(&walk.boards[node.parent], &node.uci)?;
            walk.push(node.parent, mv);
        }
        Ok(walk)
    }

    /// Plays one move more.
    pub fn push(&mut self, parent: usize, mv: Move) {
        let mut board = self.boards[parent].clone();
        board.play_unchecked(mv);
        self.boards.push(board);
        self.moves.push(Some(mv));
    }

    /// A move of a node's position as UCI writes it.
    pub fn write(&self, node: usize, mv: Move) -> String {
        write_move(&self.boards[node], mv, self.chess960)
    }
}

/// By node, the nodes of the moves from there, the main one first.
pub fn children(tree: &Tree) -> Vec<Vec<usize>> {
    let mut children = vec![Vec::new(); tree.nodes.len()];
    for (index, node) in tree.nodes.iter().enumerate().skip(1) {
        children[node.parent].push(index);
    }
    children
}
