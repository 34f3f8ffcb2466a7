//! Review of a finished game: mistakes, better lines, and each side's accuracy.

use engine::cozy_chess::{Board, Color, Move, util};
use engine::{People, Person, parse_move, write_move};
use serde::{Deserialize, Serialize};

use crate::error::RequestError;
use crate::names::SideName;
use crate::score::WhiteScore;
use crate::tree::{Edited, Node, Tree, Walk};

/// Thresholds of lost winning chance, each with its glyph (NAG) and name: half of Lichess's,
/// which are on a scale from -1 to 1.
const FAULTS: [(f64, u8, &str); 3] = [
    (0.15, 4, "Blunder"),
    (0.10, 2, "Mistake"),
    (0.05, 6, "Inaccuracy"),
];

/// Plies shown of a better line.
const BETTER_PLIES: usize = 7;

/// Search result of a position; `null` if the game is over there.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Finding {
    score: WhiteScore,
    /// Best line in UCI notation.
    pv: Vec<String>,
}

/// A game to review.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ReviewRequest {
    tree: Tree,
    at: usize,
    /// Nodes of the moves to review, in order.
    line: Vec<usize>,
    /// Search results of the start and of the position after each move.
    findings: Vec<Option<Finding>>,
    /// White's and Black's rating, `null` where it is unknown. With a policy that knows people of
    /// that rating a mistake's text says how many of them make it.
    ratings: [Option<u32>; 2],
}

/// Accuracy and mistake counts of one side.
#[derive(Clone, Copy, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SideReview {
    /// Mean accuracy of the side's moves, 0 to 100; `null` without moves.
    accuracy: Option<f64>,
    inaccuracies: u32,
    mistakes: u32,
    blunders: u32,
}

/// A mistake in a game.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Mistake {
    node: usize,
    side: SideName,
    /// Comment, such as `Blunder. Nf3 was best.`
    text: String,
    /// Lost winning chance, `0..=1`.
    loss: f64,
    /// Better line in UCI notation.
    better: Vec<String>,
}

/// A reviewed game: its tree with glyphs, comments and better lines.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Review {
    edited: Edited,
    white: SideReview,
    black: SideReview,
    mistakes: Vec<Mistake>,
}

