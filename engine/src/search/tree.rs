//! The search stack: the line of positions from the root to the current node.

use cozy_chess::{Board, Color, Move, Piece};

use crate::board::{Position, legal_en_passant, position_key};
use crate::evaluation::accumulators::Accumulators;
use crate::evaluation::danger::Danger;
use crate::evaluation::evaluator::{material_balance, network_value};
use crate::evaluation::score::MAX_PLY;
use crate::evaluation::{Evaluator, Score};
use crate::search::placed::Placed;

/// A position of the line.
struct StackEntry {
    board: Board,
    /// Move that led here ([`Tree::played`]).
    played: Option<Move>,
    /// Continuation index of that move.
    placed: Placed,
    /// Plies since a capture, a pawn move or a null move: how far back a repetition can lie.
    reversible: usize,
    /// Cached network evaluation: quiescence, singular and deeper searches evaluate the same
    /// position again.
    value: Option<Score>,
    /// Cached [`Tree::danger`], if the evaluation computed it.
    danger: Option<Danger>,
}

/// The root and the moves played from it, with incrementally updated state. Allocated once for the
/// longest line.
pub struct Tree {
    entries: Vec<StackEntry>,
    ply: usize,
    /// Repetition keys of the game before the root and of the line.
    keys: Vec<u64>,
    accumulators: Accumulators,
}

impl Tree {
    /// Returns a tree with the standard start at its root.
    pub fn new(evaluator: &Evaluator) -> Tree {
        let entry = || StackEntry {
            board: Board::default(),
            played: None,
            placed: Placed::NONE,
            reversible: 0,
            value: None,
            danger: None,
        };
        let mut tree = Tree {
            entries: (0..=MAX_PLY).map(|_| entry()).collect(),
            ply: 0,
            keys: Vec::new(),
            accumulators: Accumulators::new(MAX_PLY + 1),
        };
        tree.start(&Position::startpos(), evaluator);
        tree
    }

    /// Sets the root.
    pub fn start(&mut self, position: &Position, evaluator: &Evaluator) {
        let board = position.board();
        self.ply = 0;
        self.keys.clear();
        self.keys.extend_from_slice(position.earlier_keys());
        self.keys.push(position_key(board));
        self.entries[0] = StackEntry {
            board: board.clone(),
            played: None,
            placed: Placed::NONE,
            reversible: board.halfmove_clock().into(),
            value: None,
            danger: None,
        };
        if let Some(network) = evaluator.network() {
            self.accumulators.start(network, board);
        }
    }

    /// Returns the distance from the root in plies.
    pub fn ply(&self) -> usize {
        self.ply
    }

    /// Returns the current position.
    pub fn board(&self) -> &Board {
        &self.entries[self.ply].board
    }

    /// Returns the move that led to the current position; `None` at the root and after a null move.
    pub fn played(&self) -> Option<Move> {
        self.entries[self.ply].played
    }

    /// Returns the board `back` plies ago, within the line.
    pub(crate) fn earlier(&self, back: usize) -> &Board {
        &self.entries[self.ply - back].board
    }

    /// Returns the continuation index of the `back`-th last move, counted from 1.
    #[inline(always)]
    pub(crate) fn placed(&self, back: usize) -> Placed {
        let ply = (self.ply + 1).checked_sub(back);
        ply.map_or(Placed::NONE, |ply| self.entries[ply].placed)
    }

    /// Returns the squares where the mover's pieces are attacked by lesser ones.
    pub(crate) fn danger(&self) -> Danger {
        let StackEntry { board, danger, .. } = &self.entries[self.ply];
        danger.unwrap_or_else(|| Danger::of(board))
    }

    /// Returns the key of the current position ([`position_key`]).
    pub fn key(&self) -> u64 {
        self.keys[self.keys.len() - 1]
    }

