//! The 902 inputs by python-chess against those of the engine, of boards and along
//! moves. The trainer's, of records, are compared with the same rows in
//! `trainer/src/position.rs`.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use engine::{Evaluator, Position, Tree, features, parse_fen, parse_move};
use models::{INPUTS, Network, QuantisedNetwork, Shape};

/// Rows by `tests/reference/inputs.py` that are kept here.
fn kept() -> PathBuf {
    tests::root().join("tests/data/inputs.tsv")
}

fn rows(path: PathBuf) -> impl Iterator<Item = String> {
    let file = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    BufReader::new(file).lines().map(Result::unwrap)
}

#[test]
fn inputs_of_boards_and_along_moves_are_those_of_python() {
    // Random weights: no input goes without an effect.
    let network = Network::random(Shape::DEFAULT, 902);
    let evaluator = Evaluator::new(QuantisedNetwork::new(&network).unwrap());
    let mut tree = Tree::new(&evaluator);
    let (mut compared, mut moves) = (0, 0);
    // Those kept, or those of `tests/inputs.sh`.
    let path = std::env::var_os("KIBITZ_INPUTS").map_or_else(kept, PathBuf::from);
    for row in rows(path) {
        let columns: Vec<&str> = row.split('\t').collect();
        let [before, played, fen, on] = columns[..] else {
            panic!("{row}")
        };
        let board = parse_fen(fen).unwrap();
        assert_eq!(indices(&board), on, "{row}");
        compared += 1;
        if before.is_empty() {
            continue;
        }
        tree.start(&Position::from_fen(before).unwrap(), &evaluator);
        tree.push(parse_move(tree.board(), played).unwrap());
        assert_eq!(indices(tree.board()), on, "{row}");
        // Carried on from the position before, against added up from nothing.
        let expected = evaluator.evaluate_board(&board);
        assert_eq!(tree.evaluate(&evaluator), expected, "{row}");
        moves += 1;
    }
    assert!(compared > 1_000 && moves > 900, "{compared}, {moves}");
}

fn indices(board: &engine::cozy_chess::Board) -> String {
    let mut features = features(board);
    features.sort();
    let indices: Vec<String> = features.iter().map(|f| f.index().to_string()).collect();
    indices.join(" ")
}

/// What the rows must have, or the comparison would prove little.
#[test]
fn rows_have_inputs_of_every_kind() {
    let mut seen = [BTreeSet::new(), BTreeSet::new()];
    let (mut chess960, mut unusable, mut castled) = (0, 0, 0);
    for row in rows(kept()) {
        let columns: Vec<&str> = row.split('\t').collect();
        let fields: Vec<&str> = columns[2].split(' ').collect();
        let mover = &mut seen[usize::from(fields[1] == "b")];
        let on: Vec<usize> = columns[3].split(' ').map(|i| i.parse().unwrap()).collect();
        chess960 += usize::from(
            fields[2]
                .to_lowercase()
                .chars()
                .any(|c| "abcdefgh".contains(c)),
        );
        let passed = on.iter().any(|input| (768..832).contains(input));
        unusable += usize::from(fields[3] != "-" && !passed);
        castled += usize::from(is_castling(columns[0], columns[1]));
        mover.extend(on);
    }
    for (mover, seen) in ["White", "Black"].into_iter().zip(seen) {
        let missing: Vec<usize> = (0..INPUTS)
            .filter(|input| can_be_on(*input) && !seen.contains(input))
            .collect();
        assert_eq!(missing, [0; 0], "{mover} to move");
    }
    assert!(
        chess960 > 200 && unusable > 30 && castled > 10,
        "{chess960} in Chess960, {unusable} with a square that no pawn takes on, {castled} castled"
    );
}

fn is_castling(before: &str, played: &str) -> bool {
    if before.is_empty() {
        return false;
    }
    let board = parse_fen(before).unwrap();
    let mv = parse_move(&board, played).unwrap();
    engine::is_castling(&board, mv)
}

/// Never on: pawns on the first and the last rank, en passant but on the mover's
/// sixth, and the inputs without a meaning.
fn can_be_on(input: usize) -> bool {
    let (plane, square) = (input / 64, input % 64);
    match plane {
        0 | 6 => (8..56).contains(&square),
        12 => (40..48).contains(&square),
        13 => square < 30,
        _ => input < 901,
    }
}
