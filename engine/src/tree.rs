//! The line of positions that the search stands on.

use cozy_chess::{Board, Move};

use crate::score::MAX_PLY;
use crate::{Accumulators, Evaluator, Position, Score, position_key};

struct Node {
    board: Board,
    key: u64,
    accumulators: Accumulators,
}

/// The root and the moves played from it, with everything that is carried
/// along. Room for the longest line is taken once.
pub(crate) struct Tree {
    nodes: Vec<Node>,
    ply: usize,
    /// Keys of the positions before the root.
    earlier: Vec<u64>,
}

impl Tree {
    pub(crate) fn new(evaluator: &Evaluator) -> Tree {
        let board = Board::startpos();
        let accumulators = evaluator.accumulators(&board);
        let key = position_key(&board);
        let node = || Node {
            board: board.clone(),
            key,
            accumulators: accumulators.clone(),
        };
        Tree {
            nodes: (0..=MAX_PLY).map(|_| node()).collect(),
            ply: 0,
            earlier: Vec::new(),
        }
    }

    /// Puts a position at the root.
    pub(crate) fn start(&mut self, position: &Position, evaluator: &Evaluator) {
        let board = position.board().clone();
        self.ply = 0;
        self.earlier.clear();
        self.earlier.extend_from_slice(position.earlier_keys());
        self.nodes[0] = Node {
            key: position_key(&board),
            accumulators: evaluator.accumulators(&board),
            board,
        };
    }

    /// Plies from the root.
    pub(crate) fn ply(&self) -> usize {
        self.ply
    }

    pub(crate) fn board(&self) -> &Board {
        &self.nodes[self.ply].board
    }

    pub(crate) fn key(&self) -> u64 {
        self.nodes[self.ply].key
    }

    /// Plays a legal move; there must be room ([`Tree::is_full`]).
    pub(crate) fn push(&mut self, mv: Move, evaluator: &Evaluator) {
        let (before, after) = self.nodes.split_at_mut(self.ply + 1);
        let (parent, child) = (&before[self.ply], &mut after[0]);
        child.board.clone_from(&parent.board);
        child.board.play_unchecked(mv);
        child.key = position_key(&child.board);
        if let Some(network) = evaluator.network() {
            let earlier = (&parent.board, &parent.accumulators);
            child.accumulators.update(network, earlier, &child.board);
        }
        self.ply += 1;
    }

    /// Passes; not in check.
    pub(crate) fn push_null(&mut self) {
        let (before, after) = self.nodes.split_at_mut(self.ply + 1);
        let (parent, child) = (&before[self.ply], &mut after[0]);
        if let Some(board) = parent.board.null_move() {
            child.board = board;
        }
        child.key = position_key(&child.board);
        child.accumulators.clone_from(&parent.accumulators);
        self.ply += 1;
    }

    /// Takes the last move back.
    pub(crate) fn pop(&mut self) {
        self.ply -= 1;
    }

    /// Whether the line is as long as it can be.
    pub(crate) fn is_full(&self) -> bool {
        self.ply == MAX_PLY
    }

    pub(crate) fn evaluate(&self, evaluator: &Evaluator) -> Score {
        let node = &self.nodes[self.ply];
        evaluator.evaluate(&node.board, &node.accumulators)
    }

    /// Whether the position is a draw by repetition: seen once before since
    /// the root, or twice before in all.
    pub(crate) fn is_repetition(&self) -> bool {
        let key = self.key();
        let reversible = usize::from(self.board().halfmove_clock());
        let since_root = self.nodes[..self.ply]
            .iter()
            .rev()
            .map(|node| (node.key, true));
        let before_root = self.earlier.iter().rev().map(|&key| (key, false));
        // Only every other position has the same side to move.
        let mut same = since_root
            .chain(before_root)
            .take(reversible)
            .skip(1)
            .step_by(2)
            .filter(|e| e.0 == key);
        match same.next() {
            Some((_, true)) => true,
            Some((_, false)) => same.next().is_some(),
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::{Network, QuantisedNetwork, Shape};

    fn evaluator() -> Evaluator {
        Evaluator::new(QuantisedNetwork::new(&Network::random(Shape::DEFAULT, 4)).unwrap())
    }

    #[test]
    fn what_is_carried_along_equals_what_is_computed_anew() {
        let evaluator = evaluator();
        let mut tree = Tree::new(&evaluator);
        let mut random = fastrand::Rng::with_seed(7);
        tree.start(&Position::startpos(), &evaluator);
        for _ in 0..3_000 {
            let mut moves = Vec::new();
            tree.board().generate_moves(|piece_moves| {
                moves.extend(piece_moves);
                false
            });
            let back = tree.is_full() || moves.is_empty() || random.u8(..) < 100;
            if back && tree.ply() > 0 {
                tree.pop();
            } else {
                tree.push(moves[random.usize(..moves.len())], &evaluator);
            }
            assert_eq!(tree.key(), position_key(tree.board()));
            assert_eq!(
                tree.evaluate(&evaluator),
                evaluator.evaluate_board(tree.board())
            );
        }
    }

    #[test]
    fn one_repetition_below_the_root_is_enough() {
        let evaluator = evaluator();
        let mut tree = Tree::new(&evaluator);
        tree.start(&Position::startpos(), &evaluator);
        let mut repeated = Vec::new();
        for mv in ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3"] {
            tree.push(mv.parse().unwrap(), &evaluator);
            repeated.push(tree.is_repetition());
        }
        assert_eq!(repeated, [false, false, false, true, true]);
    }
}
