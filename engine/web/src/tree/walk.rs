//! Positions of all nodes of a tree.

use engine::cozy_chess::{Board, Move};
use engine::{is_chess960, parse_move, write_move};

use crate::error::RequestError;
use crate::tree::Tree;

/// The position of every node and the move that leads to it.
pub struct Walk {
    /// Position by node.
    pub boards: Vec<Board>,
    /// Move by node; `None` at the start.
    pub moves: Vec<Option<Move>>,
    /// Whether castling is written in Chess960 notation (king takes rook).
    pub chess960: bool,
}

impl Walk {
    /// Plays all moves of a tree.
    ///
    /// # Errors
    /// If the tree is damaged or has an illegal move.
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

    /// Appends the position after a move of node `parent`.
    pub fn push(&mut self, parent: usize, mv: Move) {
        let mut board = self.boards[parent].clone();
        board.play_unchecked(mv);
        self.boards.push(board);
        self.moves.push(Some(mv));
    }

    /// Returns a move at a node in UCI notation.
    pub fn write(&self, node: usize, mv: Move) -> String {
        write_move(&self.boards[node], mv, self.chess960)
    }
}

/// Returns the child nodes by node, the main line first.
pub fn children(tree: &Tree) -> Vec<Vec<usize>> {
    let mut children = vec![Vec::new(); tree.nodes.len()];
    for (index, node) in tree.nodes.iter().enumerate().skip(1) {
        children[node.parent].push(index);
    }
    children
}