    /// Returns the keys, of the game and the line, that have occurred at least twice.
    pub(crate) fn drawn_once_more(&self) -> Vec<u64> {
        let mut keys = self.keys.clone();
        keys.sort_unstable();
        let mut twice: Vec<u64> = keys
            .windows(2)
            .filter(|two| two[0] == two[1])
            .map(|two| two[0])
            .collect();
        twice.dedup();
        twice
    }

    /// Plays a legal move.
    ///
    /// # Panics
    /// If [`Tree::is_full`].
    pub fn push(&mut self, mv: Move) {
        let [parent, child] = &mut self.entries[self.ply..self.ply + 2] else {
            unreachable!("two positions")
        };
        child.board.clone_from(&parent.board);
        child.board.play_unchecked(mv);
        child.played = Some(mv);
        child.placed = Placed::by(&parent.board, mv);
        child.value = None;
        child.danger = None;
        child.reversible = match child.board.halfmove_clock() {
            0 => 0,
            _ => parent.reversible + 1,
        };
        self.keys.push(position_key(&child.board));
        self.ply += 1;
        self.accumulators.play(self.ply);
    }

    /// Plays a null move.
    ///
    /// # Panics
    /// If [`Tree::is_full`], or if the side to move is in check.
    pub fn push_null(&mut self) {
        let passed = self.board().null_move();
        let board = passed.expect("a side in check cannot pass");
        self.ply += 1;
        self.accumulators.play(self.ply);
        self.keys.push(position_key(&board));
        self.entries[self.ply] = StackEntry {
            board,
            played: None,
            placed: Placed::NONE,
            reversible: 0,
            value: None,
            danger: None,
        };
    }

    /// Takes back the last move.
    pub fn pop(&mut self) {
        self.ply -= 1;
        self.keys.pop();
    }

    /// Returns whether the line has its maximum length.
    pub fn is_full(&self) -> bool {
        self.ply == MAX_PLY
    }

    /// Returns the static evaluation from the side to move's point of view. `evaluator` must be the
    /// one given to [`Tree::start`].
    pub fn evaluate(&mut self, evaluator: &Evaluator) -> Score {
        let entries = &self.entries;
        let StackEntry { board, value, .. } = &entries[self.ply];
        if let Some(value) = *value {
            return value;
        }
        let Some(network) = evaluator.network() else {
            return material_balance(board);
        };
        let mover = board.side_to_move();
        let line = |ply: usize| (&entries[ply].board, entries[ply].played);
        let sides = self.accumulators.get(network, self.ply, mover, line);
        let [own, other] = [mover, !mover].map(|side| &sides[side as usize]);
        let (value, danger) = network_value(network, board, own, Some(other));
        let entry = &mut self.entries[self.ply];
        entry.value = Some(value);
        entry.danger = danger;
        value
    }

    /// Returns whether the side to move can repeat an earlier position of the line by one move, and
    /// so is sure of a draw (upcoming repetition).
    #[inline(always)]
    pub fn can_repeat(&self) -> bool {
        let most = self.entries[self.ply].reversible.min(self.ply);
        // Candidates have the opponent to move, and so lie an odd number of plies back.
        let mut earlier = (3..=most).step_by(2);
        earlier.any(|back| self.repeats(self.earlier(back)))
    }

    /// Returns whether one legal move of a single piece leads to `earlier`.
    #[inline]
    fn repeats(&self, earlier: &Board) -> bool {
        let board = self.board();
        let mover = board.side_to_move();
        let moved = earlier.colors(mover) ^ board.colors(mover);
        if earlier.colors(!mover) != board.colors(!mover) || moved.len() != 2 {
            return false;
        }
        let same = |kind| (earlier.pieces(kind) ^ board.pieces(kind)).is_subset(moved);
        let rights = |board: &Board| Color::ALL.map(|side| *board.castle_rights(side));
        let (Some(from), Some(to)) = (
            (moved & board.colors(mover)).next_square(),
            (moved & earlier.colors(mover)).next_square(),
        ) else {
            return false;
        };
        board.piece_on(from) == earlier.piece_on(to)
            && Piece::ALL.into_iter().all(same)
            && rights(earlier) == rights(board)
            && legal_en_passant(earlier).is_none()
            && board.is_legal(Move {
                from,
                to,
                promotion: None,
            })
    }

