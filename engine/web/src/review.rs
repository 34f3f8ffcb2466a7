//! A game looked through after it was played: mistakes, what was better, how accurate each side was.

use engine::cozy_chess::{Board, Color, util};
use engine::{parse_move, write_move};
use serde::{Deserialize, Serialize};

use crate::error::RequestError;
use crate::names::SideName;
use crate::score::WhiteScore;
use crate::tree::{Edited, Node, Tree, Walk};

/// Chances to win that a move gives away, and the glyph and the word for so much: half of what
/// Lichess takes for them on its scale from -1 to 1.
const FAULTS: [(f64, u8, &str); 3] = [
    (0.15, 4, "Blunder"),
    (0.10, 2, "Mistake"),
    (0.05, 6, "Inaccuracy"),
];

/// Plies of a better line that are shown.
const BETTER_PLIES: usize = 7;

/// What a search has found in a position; `null` where the game is over.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Finding {
    score: WhiteScore,
    /// As UCI writes it.
    pv: Vec<String>,
}

/// What was asked to be looked through.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ReviewRequest {
    tree: Tree,
    at: usize,
    /// The nodes of the game's moves.
    line: Vec<usize>,
    /// Of the start, and of the position after each move.
    findings: Vec<Option<Finding>>,
}

/// How a side has played.
#[derive(Clone, Copy, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SideReview {
    /// From 0 to 100, the mean of its moves; `null` without any.
    accuracy: Option<f64>,
    inaccuracies: u32,
    mistakes: u32,
    blunders: u32,
}

/// A mistake of a game.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Mistake {
    node: usize,
    side: SideName,
    /// Such as `Blunder. Nf3 was best.`
    text: String,
    /// The chance to win that it gave away, from 0 to 1.
    loss: f64,
    /// The better line, as UCI writes it.
    better: Vec<String>,
}

/// A game that was looked through: its tree with marks and better lines.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Review {
    edited: Edited,
    white: SideReview,
    black: SideReview,
    mistakes: Vec<Mistake>,
}

/// Looks a game through.
pub fn review(request: ReviewRequest) -> Result<Review, RequestError> {
    let ReviewRequest {
        mut tree,
        at,
        line,
        findings,
    } = request;
    let walk = Walk::of(&tree)?;
    let mut sides = [Tally::default(); 2];
    let mut mistakes = Vec::new();
    for (index, &node) in line.iter().enumerate() {
        let parent = tree.nodes.get(node).ok_or(RequestError::Tree)?.parent;
        let board = &walk.boards[parent];
        let mover = board.side_to_move();
        let Some(Some(before)) = findings.get(index) else {
            continue;
        };
        let after = match findings.get(index + 1) {
            Some(Some(after)) => {
                tree.nodes[node].found = Some(after.score);
                chance(after.score, mover)
            }
            Some(None) => ended(&walk, node, mover),
            None => continue,
        };
        let better = normal(&before.pv, board, walk.chess960)?;
        let best = before.pv.first();
        let played_best = better.first() == Some(&tree.nodes[node].uci);
        let loss = match played_best {
            true => 0.0,
            false => (chance(before.score, mover) - after).max(0.0),
        };
        let tally = &mut sides[mover as usize];
        tally.add(accuracy(loss));
        let Some(&(_, glyph, word)) = FAULTS.iter().find(|(least, ..)| loss >= *least) else {
            continue;
        };
        tally.fault(glyph);
        let best = best.map(|best| parse_move(board, best)).transpose()?;
        let text = match best {
            Some(best) => format!("{word}. {} was best.", util::display_san_move(board, best)),
            None => format!("{word}."),
        };
        mark(&mut tree.nodes[node], glyph, &text);
        add_line(&mut tree, parent, &better);
        mistakes.push(Mistake {
            node,
            side: mover.into(),
            text,
            loss,
            better,
        });
    }
    Ok(Review {
        edited: Edited::of(tree, at)?,
        white: sides[Color::White as usize].review(),
        black: sides[Color::Black as usize].review(),
        mistakes,
    })
}

/// The mover's chance to win, by the curve that Lichess uses.
fn chance(score: WhiteScore, mover: Color) -> f64 {
    let white = match score {
        WhiteScore::Cp(centipawns) => 1.0 / (1.0 + (-0.003_682_08 * f64::from(centipawns)).exp()),
        WhiteScore::Mate(moves) => f64::from(u8::from(moves > 0)),
    };
    match mover {
        Color::White => white,
        Color::Black => 1.0 - white,
    }
}

/// The chance of who has ended the game.
fn ended(walk: &Walk, node: usize, mover: Color) -> f64 {
    let board = &walk.boards[node];
    let mates = !board.checkers().is_empty() && !engine::has_legal_move(board);
    match mates && board.side_to_move() != mover {
        true => 1.0,
        false => 0.5,
    }
}

/// How accurate a move is that gives away so much, from 0 to 100: Lichess's curve.
fn accuracy(loss: f64) -> f64 {
    (103.1668 * (-0.043_54 * 100.0 * loss).exp() - 3.1669).clamp(0.0, 100.0)
}

/// Gives a mark and a remark where the game has none of its own.
fn mark(node: &mut Node, glyph: u8, text: &str) {
    if !node.glyphs.iter().any(|glyph| (1..=6).contains(glyph)) {
        node.glyphs.push(glyph);
    }
    if node.comment.is_empty() {
        node.comment = text.to_string();
    }
}

/// A line as the tree writes it: an engine writes castling by the rights of its position alone,
/// which may not tell that the game is one of Chess960.
fn normal(pv: &[String], board: &Board, chess960: bool) -> Result<Vec<String>, RequestError> {
    let mut board = board.clone();
    let written = pv.iter().map(|uci| {
        let mv = parse_move(&board, uci)?;
        let text = write_move(&board, mv, chess960);
        board.play_unchecked(mv);
        Ok(text)
    });
    written.collect()
}

