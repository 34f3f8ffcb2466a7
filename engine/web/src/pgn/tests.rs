//! Round trips of parsing and writing.

use super::*;
use crate::error::RequestError;
use crate::score::WhiteScore;
use crate::tree::Tree;

const LICHESS: &str = "[Event \"Rated \\\"Blitz\\\" game\"]\n[Result \"0-1\"]\n\n\
    1. f3 { [%eval -0.31] [%clk 0:03:00] } (1. e4 { [%eval 0.3] }) 1... e5 { [%eval -0.1] } \
    2. g4?? $4 { [%eval #-1] Oh! } 2... Qh4# { [%clk 0:02:58] } 0-1\n";

const STUDY: &str = "[Event \"?\"]\n[White \"A\"]\n[Result \"*\"]\n[SetUp \"1\"]\n\
    [FEN \"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 4 20\"]\n\n\
    { All of it. } 20. O-O $1 $16 { Safe. } ({ Or } 20. O-O-O $6 { [%eval 1.5,20] } 20... O-O \
    (20... Kf7 21. Rhf1+) 21. Rd7) (20. Kd2) 20... O-O-O { [%csl Ga1] } *";

fn game(text: &str) -> ReadGame {
    read(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn written(tree: &Tree, result: &str) -> String {
    write(&WrittenGame {
        tree: tree.clone(),
        tags: Vec::new(),
        result: result.to_string(),
    })
    .unwrap()
}

fn moves(game: &ReadGame) -> Vec<&str> {
    let nodes = game.tree.nodes.iter().skip(1);
    nodes.map(|node| node.uci.as_str()).collect()
}

#[test]
fn a_lichess_game_is_read_and_written() {
    let read = game(LICHESS);
    assert_eq!(read.faults, [""; 0]);
    assert_eq!(read.tree.tags[0].1, "Rated \"Blitz\" game");
    assert_eq!(moves(&read), ["f2f3", "e2e4", "e7e5", "g2g4", "d8h4"]);
    let nodes = &read.tree.nodes;
    assert_eq!(nodes[1].eval, Some(WhiteScore::Cp(-31)));
    assert_eq!(nodes[1].clock, Some(180_000));
    assert_eq!(nodes[4].eval, Some(WhiteScore::Mate(-1)));
    assert_eq!(
        (&nodes[4].glyphs, nodes[4].comment.as_str()),
        (&vec![4], "Oh!")
    );
    assert_eq!(read.result.as_deref(), Some("0-1"));
    assert_eq!(
        written(&read.tree, "0-1"),
        "[Event \"Rated \\\"Blitz\\\" game\"]\n[Result \"0-1\"]\n\n\
         1. f3 { [%eval -0.31] [%clk 0:03:00] } (1. e4 { [%eval 0.3] }) 1... e5\n\
         { [%eval -0.1] } 2. g4 $4 { [%eval #-1] Oh! } 2... Qh4# { [%clk 0:02:58] } 0-1\n"
    );
}

#[test]
fn a_study_round_trips() {
    let read = game(STUDY);
    assert_eq!(read.faults, [""; 0]);
    let text = written(&read.tree, "*").replace('\n', " ");
    assert_eq!(text.trim(), STUDY.replace('\n', " "));
}

/// Asserts that a parsed game survives writing and parsing, without faults.
fn assert_same(text: &str) {
    let Ok(first) = read(text) else {
        return;
    };
    let result = first.result.as_deref();
    let known = result.filter(|result| ["1-0", "0-1", "1/2-1/2"].contains(result));
    let result = known.unwrap_or("*");
    let again = written(&first.tree, result);
    let second = game(&again);
    assert_eq!(second.faults, [""; 0], "{text}\n{again}");
    assert_eq!(second.tree.nodes, first.tree.nodes, "{text}\n{again}");
    assert_eq!(second.tree.start, first.tree.start, "{text}\n{again}");
    let others = |tree: &Tree| {
        let mut tags = tree.tags.clone();
        tags.retain(|(name, _)| name != "Result");
        tags
    };
    assert_eq!(others(&second.tree), others(&first.tree), "{text}\n{again}");
    let listed = list(&again).unwrap();
    assert_eq!(listed.len(), 1, "{again}");
    assert_eq!(written(&second.tree, result), again);
}

/// xorshift64 (Marsaglia 2003).
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

#[test]
fn damaged_texts_round_trip() {
    const ROUNDS: usize = 20_000;
    let pieces = [
        "(",
        ")",
        "{",
        "}",
        ";",
        "$5",
        "!",
        "??",
        "\n",
        "\n\n",
        "[%eval 0.5]",
        "[%clk 0:00:01]",
        "[White \"x\"]",
        "1...",
        "2.",
        "e4",
        "Nf3",
        "♘f6",
        "0-0",
        "*",
        "1-0",
        "%",
        "\"",
        "\\",
        "é",
        "--",
        "Ke2",
        "a8",
        "[",
        "]",
    ];
    let mut dice = Dice(7);
    for round in 0..ROUNDS {
        let mut text = [LICHESS, STUDY][round % 2].to_string();
        for _ in 0..=dice.below(4) {
            let at = text.floor_char_boundary(dice.below(text.len()));
            let end = text.ceil_char_boundary((at + dice.below(9)).min(text.len()));
            match dice.below(3) {
                0 => text.replace_range(at..end, ""),
                1 => text.insert_str(at, pieces[dice.below(pieces.len())]),
                _ => text.replace_range(at..end, pieces[dice.below(pieces.len())]),
            }
        }
        assert_same(&text);
    }
}

#[test]
fn random_trees_round_trip() {
    const ROUNDS: usize = 300;
    let words = [
        "",
        "",
        "",
        "good {",
        "a\nb",
        "(1. e4",
        "; $3",
        "[%csl Ga1]",
        "1-0",
        "Ünï ♘",
    ];
    let mut dice = Dice(11);
    for _ in 0..ROUNDS {
        let mut tree = Tree::new(None);
        let mut walk = crate::tree::Walk::of(&tree).unwrap();
        for _ in 0..dice.below(60) {
            let back = dice.below(tree.nodes.len().min(5));
            let parent = tree.nodes.len() - 1 - back;
            let moves = engine::legal_moves(&walk.boards[parent]);
            if moves.is_empty() {
                continue;
            }
            let mv = moves[dice.below(moves.len())];
            let score = |dice: &mut Dice| match dice.below(4) {
                0 => Some(WhiteScore::Cp(dice.below(60_001) as i32 - 30_000)),
                1 => Some(WhiteScore::Mate(dice.below(20) as i32 - 30)),
                _ => None,
            };
            let eval = score(&mut dice);
            tree.nodes.push(crate::tree::Node {
                parent,
                uci: walk.write(parent, mv),
                comment: comment_text(words[dice.below(words.len())]),
                before: comment_text(words[dice.below(words.len())]),
                glyphs: (0..dice.below(3))
                    .map(|glyph| (glyph * 7 + 1) as u8)
                    .collect(),
                eval,
                depth: eval.map_or(0, |_| dice.below(60) as u8),
                clock: (dice.below(2) == 0).then(|| dice.below(10_000_000) as u32),
                ..Default::default()
            });
            walk.push(parent, mv);
        }
        // Main-line moves have no comment before them.
        let order = crate::tree::children(&tree);
        for moves in &order {
            if let Some(&main) = moves.first() {
                tree.nodes[main].before.clear();
            }
        }
        crate::tree::renumber(&mut tree, &order, 0);
        let read = game(&written(&tree, "1-0"));
        assert_eq!(read.faults, [""; 0]);
        assert_eq!(read.tree.nodes, tree.nodes, "{}", written(&tree, "1-0"));
    }
}

#[test]
fn reports_unreadable_parts() {
    for (text, expected, fault) in [
        (
            "1. e4 e5 2. Ke3 Nc6 *",
            vec!["e2e4", "e7e5"],
            "2. Ke3 is no legal move; the move behind it is left out",
        ),
        (
            "1. e4 (1. d4 d5 2. c4 1... e5 2. Nf3 *",
            vec!["e2e4", "d2d4", "d7d5", "c2c4", "e7e5", "g1f3"],
            "the parenthesis before 1... is not closed",
        ),
        (
            "1. e4 (1. d4 d5 *",
            vec!["e2e4", "d2d4", "d7d5"],
            "a parenthesis is not closed",
        ),
        (
            "1. e4) e5 *",
            vec!["e2e4", "e7e5"],
            "a parenthesis before 1... was never opened",
        ),
        (
            "1. e4 (1. d5 d5) e5 *",
            vec!["e2e4", "e7e5"],
            "1. d5 is no legal move; the move behind it is left out",
        ),
        (
            "(1. d4) 1. e4 *",
            vec!["e2e4"],
            "the variation before 1. stands behind no move; the move behind it is left out",
        ),
        (
            "1. e4 {open",
            vec!["e2e4"],
            "the comment before 1... is not closed",
        ),
        (
            "1. e4 hello e5 *",
            vec!["e2e4", "e7e5"],
            "“hello” before 1... is left out",
        ),
        (
            "[Result \"1-0\"]\n\n1. e4 0-1",
            vec!["e2e4"],
            "The tags say 1-0, the moves end with 0-1",
        ),
    ] {
        let read = game(text);
        assert_eq!(moves(&read), expected, "{text}");
        assert_eq!(read.faults, [fault], "{text}");
    }
}

#[test]
fn an_unclosed_parenthesis_or_brace_leaves_the_next_game_alone() {
    for open in ["(1. d4 d5", "{ who knows"] {
        let text =
            format!("[Event \"a\"]\n\n1. e4 {open}\n\n[Event \"b\"]\n\n1. c4 *\n\n1. Nf3 1-0");
        let games = list(&text).unwrap();
        assert_eq!(games.len(), 3, "{open}");
        let read = game(&games[1].text);
        assert_eq!((moves(&read), read.faults.len()), (vec!["c2c4"], 0));
        assert_eq!(game(&games[0].text).faults.len(), 1);
    }
}

#[test]
fn splits_a_text_into_games() {
    let games = list("[Event \"only tags\"]\n\n[Event \"b\"]\n[White \"W\"]\n\n1. e4 1-0\n1. d4 (1. c4 1-0) d5 *").unwrap();
    let texts: Vec<&str> = games.iter().map(|game| game.text.as_str()).collect();
    assert_eq!(texts[1], "[Event \"b\"]\n[White \"W\"]\n\n1. e4 1-0");
    assert_eq!(texts[2], "1. d4 (1. c4 1-0) d5 *");
    assert_eq!(games[1].tags[1], ("White".to_string(), "W".to_string()));
    for nothing in ["", " \n", "*", "hello there"] {
        assert!(list(nothing).is_err(), "{nothing}");
    }
}

#[test]
fn moves_alone_are_a_game_in_any_notation() {
    for text in [
        "e2e4 e7e5 g1f3",
        "1. ♙e4 ♟e5 2. ♘f3",
        "e4 e5 Nf3",
        "1.e2-e4 e7-e5 2.Ng1-f3",
    ] {
        assert_eq!(list(text).unwrap().len(), 1, "{text}");
        let read = game(text);
        assert_eq!(moves(&read), ["e2e4", "e7e5", "g1f3"], "{text}");
        assert_eq!(read.faults, [""; 0], "{text}");
    }
}

#[test]
fn rejects_other_variants() {
    let error = read("[Variant \"Atomic\"]\n\n1. e4 *").err().unwrap();
    assert!(matches!(&error, RequestError::Variant(name) if name == "Atomic"));
    for variant in ["Standard", "From Position", "Chess960", "Fischerandom"] {
        let read = game(&format!("[Variant \"{variant}\"]\n\n1. e4 *"));
        assert_eq!(read.tree.tags[0].1, variant);
    }
}

#[test]
fn keeps_a_custom_start() {
    let fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
    let read = game(&format!("[FEN \"{fen}\"]\n\n1. O-O Ke7 *"));
    assert_eq!(read.tree.start.as_deref(), Some(fen));
    assert_eq!(moves(&read), ["e1g1", "e8e7"]);
    assert!(read_error("[FEN \"8/8/8/8/8/8/8/8 w - - 0 1\"]\n\n*").contains("White has no king"));
}

fn read_error(text: &str) -> String {
    read(text)
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default()
}

/// After a skipped null move all moves would belong to the wrong side.
#[test]
fn null_moves_end_their_line() {
    for null in ["--", "Z0", "0000", "@@@@", "null"] {
        let text =
            format!("[FEN \"4k3/8/5n2/8/8/2N5/8/4K3 w - - 0 1\"]\n\n1. Kd2 {null} 2. Ne4 Nd5 *");
        let read = game(&text);
        assert_eq!(moves(&read), ["e1d2"], "{null}");
        assert_eq!(read.faults.len(), 1, "{null}: {:?}", read.faults);
    }
}

/// With its FEN overlooked a game would be played from the standard start.
#[test]
fn start_tags_are_case_insensitive() {
    let text = "[fen \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n[SETUP \"1\"]\n\n1. e4 *";
    let read = game(text);
    assert_eq!(read.faults, [""; 0]);
    assert!(read.tree.start.is_some() && read.tree.tags.is_empty());
    assert_same(text);
    let other = super::read("[VARIANT \"Atomic\"]\n\n1. e4 *");
    assert!(matches!(other, Err(RequestError::Variant(_))));
    assert_same(
        "[variant \"Chess960\"]\n[FEN \"1rk5/8/8/8/8/8/8/1R2K2R w HBb - 0 1\"]\n\n1. Ra1 *",
    );
    let announced = game("[SetUp \"1\"]\n\n1. e4 *");
    assert_eq!(announced.faults.len(), 1);
}

#[test]
fn a_promoted_variation_keeps_its_introduction() {
    let read = game("1. e4 e5 ({ Or so: } 1... c5 2. Nf3) *");
    let at = moves(&read).iter().position(|&uci| uci == "c7c5").unwrap() + 1;
    let promoted = crate::tree::edit(read.tree, at, crate::tree::Edit::Promote).unwrap();
    assert_eq!(
        written(&promoted.tree, "*"),
        "[Result \"*\"]\n\n1. e4 { Or so: } 1... c5 (1... e5) 2. Nf3 *\n"
    );
}
