//! Games by PUCT: visits, noise and drawn moves.

use std::collections::HashSet;
use std::fs;

use records::games::{read_games, read_moves};
use records::selection::{Filters, SourceCounts};
use shakmaty::{CastlingMode, Position};

use super::{Game, games, refusal, statistics};

const PLAYOUTS: u32 = 40;
const DRAWN_PLIES: usize = 12;

/// Returns the text of six games with so many drawn plies, and with further arguments.
fn text_of(drawn_plies: usize, arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("games.pgn");
    let common = "--engine|material policy=uniform|--nodes|40|--random-plies|0|--games|6\
                  |--resign|none|--drawn-plies";
    let drawn_plies = drawn_plies.to_string();
    let common: Vec<&str> = common.split('|').chain([&*drawn_plies]).collect();
    statistics(&[&common[..], arguments].concat(), &out);
    fs::read_to_string(out).unwrap()
}

fn moves_of(game: &Game) -> Vec<String> {
    let moves = game.plies.iter().map(|ply| ply.mv.to_string());
    moves.collect()
}

#[test]
fn each_move_has_the_visits_of_its_search() {
    let text = text_of(DRAWN_PLIES, &[]);
    let games = games(&text);
    assert_eq!(games.len(), 6);
    let (mut positions, mut drawn, mut whole) = (0, 0, 0);
    for (number, game) in games.iter().enumerate() {
        for (ply, played) in game.plies.iter().enumerate() {
            if ply < number % 2 {
                assert!(played.visits.is_empty(), "a random ply");
                continue;
            }
            positions += 1;
            let legal: HashSet<String> = played
                .position
                .legal_moves()
                .iter()
                .map(|mv| mv.to_uci(CastlingMode::Chess960).to_string())
                .collect();
            let visits = &played.visits;
            assert!(
                visits.iter().all(|(mv, _)| legal.contains(mv)),
                "{visits:?}"
            );
            let all: HashSet<&String> = visits.iter().map(|(mv, _)| mv).collect();
            assert_eq!(all.len(), visits.len());
            assert!(visits.is_sorted_by(|(_, one), (_, other)| one >= other));
            let sum: u32 = visits.iter().map(|(_, visits)| visits).sum();
            // The first playout is the root's own. Proofs end a search early, and take losing moves
            // away.
            whole += usize::from(sum + 1 >= PLAYOUTS);
            let mv = played.mv.to_string();
            let place = visits.iter().position(|(other, _)| *other == mv);
            let place = place.expect("the move played was visited");
            match ply < DRAWN_PLIES {
                true => drawn += usize::from(place > 0),
                false => assert_eq!(visits[place].1, visits[0].1, "ply {ply}: {visits:?}"),
            }
        }
    }
    assert!(drawn > 0, "no move was drawn");
    assert!(10 * whole > 9 * positions, "{whole} of {positions}");
    // Both datasets read the same file.
    let filters = Filters::default();
    let (mut labels, mut rows) = (0, 0);
    let mut counts = SourceCounts::default();
    read_games(text.as_bytes(), &filters, &mut counts, |_, game| {
        labels += game.len()
    });
    // No comment stands before the first move.
    assert_eq!(labels, positions - 3);
    let mut counts = SourceCounts::default();
    read_moves(text.as_bytes(), &filters, &mut counts, |_, game| {
        rows += game.len()
    });
    assert_eq!((rows, counts.skipped.len()), (4 * positions + 3, 0));
}

#[test]
fn noise_and_draws_vary_games_and_the_seed_repeats_them() {
    let text = text_of(DRAWN_PLIES, &[]);
    assert_eq!(text, text_of(DRAWN_PLIES, &["--concurrency", "3"]));
    let distinct = |text: &str| {
        let games: HashSet<Vec<String>> = games(text).iter().map(moves_of).collect();
        games.len()
    };
    assert_eq!(distinct(&text), 6);
    assert_eq!(distinct(&text_of(0, &[])), 6, "noise alone");
    // Without either the games of an even number are one, and the others differ in one ply.
    let bare = text_of(0, &["--noise", "0"]);
    let even: HashSet<Vec<String>> = games(&bare).iter().step_by(2).map(moves_of).collect();
    assert_eq!(even.len(), 1);
}

#[test]
fn refuses_what_is_no_policy() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("games.pgn");
    let net = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../models/linear.safetensors"
    );
    let spec = format!("material policy={net}");
    let (code, message) = refusal(&["--engine", &spec, "--games", "1"], &out);
    assert_eq!(code, Some(6), "{message}");
    assert!(message.contains("linear.safetensors"), "{message}");
    let missing = [
        "--engine",
        "material policy=none.safetensors",
        "--games",
        "1",
    ];
    let (code, message) = refusal(&missing, &out);
    assert_eq!(code, Some(3), "{message}");
    let noise = ["--engine", "material", "--games", "1", "--noise", "1.5"];
    assert_eq!(refusal(&noise, &out).0, Some(2));
    assert!(!out.exists());
}