/// Adds a line as a variation, as far as it is not there.
fn add_line(tree: &mut Tree, from: usize, pv: &[String]) {
    let mut node = from;
    for uci in pv.iter().take(BETTER_PLIES) {
        let known = (tree.nodes.iter()).position(|next| next.parent == node && next.uci == *uci);
        node = known.unwrap_or_else(|| {
            tree.nodes.push(Node {
                parent: node,
                uci: uci.clone(),
                ..Node::default()
            });
            tree.nodes.len() - 1
        });
    }
}

/// What is summed up of a side.
#[derive(Clone, Copy, Default)]
struct Tally {
    sum: f64,
    moves: u32,
    found: SideReview,
}

impl Tally {
    fn add(&mut self, accuracy: f64) {
        self.sum += accuracy;
        self.moves += 1;
    }

    fn fault(&mut self, glyph: u8) {
        let count = match glyph {
            4 => &mut self.found.blunders,
            2 => &mut self.found.mistakes,
            _ => &mut self.found.inaccuracies,
        };
        *count += 1;
    }

    fn review(self) -> SideReview {
        SideReview {
            accuracy: (self.moves > 0).then(|| self.sum / f64::from(self.moves)),
            ..self.found
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Game;

    fn finding(centipawns: i32, pv: &str) -> Option<Finding> {
        Some(Finding {
            score: WhiteScore::Cp(centipawns),
            pv: pv.split_whitespace().map(str::to_string).collect(),
        })
    }

    /// The shortest mate: White throws it away at the second move.
    fn fools_mate() -> ReviewRequest {
        let moves = ["f2f3", "e7e5", "g2g4", "d8h4"].map(str::to_string);
        ReviewRequest {
            tree: Tree::of_game(&Game {
                start: None,
                moves: moves.to_vec(),
            }),
            at: 0,
            line: vec![1, 2, 3, 4],
            findings: vec![
                finding(30, "e2e4 e7e5"),
                finding(-60, "e7e5"),
                finding(-60, "b1c3 g8f6"),
                Some(Finding {
                    score: WhiteScore::Mate(-1),
                    pv: vec!["d8h4".to_string()],
                }),
                None,
            ],
        }
    }

    #[test]
    fn mistakes_are_marked_and_told() {
        let review = review(fools_mate()).unwrap();
        let texts: Vec<&str> = review
            .mistakes
            .iter()
            .map(|told| told.text.as_str())
            .collect();
        assert_eq!(
            texts,
            ["Inaccuracy. e4 was best.", "Blunder. Nc3 was best."]
        );
        assert!(review.mistakes[1].loss > 0.2);
        assert_eq!(review.mistakes[1].better, ["b1c3", "g8f6"]);
        let tree = &review.edited.tree;
        assert_eq!(tree.nodes[1].found, Some(WhiteScore::Cp(-60)));
        assert_eq!(tree.nodes[4].found, None);
        assert_eq!(
            (&tree.nodes[3].glyphs, &tree.nodes[4].glyphs),
            (&vec![4], &vec![])
        );
        // Behind the game's moves the better ones.
        let added: Vec<&str> = tree.nodes[5..]
            .iter()
            .map(|node| node.uci.as_str())
            .collect();
        assert_eq!(added, ["e2e4", "e7e5", "b1c3", "g8f6"]);
        assert_eq!(review.black.accuracy.map(f64::round), Some(100.0));
        assert_eq!((review.white.inaccuracies, review.white.blunders), (1, 1));
        let white = review.white.accuracy.unwrap();
        assert!((35.0..60.0).contains(&white), "{white}");
    }

    #[test]
    fn what_the_game_says_itself_stays() {
        let mut request = fools_mate();
        request.tree.nodes[3].glyphs = vec![5];
        request.tree.nodes[3].comment = "Bold.".to_string();
        let review = review(request).unwrap();
        let node = &review.edited.tree.nodes[3];
        assert_eq!((&node.glyphs, node.comment.as_str()), (&vec![5], "Bold."));
    }

    /// White may castle only as in standard chess, so the engine writes it so; the tree does not.
    #[test]
    fn castling_of_chess960_is_the_move_that_was_played() {
        let start = "1rk5/8/8/8/8/8/8/1R2K2R w HBb - 0 1";
        let moves = ["b1a1", "c8d8", "e1h1"].map(str::to_string);
        let request = ReviewRequest {
            tree: Tree::of_game(&Game {
                start: Some(start.to_string()),
                moves: moves.to_vec(),
            }),
            at: 0,
            line: vec![1, 2, 3],
            findings: vec![
                finding(0, "b1a1"),
                finding(0, "c8d8"),
                finding(400, "e1g1 d8c8"),
                finding(0, "d8c8"),
            ],
        };
        let review = review(request).unwrap();
        assert!(review.mistakes.is_empty());
        assert_eq!(review.edited.tree.nodes.len(), 4);
    }

    #[test]
    fn looking_twice_adds_nothing() {
        let first = review(fools_mate()).unwrap();
        let again = review(ReviewRequest {
            tree: first.edited.tree.clone(),
            ..fools_mate()
        });
        assert_eq!(again.unwrap().edited.tree, first.edited.tree);
    }

    #[test]
    fn a_request_that_does_not_fit_is_refused_or_borne() {
        let mut request = fools_mate();
        request.line.push(99);
        assert!(review(request).is_err());
        let mut request = fools_mate();
        request.findings.truncate(1);
        assert_eq!(review(request).unwrap().white.accuracy, None);
        let mut request = fools_mate();
        request.findings[0] = finding(900, "e2e5");
        assert!(review(request).is_err());
    }
}
