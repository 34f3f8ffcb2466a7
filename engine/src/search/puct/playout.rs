//! A playout: from the root to a leaf, its value, and back.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use cozy_chess::{Board, Move, Piece};

use super::node::{Node, Prior};
use super::selection::{Choice, choose, hundredths, proof};
use super::values::Values;
use crate::board::checks::Checks;
use crate::board::{has_legal_move, is_castling};
use crate::endgame::Wdl;
use crate::evaluation::Score;
use crate::evaluation::chances::WinModel;
use crate::evaluation::score::MAX_PLY;
use crate::search::params::PUCT_TEMPERATURE;
use crate::search::people::Person;
use crate::search::searcher::{Halted, Searcher, no_move_score};

/// Ply from which on nodes have no children: leaves room for quiescence.
const LONGEST: usize = MAX_PLY - 28;

/// A tree during a search, shared by its threads.
pub(super) struct SharedTree<'a> {
    pub(super) root: &'a Node,
    pub(super) values: Values,
    /// Source of the priors.
    pub(super) person: Person<'a>,
    /// Playouts made and under way.
    pub(super) playouts: AtomicU64,
    /// Sum of the leaves' plies.
    pub(super) plies: AtomicU64,
    /// Ply of the deepest leaf.
    pub(super) deepest: AtomicUsize,
    /// Memory of the tree.
    pub(super) bytes: AtomicUsize,
    pub(super) max_bytes: usize,
}

impl SharedTree<'_> {
    fn is_full(&self) -> bool {
        self.bytes.load(Relaxed) >= self.max_bytes
    }

    fn count(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Relaxed);
    }

    fn count_leaf(&self, ply: usize) {
        self.plies.fetch_add(ply as u64, Relaxed);
        self.deepest.fetch_max(ply, Relaxed);
    }
}

/// A thread's playouts.
pub(super) struct Playouts<'a> {
    pub(super) searcher: Searcher<'a>,
    tree: &'a SharedTree<'a>,
    /// Nodes of the playout under way.
    path: Vec<&'a Node>,
}

