//! PGN of match games.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{material, network, result};

#[test]
fn four_games_without_an_illegal_move() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = folder.path().join("games.pgn");
    let (network, material) = (network(), material());
    let arguments = [
        "--engine",
        &network,
        "--engine",
        &material,
        "--games",
        "4",
        "--depth",
        "2",
        "--concurrency",
        "2",
    ];
    let written = ["--pgn", pgn.to_str().unwrap()];
    let first = result(&[&arguments[..], &written].concat());
    assert_eq!(first["games"], 4);
    assert_eq!(first["illegal_moves"], serde_json::json!([0, 0]));
    assert_eq!(first["time_losses"], serde_json::json!([0, 0]));
    assert_eq!(first["crashes"], serde_json::json!([0, 0]));
    let timeless = |mut outcome: Value| {
        for averages in outcome["averages"].as_array_mut().unwrap() {
            averages["nps"] = Value::Null;
            averages["move_ms"] = Value::Null;
        }
        outcome
    };
    assert_eq!(
        timeless(result(&arguments)),
        timeless(first),
        "fixed depth repeats"
    );
    let games = fs::read_to_string(&pgn).unwrap();
    assert_eq!(games.matches("[Result ").count(), 4);
    for side in ["White", "Black"] {
        assert_eq!(games.matches(&format!("[{side} \"network\"]")).count(), 2);
    }
}

/// Returns the moves of each game in SAN, without comments.
fn moves(pgn: &Path) -> Vec<String> {
    let text = fs::read_to_string(pgn).unwrap();
    let games = text.split("[Event ").skip(1);
    games
        .map(|game| {
            let movetext = game.split_once("\n\n").unwrap().1;
            let parts = movetext
                .split('{')
                .map(|part| part.split('}').next_back().unwrap());
            let words = parts.flat_map(str::split_whitespace);
            words
                .filter(|word| !word.ends_with('.'))
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect()
}

#[test]
fn a_net_plays_in_this_process_as_it_does_over_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = folder.path().join("games.pgn");
    let arguments = ["--engine", &network(), "--engine", "embedded"];
    let rest = [
        "--games",
        "4",
        "--depth",
        "3",
        "--pgn",
        pgn.to_str().unwrap(),
    ];
    let outcome = result(&[&arguments[..], &rest[..]].concat());
    assert_eq!(
        outcome["engines"],
        serde_json::json!(["network", "embedded"])
    );
    assert_eq!(outcome["pairs"], serde_json::json!([0, 0, 2, 0, 0]));
    assert_eq!(outcome["elo"], 0.0);
    for pair in moves(&pgn).chunks(2) {
        assert_eq!(pair[0], pair[1]);
    }
}

#[test]
fn games_are_written_with_scores_and_times_and_can_be_a_book() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = folder.path().join("games.pgn");
    let book = pgn.to_str().unwrap();
    let engines = [
        "--engine", "material", "--engine", "embedded", "--games", "2",
    ];
    let pace = ["--depth", "2"];
    // Adjudicated, since games that end on the board give no openings.
    let cut_short = ["--draw", "moves=2,score=65535,from=10"];
    result(&[&engines[..], &pace, &cut_short, &["--pgn", book]].concat());
    let text = fs::read_to_string(&pgn).unwrap();
    assert!(
        text.contains("[TimeControl \"-\"]\n[Termination \"adjudication\"]\n"),
        "{text}"
    );
    let comments: Vec<&str> = text.split('{').skip(1).collect();
    let timed = comments
        .iter()
        .filter(|comment| comment.split('}').next().unwrap().ends_with('s'));
    let plies = text.matches("[PlyCount \"").count();
    assert_eq!(
        (plies, comments.len() - timed.count()),
        (2, 2),
        "an ending a game"
    );
    assert!(
        text.contains("/2 0."),
        "score and depth, then seconds: {text}"
    );
    let again = result(&[&engines[..], &pace, &["--book", book]].concat());
    assert_eq!(again["games"], 2, "every move written could be read");
}
