//! Edits of a tree.

use engine::parse_move;
use serde::{Deserialize, Serialize};

use crate::error::RequestError;
use crate::pgn::comment_text;
use crate::rules::{TreeReport, describe_tree};
use crate::tree::{Node, Tree, Walk, children};

/// Move glyphs, `!` to `?!`; a move has at most one.
const OF_MOVES: std::ops::RangeInclusive<u8> = 1..=6;

/// An edit at a node.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "edit", rename_all = "camelCase")]
pub enum Edit {
    /// Deletes the move and its subtree.
    Delete,
    /// Makes the node's variation the main line at its last branching.
    Promote,
    /// Makes the node's line the main line.
    MakeMain,
    /// Replaces the comment.
    Comment { text: String },
    /// Toggles a glyph.
    Glyph { glyph: u8 },
}

/// An edited tree and its selected node.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Edited {
    pub tree: Tree,
    at: usize,
    report: TreeReport,
}

/// Plays a move at a node: selects the existing child, or adds one as the last variation.
pub fn play(mut tree: Tree, at: usize, uci: &str) -> Result<Edited, RequestError> {
    let walk = Walk::of(&tree)?;
    let board = walk.boards.get(at).ok_or(RequestError::Tree)?;
    let uci = walk.write(at, parse_move(board, uci)?);
    let known = (tree.nodes.iter().enumerate().skip(1))
        .find(|(_, node)| node.parent == at && node.uci == uci);
    let at = match known {
        Some((index, _)) => index,
        None => {
            tree.nodes.push(Node {
                parent: at,
                uci,
                ..Node::default()
            });
            tree.nodes.len() - 1
        }
    };
    Edited::of(tree, at)
}

/// Edits a tree at a node.
pub fn edit(mut tree: Tree, at: usize, edit: Edit) -> Result<Edited, RequestError> {
    tree.check()?;
    if at >= tree.nodes.len() {
        return Err(RequestError::Tree);
    }
    let mut order = children(&tree);
    let at = match edit {
        Edit::Delete if at == 0 => at,
        Edit::Delete => {
            let parent = tree.nodes[at].parent;
            order[parent].retain(|&child| child != at);
            renumber(&mut tree, &order, parent)
        }
        Edit::Promote => {
            promote(&tree, &mut order, at, false);
            renumber(&mut tree, &order, at)
        }
        Edit::MakeMain => {
            promote(&tree, &mut order, at, true);
            renumber(&mut tree, &order, at)
        }
        Edit::Comment { text } => {
            tree.nodes[at].comment = comment_text(&text);
            at
        }
        Edit::Glyph { glyph } => {
            let glyphs = &mut tree.nodes[at].glyphs;
            let had = glyphs.contains(&glyph);
            let rival = |other: u8| OF_MOVES.contains(&glyph) && OF_MOVES.contains(&other);
            glyphs.retain(|&other| other != glyph && !rival(other));
            if !had {
                glyphs.push(glyph);
            }
            at
        }
    };
    Edited::of(tree, at)
}

impl Edited {
    /// Describes a tree with `at` selected.
    pub fn of(tree: Tree, at: usize) -> Result<Edited, RequestError> {
        if at >= tree.nodes.len() {
            return Err(RequestError::Tree);
        }
        let report = describe_tree(&tree)?;
        Ok(Edited { tree, at, report })
    }
}

/// Makes a node's line the first child at its last branching, or at every one.
fn promote(tree: &Tree, order: &mut [Vec<usize>], at: usize, everywhere: bool) {
    let mut node = at;
    while node > 0 {
        let parent = tree.nodes[node].parent;
        let place = order[parent].iter().position(|&child| child == node);
        if let Some(place @ 1..) = place {
            order[parent][..=place].rotate_right(1);
            if !everywhere {
                return;
            }
        }
        node = parent;
    }
}