impl<'a> Playouts<'a> {
    pub(super) fn new(searcher: Searcher<'a>, tree: &'a SharedTree<'a>) -> Playouts<'a> {
        Playouts {
            searcher,
            tree,
            path: Vec::new(),
        }
    }

    /// Makes a playout.
    ///
    /// # Errors
    /// [`Halted`] if the search was aborted within it; the tree is then as before.
    pub(super) fn play(&mut self) -> Result<(), Halted> {
        let value = self.descend();
        while self.searcher.thread.tree.ply() > 0 {
            self.searcher.thread.tree.pop();
        }
        let mut path = std::mem::take(&mut self.path);
        match value {
            Ok(value) => back_up(&path, value, self.tree.values),
            Err(Halted) => path.iter().for_each(|node| node.leave(None)),
        }
        path.clear();
        self.path = path;
        value.map(drop)
    }

    /// Descends to a leaf, and returns the value for the side to move at the end of the path.
    fn descend(&mut self) -> Result<f64, Halted> {
        let mut node = self.tree.root;
        loop {
            node.enter();
            self.path.push(node);
            let ply = self.searcher.thread.tree.ply();
            if let Some(score) = node.proof() {
                self.tree.count_leaf(ply);
                return Ok(self.tree.values.proven(score, ply));
            }
            if node.priors().is_none() {
                self.tree.count_leaf(ply);
                return self.visit(node);
            }
            if ply >= LONGEST {
                self.tree.count_leaf(ply);
                return self.value();
            }
            match choose(node).expect("a node that is not proven has moves") {
                Choice::Visited(&(mv, _), child) => {
                    self.searcher.thread.tree.push(mv);
                    node = child;
                }
                Choice::New(&(mv, _), last) => {
                    self.searcher.thread.tree.push(mv);
                    if self.tree.is_full() {
                        self.tree.count_leaf(ply + 1);
                        return Ok(-self.value()?);
                    }
                    let (child, bytes) = node.add_child(last);
                    self.tree.count(bytes);
                    node = child;
                }
            }
        }
    }

    /// Visits a node for the first time, at the current position, and returns its value.
    fn visit(&mut self, node: &Node) -> Result<f64, Halted> {
        let (values, ply) = (self.tree.values, self.searcher.thread.tree.ply());
        let proven = self.by_rules().or_else(|| self.by_tables());
        let (priors, value) = match proven {
            Some(score) => {
                node.prove(score);
                (Vec::new(), 0.0)
            }
            None => {
                let value = self.value()?;
                let board = self.searcher.thread.tree.board();
                (priors(&self.tree.person, board, |_| true), value)
            }
        };
        self.expand(node, priors);
        Ok(node
            .proof()
            .map_or(value, |score| values.proven(score, ply)))
    }

    /// Stores the moves of a node; one that mates proves it, and comes first.
    pub(super) fn expand(&self, node: &Node, mut priors: Vec<Prior>) {
        let board = self.searcher.thread.tree.board();
        let mate = mating_move(board, priors.iter().map(|(mv, _)| *mv));
        if let Some(index) = mate {
            priors[..=index].rotate_right(1);
        }
        self.tree.count(node.expand(priors.into_boxed_slice()));
        if mate.is_some() {
            let (mated, bytes) = node.add_child(None);
            self.tree.count(bytes);
            mated.prove(Score::mated_in(0));
            node.prove(Score::mate_in(1));
        }
    }

    /// Returns the score of a position that the rules end, with mates counted from it.
    fn by_rules(&self) -> Option<Score> {
        let board = self.searcher.thread.tree.board();
        match has_legal_move(board) {
            true => self.searcher.rule_draw(),
            false => Some(no_move_score(board, 0)),
        }
    }

    /// Returns the tables' score, with wins counted from the position.
    fn by_tables(&mut self) -> Option<Score> {
        // A node has no depth: the tables are probed everywhere.
        Some(match self.searcher.probe_tablebase(i32::MAX)? {
            Wdl::Win => Score::tablebase_win(0),
            Wdl::Loss => -Score::tablebase_win(0),
            Wdl::BlessedLoss | Wdl::Draw | Wdl::CursedWin => Score::DRAW,
        })
    }

    /// Returns the value of the current position by quiescence search.
    fn value(&mut self) -> Result<f64, Halted> {
        let score = self.searcher.quiescence_score()?;
        let Searcher { thread, .. } = &self.searcher;
        let model = WinModel::of(thread.tree.board());
        Ok(self.tree.values.of(score, model, thread.tree.ply()))
    }
}

/// Returns the legal moves of a board that `is_wanted`, the likeliest first, with probabilities
/// that sum to 1.
pub(super) fn priors(
    person: &Person,
    board: &Board,
    is_wanted: impl Fn(Move) -> bool,
) -> Vec<Prior> {
    let mut moves = person.moves(board);
    moves.retain(|&(mv, _)| is_wanted(mv));
    let sharpness = 1.0 / hundredths(&PUCT_TEMPERATURE) as f32;
    if sharpness != 1.0 {
        for (_, probability) in &mut moves {
            *probability = probability.powf(sharpness);
        }
    }
    let sum: f32 = moves.iter().map(|(_, probability)| probability).sum();
    moves
        .iter_mut()
        .for_each(|(_, probability)| *probability /= sum);
    moves.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    moves
}

/// Returns the index of the first of these legal moves that mates.
fn mating_move(board: &Board, moves: impl IntoIterator<Item = Move>) -> Option<usize> {
    let checks = Checks::of(board);
    moves.into_iter().position(|mv| {
        let piece = board
            .piece_on(mv.from)
            .expect("a legal move begins on a piece");
        // `Checks` does not tell these.
        let en_passant = piece == Piece::Pawn
            && mv.from.file() != mv.to.file()
            && board.piece_on(mv.to).is_none();
        let unclear = mv.promotion.is_some() || is_castling(board, mv) || en_passant;
        if !unclear && !checks.targets(piece, mv.from).has(mv.to) {
            return false;
        }
        let mut after = board.clone();
        after.play_unchecked(mv);
        !after.checkers().is_empty() && !has_legal_move(&after)
    })
}

/// Adds a playout's result to the nodes of its path, and proves those whose children now do.
/// `value` is that of the side to move at the end of the path.
fn back_up(path: &[&Node], mut value: f64, values: Values) {
    let mut is_proven = false;
    for (ply, node) in path.iter().enumerate().rev() {
        if ply + 1 < path.len() {
            value = -value;
            if is_proven
                && node.proof().is_none()
                && let Some(score) = proof(node)
            {
                node.prove(score);
            }
        }
        let proven = node.proof();
        is_proven = proven.is_some();
        value = proven.map_or(value, |score| values.proven(score, ply));
        node.leave(Some(value));
    }
}
