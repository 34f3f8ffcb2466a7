//! A game as a tree of moves: what play, study and analysis have on the board.
//!
//! The page holds the tree as a value and hands it in with each request, so that
//! it outlives a module that breaks down, and an earlier tree is all that *Undo* needs.

mod edit;
mod walk;

pub use edit::{Edit, Edited, edit, play, renumber};
pub use walk::{Walk, children};

use engine::cozy_chess::Board;
use serde::{Deserialize, Serialize};

use crate::error::RequestError;
use crate::game::Game;
use crate::score::WhiteScore;

/// The form that is kept; another one is refused.
pub const VERSION: u32 = 1;

/// A game with its variations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Tree {
    /// The form it is kept in.
    pub version: u32,
    /// A FEN; `null` for the usual start.
    pub start: Option<String>,
    /// Of a PGN file, in its order, without those that say the start.
    pub tags: Vec<(String, String)>,
    /// The start, then moves, each behind its parent. Of moves from one position the first
    /// is the main one, and the others are variations.
    pub nodes: Vec<Node>,
}

/// A move, and what is said of it and of the position it leads to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct Node {
    /// The node of the move before.
    pub parent: usize,
    /// As UCI writes it; empty at the start.
    pub uci: String,
    /// What introduces a variation, on its first move.
    pub before: String,
    /// What is said of the move, or of the whole game at its start.
    pub comment: String,
    /// Numeric annotation glyphs, such as 4 for `??`.
    pub glyphs: Vec<u8>,
    /// The evaluation of a PGN's comment, and its depth in plies, 0 where it has none.
    pub eval: Option<WhiteScore>,
    pub depth: u8,
    /// Milliseconds left to the side that has moved.
    pub clock: Option<u32>,
    /// What a search of the position has found: one that was watched, and the curve's.
    pub found: Option<WhiteScore>,
    pub curve: Option<WhiteScore>,
}

impl Tree {
    /// A tree with its start alone.
    pub fn new(start: Option<String>) -> Tree {
        Tree {
            version: VERSION,
            start,
            tags: Vec::new(),
            nodes: vec![Node::default()],
        }
    }

    /// A game without variations.
    pub fn of_game(game: &Game) -> Tree {
        let mut tree = Tree::new(game.start.clone());
        for (parent, uci) in game.moves.iter().enumerate() {
            tree.nodes.push(Node {
                parent,
                uci: uci.clone(),
                ..Node::default()
            });
        }
        tree
    }

    /// The board that the game begins with.
    pub fn opening(&self) -> Result<Board, RequestError> {
        crate::game::opening(self.start.as_deref())
    }

    /// Whether the tree may be walked: it is of this form, and every node stands behind
    /// its parent.
    pub fn check(&self) -> Result<(), RequestError> {
        if self.version != VERSION {
            return Err(RequestError::Version(self.version));
        }
        let sound = (self.nodes.first()).is_some_and(|start| start.uci.is_empty())
            && (self.nodes.iter().enumerate().skip(1)).all(|(index, node)| node.parent < index);
        sound.then_some(()).ok_or(RequestError::Tree)
    }
}