    /// Returns whether the position is a draw by repetition: it has occurred once before since the
    /// root, or twice before in all.
    #[inline(always)]
    pub fn is_repetition(&self) -> bool {
        let Some((&key, earlier)) = self.keys.split_last() else {
            return false;
        };
        let reversible = self.entries[self.ply].reversible.min(earlier.len());
        // Only every other position has the same side to move, and none can recur after two plies.
        let mut same = (2..=reversible / 2)
            .map(|moves| 2 * moves)
            .filter(|plies| earlier[earlier.len() - plies] == key);
        match same.next() {
            Some(plies) => plies <= self.ply || same.next().is_some(),
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::legal_moves;
    use models::{Architecture, Features, Network, QuantisedNetwork, View};

    fn evaluator() -> Evaluator {
        evaluator_of(Architecture::ARTICLE)
    }

    fn evaluator_of(architecture: Architecture) -> Evaluator {
        Evaluator::new(QuantisedNetwork::new(&Network::random(architecture, 4)).unwrap())
    }

    #[test]
    fn incremental_state_equals_recomputation() {
        let both = Architecture {
            view: View::Both,
            buckets: 8,
            ..Architecture::ARTICLE
        };
        let mirrored = Architecture {
            mirrored: true,
            ..both
        };
        let pieces = Architecture {
            features: Features::Pieces,
            ..mirrored
        };
        for architecture in [Architecture::ARTICLE, both, mirrored, pieces] {
            check_incremental_state(architecture);
        }
    }

    fn check_incremental_state(architecture: Architecture) {
        let evaluator = evaluator_of(architecture);
        let mut tree = Tree::new(&evaluator);
        let mut random = fastrand::Rng::with_seed(7);
        tree.start(&Position::startpos(), &evaluator);
        for _ in 0..3_000 {
            let moves = legal_moves(tree.board());
            let back = tree.is_full() || moves.is_empty() || random.u8(..) < 100;
            if back && tree.ply() > 0 {
                tree.pop();
            } else {
                tree.push(moves[random.usize(..moves.len())]);
            }
            assert_eq!(tree.key(), position_key(tree.board()));
            let danger = Danger::of(tree.board());
            assert_eq!(tree.danger(), danger, "before it is evaluated");
            assert_eq!(
                tree.evaluate(&evaluator),
                evaluator.evaluate_board(tree.board())
            );
            assert_eq!(tree.danger(), danger);
        }
    }

    #[test]
    fn null_moves_change_only_the_side_to_move_and_en_passant() {
        let evaluator = evaluator();
        let mut tree = Tree::new(&evaluator);
        let position =
            Position::from_fen("rnbqkb1r/ppp1pppp/5n2/8/2pPP3/8/PP3PPP/RNBQKBNR b KQkq d3 0 3");
        tree.start(&position.unwrap(), &evaluator);
        let before = tree.key();
        tree.push_null();
        let expected =
            crate::board::parse_fen("rnbqkb1r/ppp1pppp/5n2/8/2pPP3/8/PP3PPP/RNBQKBNR w KQkq - 1 4")
                .unwrap();
        assert_eq!(tree.board(), &expected);
        assert_eq!(tree.key(), position_key(&expected));
        assert_eq!(
            tree.evaluate(&evaluator),
            evaluator.evaluate_board(&expected)
        );
        tree.pop();
        assert_eq!(tree.key(), before);
    }

    #[test]
    fn repetitions_are_not_seen_across_a_null_move() {
        let evaluator = evaluator();
        let mut tree = Tree::new(&evaluator);
        for mv in ["g1f3", "g8f6", "f3g1"] {
            tree.push(mv.parse().unwrap());
        }
        tree.push_null();
        tree.push("g1f3".parse().unwrap());
        tree.push("f6g8".parse().unwrap());
        tree.push("f3g1".parse().unwrap());
        // The position after the first knight move, but for the side to move.
        assert!(!tree.is_repetition());
        tree.push_null();
        assert!(
            !tree.is_repetition(),
            "the start, four plies and two nulls ago"
        );
        for mv in ["g1f3", "g8f6", "f3g1"] {
            tree.push(mv.parse().unwrap());
            assert!(!tree.is_repetition());
        }
        tree.push("f6g8".parse().unwrap());
        assert!(tree.is_repetition(), "since the null move all the same");
    }

    #[test]
    fn the_halfmove_clock_may_exceed_the_known_history() {
        let evaluator = evaluator();
        let mut tree = Tree::new(&evaluator);
        let position =
            Position::from_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 40 30");
        tree.start(&position.unwrap(), &evaluator);
        let mut repeated = Vec::new();
        for mv in ["g1f3", "g8f6", "f3g1", "f6g8"] {
            tree.push(mv.parse().unwrap());
            repeated.push(tree.is_repetition());
        }
        assert_eq!(repeated, [false, false, false, true]);
    }

    #[test]
    fn can_repeat_predicts_repetitions() {
        let evaluator = evaluator();
        let mut tree = Tree::new(&evaluator);
        let mut random = fastrand::Rng::with_seed(9);
        let (mut seen, mut positions) = (0, 0);
        // Few pieces, which repeat often, and a possible en-passant capture.
        for (game, start) in [
            "8/2k2p2/8/1r6/8/5P2/3K4/7R w - - 0 1",
            "7k/8/8/8/3p4/8/4P3/K7 w - - 0 1",
        ]
        .into_iter()
        .cycle()
        .take(300)
        .enumerate()
        {
            tree.start(&Position::from_fen(start).unwrap(), &evaluator);
            if game % 2 == 1 {
                tree.push("e2e4".parse().unwrap());
            }
            for _ in 0..40 {
                let moves = legal_moves(tree.board());
                if moves.is_empty() {
                    break;
                }
                let repeats = moves.iter().any(|&mv| {
                    tree.push(mv);
                    let repeats = tree.is_repetition();
                    tree.pop();
                    repeats
                });
                assert_eq!(tree.can_repeat(), repeats, "{}", tree.board());
                seen += usize::from(repeats);
                positions += 1;
                tree.push(moves[random.usize(..moves.len())]);
            }
        }
        assert!(seen > 100 && positions > 10_000, "{seen} of {positions}");
    }

    #[test]
    fn positions_before_the_root_must_recur_twice() {
        let evaluator = evaluator();
        let mut tree = Tree::new(&evaluator);
        let mut position = Position::startpos();
        for mv in ["g1f3", "g8f6"] {
            position.play(mv.parse().unwrap()).unwrap();
        }
        tree.start(&position, &evaluator);
        let mut repeated = Vec::new();
        for mv in ["f3g1", "f6g8", "g1f3", "g8f6", "f3g1", "f6g8"] {
            tree.push(mv.parse().unwrap());
            repeated.push(tree.is_repetition());
        }
        // The start, the root, and the positions after it.
        assert_eq!(repeated, [false, false, false, true, true, true]);
    }

    #[test]
    fn one_repetition_below_the_root_is_enough() {
        let evaluator = evaluator();
        let mut tree = Tree::new(&evaluator);
        tree.start(&Position::startpos(), &evaluator);
        let mut repeated = Vec::new();
        for mv in ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3"] {
            tree.push(mv.parse().unwrap());
            repeated.push(tree.is_repetition());
        }
        assert_eq!(repeated, [false, false, false, true, true]);
    }
}
