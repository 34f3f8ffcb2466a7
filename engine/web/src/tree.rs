//! The tree of moves of a game with variations.
//!
//! The page keeps the tree as a value and sends it with each request: it survives a crash of
//! the module, and *Undo* only needs the previous tree.

mod edit;
mod walk;

pub use edit::{Edit, Edited, edit, play, renumber};
pub use walk::{Walk, children};

use engine::cozy_chess::Board;
use serde::{Deserialize, Serialize};

use crate::error::RequestError;
use crate::game::Game;
use crate::score::WhiteScore;

/// Version of the saved format; others are rejected.
pub const VERSION: u32 = 1;

/// A game with its variations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Tree {
    /// Format version.
    pub version: u32,
    /// FEN; `null` for the standard start.
    pub start: Option<String>,
    /// PGN tags in file order, without `FEN` and `SetUp`.
    pub tags: Vec<(String, String)>,
    /// The start, then moves, each after its parent. Among siblings the first is the main line,
    /// the others are variations.
    pub nodes: Vec<Node>,
}

/// A move with its annotations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct Node {
    /// Parent node.
    pub parent: usize,
    /// UCI move; empty at the start.
    pub uci: String,
    /// Comment before the first move of a variation.
    pub before: String,
    /// Comment after the move; at the start, on the whole game.
    pub comment: String,
    /// Numeric annotation glyphs, such as 4 for `??`.
    pub glyphs: Vec<u8>,
    /// Evaluation in the PGN comment.
    pub eval: Option<WhiteScore>,
    /// Depth of `eval` in plies, 0 if not given.
    pub depth: u8,
    /// Milliseconds left to the mover after the move.
    pub clock: Option<u32>,
    /// Score of the last search of the position, in play, analysis or review.
    pub found: Option<WhiteScore>,
    /// Score of the evaluation curve's search.
    pub curve: Option<WhiteScore>,
}

impl Tree {
    /// Creates a tree without moves.
    pub fn new(start: Option<String>) -> Tree {
        Tree {
            version: VERSION,
            start,
            tags: Vec::new(),
            nodes: vec![Node::default()],
        }
    }

    /// Converts a game to a tree without variations.
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

    /// Returns the start position.
    pub fn opening(&self) -> Result<Board, RequestError> {
        crate::game::opening(self.start.as_deref())
    }

    /// Checks the format version, and that every node comes after its parent.
    pub fn check(&self) -> Result<(), RequestError> {
        if self.version != VERSION {
            return Err(RequestError::Version {
                found: self.version,
                known: VERSION,
            });
        }
        let sound = (self.nodes.first()).is_some_and(|start| start.uci.is_empty())
            && (self.nodes.iter().enumerate().skip(1)).all(|(index, node)| node.parent < index);
        sound.then_some(()).ok_or(RequestError::Tree)
    }
}