/// Renumbers the nodes in PGN order: a move, its variations, the moves after it. Nodes missing
/// from `order` are dropped. Returns the new index of node `at`.
pub fn renumber(tree: &mut Tree, order: &[Vec<usize>], at: usize) -> usize {
    enum Step {
        Variation(usize),
        From(usize),
    }
    let mut old = std::mem::take(&mut tree.nodes);
    let mut numbers = vec![0; old.len()];
    let mut take = |node: usize| {
        let parent = numbers[old[node].parent];
        numbers[node] = tree.nodes.len();
        let node = std::mem::take(&mut old[node]);
        tree.nodes.push(Node { parent, ..node });
    };
    take(0);
    let mut steps = vec![Step::From(0)];
    while let Some(step) = steps.pop() {
        match step {
            Step::Variation(node) => {
                take(node);
                steps.push(Step::From(node));
            }
            Step::From(node) => {
                if let Some((&main, variations)) = order[node].split_first() {
                    take(main);
                    steps.push(Step::From(main));
                    steps.extend(variations.iter().rev().map(|&node| Step::Variation(node)));
                }
            }
        }
    }
    numbers[at]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// e4 (d4 d5 (Nf6)) e5 Nf3.
    fn study() -> Tree {
        let mut tree = Tree::new(None);
        for (at, uci) in [
            (0, "e2e4"),
            (1, "e7e5"),
            (0, "d2d4"),
            (3, "d7d5"),
            (3, "g8f6"),
            (2, "g1f3"),
        ] {
            let edited = play(tree, at, uci).unwrap();
            tree = edited.tree;
        }
        tree
    }

    fn moves(tree: &Tree) -> Vec<String> {
        tree.nodes.iter().map(|node| node.uci.clone()).collect()
    }

    #[test]
    fn playing_an_existing_move_selects_its_node() {
        let tree = study();
        let edited = play(tree.clone(), 3, "d7d5").unwrap();
        assert_eq!((edited.at, &edited.tree), (4, &tree));
        assert!(play(tree.clone(), 0, "e2e5").is_err());
        assert!(play(tree, 9, "e2e4").is_err());
    }

    #[test]
    fn promotes_one_level_or_to_the_main_line() {
        let edited = edit(study(), 5, Edit::Promote).unwrap();
        let expected = ["", "e2e4", "d2d4", "g8f6", "d7d5", "e7e5", "g1f3"];
        assert_eq!(moves(&edited.tree), expected);
        assert_eq!(edited.at, 3);
        let edited = edit(study(), 5, Edit::MakeMain).unwrap();
        let expected = ["", "d2d4", "e2e4", "e7e5", "g1f3", "g8f6", "d7d5"];
        assert_eq!(moves(&edited.tree), expected);
        assert_eq!(edited.at, 5);
    }

    #[test]
    fn deleting_a_move_deletes_its_subtree() {
        let edited = edit(study(), 3, Edit::Delete).unwrap();
        assert_eq!(moves(&edited.tree), ["", "e2e4", "e7e5", "g1f3"]);
        assert_eq!(edited.at, 0);
        assert_eq!(edit(study(), 0, Edit::Delete).unwrap().tree, study());
    }

    #[test]
    fn a_move_has_at_most_one_move_glyph() {
        let glyphs = |tree: Tree, glyph| {
            let edited = edit(tree, 1, Edit::Glyph { glyph }).unwrap();
            (edited.tree.nodes[1].glyphs.clone(), edited.tree)
        };
        let (after, tree) = glyphs(study(), 16);
        assert_eq!(after, [16]);
        let (after, tree) = glyphs(tree, 4);
        assert_eq!(after, [16, 4]);
        let (after, tree) = glyphs(tree, 1);
        assert_eq!(after, [16, 1]);
        assert_eq!(glyphs(tree, 1).0, [16]);
    }

    #[test]
    fn a_damaged_tree_is_refused() {
        let mut tree = study();
        tree.nodes[2].parent = 2;
        assert!(edit(tree, 0, Edit::Delete).is_err());
        let mut tree = study();
        tree.version = 99;
        assert!(play(tree, 0, "e2e4").is_err());
        let mut tree = study();
        tree.nodes.clear();
        assert!(play(tree, 0, "e2e4").is_err());
    }
}