/// Reviews a game: adds glyphs, comments and better lines to its tree.
pub fn review(request: ReviewRequest, people: Option<&People>) -> Result<Review, RequestError> {
    let ReviewRequest {
        mut tree,
        at,
        line,
        findings,
        ratings,
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
        let better = in_notation(&before.pv, board, walk.chess960)?;
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
        let mut text = match best {
            Some(best) => format!("{word}. {} was best.", util::display_san_move(board, best)),
            None => format!("{word}."),
        };
        if let (Some(people), Some(rating)) = (people, ratings[mover as usize]) {
            let played = parse_move(board, &tree.nodes[node].uci)?;
            text += &people_who_play(people.person(rating), board, played).unwrap_or_default();
        }
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

/// Returns a sentence on how many people play a move. `None` if the policy does not know people of
/// that rating.
fn people_who_play(person: Person, board: &Board, played: Move) -> Option<String> {
    if !person.is_known() {
        return None;
    }
    let percent = 100.0 * f64::from(person.probability(board, played));
    let percent = match percent {
        ..1.0 => "Fewer than 1 %".to_string(),
        _ => format!("{percent:.0} %"),
    };
    let san = util::display_san_move(board, played);
    let band = person.band();
    Some(format!(" {percent} of people rated {band} play {san}."))
}

/// Returns the mover's winning chance, `0..=1`, by Lichess's curve.
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

/// Returns the winning chance of the side whose move ended the game: 1 for mate, else 1/2.
fn ended(walk: &Walk, node: usize, mover: Color) -> f64 {
    let board = &walk.boards[node];
    let mates = !board.checkers().is_empty() && !engine::has_legal_move(board);
    match mates && board.side_to_move() != mover {
        true => 1.0,
        false => 0.5,
    }
}

/// Returns the accuracy of a move, 0 to 100, from its lost winning chance: Lichess's curve.
fn accuracy(loss: f64) -> f64 {
    (103.1668 * (-0.043_54 * 100.0 * loss).exp() - 3.1669).clamp(0.0, 100.0)
}

/// Adds a glyph and a comment, unless the node has a move glyph or a comment already.
fn mark(node: &mut Node, glyph: u8, text: &str) {
    if !node.glyphs.iter().any(|glyph| (1..=6).contains(glyph)) {
        node.glyphs.push(glyph);
    }
    if node.comment.is_empty() {
        node.comment = text.to_string();
    }
}

/// Rewrites a line in the tree's castling notation. Engines choose the notation by the castling
/// rights of the position, which may not show that the game is Chess960.
fn in_notation(pv: &[String], board: &Board, chess960: bool) -> Result<Vec<String>, RequestError> {
    let mut board = board.clone();
    let written = pv.iter().map(|uci| {
        let mv = parse_move(&board, uci)?;
        let text = write_move(&board, mv, chess960);
        board.play_unchecked(mv);
        Ok(text)
    });
    written.collect()
}

/// Adds the first [`BETTER_PLIES`] plies of a line as a variation; existing moves are reused.
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

/// Running totals of one side.
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
    use models::{PolicyMetadata, PolicyNetwork, RatingBand};

    fn finding(centipawns: i32, pv: &str) -> Option<Finding> {
        Some(Finding {
            score: WhiteScore::Cp(centipawns),
            pv: pv.split_whitespace().map(str::to_string).collect(),
        })
    }

    /// Fool's mate: 1. f3 is an inaccuracy, 2. g4 a blunder.
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
            ratings: [None; 2],
        }
    }

    #[test]
    fn a_policy_says_how_many_people_make_a_mistake() {
        let mut metadata = PolicyMetadata::new(8, "test");
        metadata.moves_by_band[RatingBand::of(Some(1500)).index()] = 1_000_000;
        let people = People::new(&PolicyNetwork::random(8, 1), metadata).unwrap();
        let text_of = |rating| {
            let request = ReviewRequest {
                ratings: [rating, None],
                ..fools_mate()
            };
            let review = review(request, Some(&people)).unwrap();
            review.mistakes[1].text.clone()
        };
        // The policy does not know people of another rating.
        for rating in [None, Some(1400), Some(2200)] {
            assert_eq!(text_of(rating), "Blunder. Nc3 was best.");
        }
        let text = text_of(Some(1550));
        let told = text.strip_prefix("Blunder. Nc3 was best. ").unwrap();
        let percent: f64 = told.split(' ').next().unwrap().parse().unwrap();
        assert!((1.0..20.0).contains(&percent), "{text}");
        assert!(
            told.ends_with(" % of people rated 1500 to 1599 play g4."),
            "{text}"
        );
    }

    #[test]
    fn annotates_and_lists_mistakes() {
        let review = review(fools_mate(), None).unwrap();
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
        // The better lines follow the game's moves.
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
    fn keeps_existing_annotations() {
        let mut request = fools_mate();
        request.tree.nodes[3].glyphs = vec![5];
        request.tree.nodes[3].comment = "Bold.".to_string();
        let review = review(request, None).unwrap();
        let node = &review.edited.tree.nodes[3];
        assert_eq!((&node.glyphs, node.comment.as_str()), (&vec![5], "Bold."));
    }

    /// The engine writes e1g1, as White's rights are those of standard chess; the tree has e1h1.
    #[test]
    fn matches_castling_across_notations() {
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
            ratings: [None; 2],
        };
        let review = review(request, None).unwrap();
        assert!(review.mistakes.is_empty());
        assert_eq!(review.edited.tree.nodes.len(), 4);
    }

    #[test]
    fn a_second_review_adds_nothing() {
        let first = review(fools_mate(), None).unwrap();
        let again = review(
            ReviewRequest {
                tree: first.edited.tree.clone(),
                ..fools_mate()
            },
            None,
        );
        assert_eq!(again.unwrap().edited.tree, first.edited.tree);
    }

    #[test]
    fn mismatched_requests_do_not_panic() {
        let mut request = fools_mate();
        request.line.push(99);
        assert!(review(request, None).is_err());
        let mut request = fools_mate();
        request.findings.truncate(1);
        assert_eq!(review(request, None).unwrap().white.accuracy, None);
        let mut request = fools_mate();
        request.findings[0] = finding(900, "e2e5");
        assert!(review(request, None).is_err());
    }
}
