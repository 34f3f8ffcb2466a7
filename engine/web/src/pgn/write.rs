//! Writes a tree as PGN.

use engine::cozy_chess::{Board, Color, util};
use engine::{is_chess960, pgn};
use serde::Deserialize;

use crate::error::RequestError;
use crate::pgn::comment;
use crate::tree::{Tree, Walk, children};

/// A game to write.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WrittenGame {
    pub tree: Tree,
    /// Tags for a tree without tags.
    pub tags: Vec<(String, String)>,
    pub result: String,
}

/// A step of the traversal.
enum Step {
    /// Moves after a node.
    From(usize),
    /// First move of a variation.
    Variation(usize),
    End,
}

/// Writes a game as PGN with all its annotations.
pub fn write(game: &WrittenGame) -> Result<String, RequestError> {
    let WrittenGame { tree, result, .. } = game;
    let walk = Walk::of(tree)?;
    let mut tags = match tree.tags.is_empty() {
        true => game.tags.clone(),
        false => tree.tags.clone(),
    };
    match tags.iter_mut().find(|(name, _)| name == "Result") {
        Some((_, value)) => value.clone_from(result),
        None => tags.push(("Result".to_string(), result.clone())),
    }
    let opening = &walk.boards[0];
    let variant = (tags.iter()).any(|(name, _)| name.eq_ignore_ascii_case("Variant"));
    let tags: String = (tags.iter())
        .map(|(name, value)| pgn::tag(name, &value.replace(['\n', '\r'], " ")))
        .collect();
    let mut words = Words::default();
    words.comment(comment::of_node(&tree.nodes[0]));
    for glyph in &tree.nodes[0].glyphs {
        words.word(format!("${glyph}"));
    }
    let children = children(tree);
    let mut steps = vec![Step::From(0)];
    while let Some(step) = steps.pop() {
        match step {
            Step::From(node) => {
                let Some((&main, variations)) = children[node].split_first() else {
                    continue;
                };
                words.play(tree, &walk, main);
                steps.push(Step::From(main));
                for &variation in variations.iter().rev() {
                    steps.extend([Step::End, Step::From(variation), Step::Variation(variation)]);
                }
            }
            Step::Variation(node) => {
                words.open();
                words.play(tree, &walk, node);
            }
            Step::End => words.close(),
        }
    }
    let movetext = pgn::wrap(words.words.into_iter().chain([result.clone()]));
    let opening = opening_tags(opening, variant);
    Ok(format!("{tags}{opening}\n{movetext}\n"))
}

/// Like [`pgn::opening_tags`], without `Variant` if the game has that tag already.
fn opening_tags(opening: &Board, variant: bool) -> String {
    let tags = pgn::opening_tags(opening);
    if variant && is_chess960(opening) {
        let own = pgn::tag("Variant", "Chess960");
        return tags.strip_prefix(&own).unwrap_or(&tags).to_string();
    }
    tags
}

/// Movetext as words, to be wrapped into lines.
#[derive(Default)]
struct Words {
    words: Vec<String>,
    /// Whether the next word begins a variation.
    opens: bool,
    /// Whether the next move follows another directly: Black's then has no number.
    follows: bool,
}

impl Words {
    fn word(&mut self, word: String) {
        let opening = std::mem::take(&mut self.opens);
        self.words.push(match opening {
            true => format!("({word}"),
            false => word,
        });
    }

    fn comment(&mut self, text: Option<String>) {
        if let Some(text) = text {
            self.word(format!("{{ {text} }}"));
            self.follows = false;
        }
    }

    fn open(&mut self) {
        self.opens = true;
        self.follows = false;
    }

    fn close(&mut self) {
        if let Some(last) = self.words.last_mut() {
            last.push(')');
        }
        self.follows = false;
    }

    fn play(&mut self, tree: &Tree, walk: &Walk, node: usize) {
        let Some(mv) = walk.moves[node] else {
            return;
        };
        let annotated = &tree.nodes[node];
        let board = &walk.boards[annotated.parent];
        // In a promoted variation this comment follows the move before.
        self.comment(Some(annotated.before.clone()).filter(|text| !text.is_empty()));
        if board.side_to_move() == Color::White || !self.follows {
            self.word(pgn::number(board));
        }
        self.word(util::display_san_move(board, mv).to_string());
        self.follows = true;
        for glyph in &annotated.glyphs {
            self.word(format!("${glyph}"));
        }
        self.comment(comment::of_node(annotated));
    }
}
