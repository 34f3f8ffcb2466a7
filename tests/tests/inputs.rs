//! The 902 inputs by python-chess compared with the engine's, of boards and along moves.
//! `trainer/features/src/lib.rs` compares the trainer's, of records, with the same rows.

use std::collections::BTreeSet;

use engine::cozy_chess::Board;
use engine::{Evaluator, Position, Tree, features, parse_fen, parse_move};
use models::{Architecture, INPUTS, Network, QuantisedNetwork};
use test_support::inputs_by_python;

#[test]
fn inputs_equal_python_chess_on_boards_and_along_moves() {
    for mirrored in [false, true] {
        let architecture = Architecture {
            mirrored,
            ..Architecture::ARTICLE
        };
        // Random weights, so that every input has an effect.
        compare(&Network::random(architecture, 902));
    }
}

fn compare(network: &Network) {
    let evaluator = Evaluator::new(QuantisedNetwork::new(network).unwrap());
    let mut tree = Tree::new(&evaluator);
    let (mut compared, mut moves) = (0, 0);
    for row in inputs_by_python() {
        let board = parse_fen(&row.fen).unwrap();
        assert_eq!(indices(&board), row.inputs, "{row:?}");
        compared += 1;
        let Some((played, before)) = &row.played else {
            continue;
        };
        tree.start(&Position::from_fen(before).unwrap(), &evaluator);
        tree.push(parse_move(tree.board(), played).unwrap());
        assert_eq!(indices(tree.board()), row.inputs, "{row:?}");
        // Incremental evaluation against a full recomputation.
        let expected = evaluator.evaluate_board(&board);
        assert_eq!(tree.evaluate(&evaluator), expected, "{row:?}");
        moves += 1;
    }
    assert!(compared > 1_000 && moves > 900, "{compared}, {moves}");
}

fn indices(board: &Board) -> Vec<usize> {
    let mut features = features(board);
    features.sort();
    features.iter().map(|feature| feature.index()).collect()
}

/// The rows cover enough inputs for the comparison to be meaningful.
#[test]
fn rows_have_inputs_of_every_kind() {
    let mut seen = [BTreeSet::new(), BTreeSet::new()];
    let (mut chess960, mut unusable, mut castled) = (0, 0, 0);
    for row in inputs_by_python() {
        let fields: Vec<&str> = row.fen.split(' ').collect();
        let of_files = |c: char| ('a'..='h').contains(&c.to_ascii_lowercase());
        chess960 += usize::from(fields[2].contains(of_files));
        let passed = row.inputs.iter().any(|input| (768..832).contains(input));
        unusable += usize::from(fields[3] != "-" && !passed);
        castled += usize::from(row.played.is_some_and(|(played, before)| {
            let board = parse_fen(&before).unwrap();
            engine::is_castling(&board, parse_move(&board, &played).unwrap())
        }));
        seen[usize::from(fields[1] == "b")].extend(row.inputs);
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

/// Returns whether an input can be active. Excludes pawns on the first and last rank, en passant
/// off the mover's sixth rank, and inputs without a meaning.
fn can_be_on(input: usize) -> bool {
    let (plane, square) = (input / 64, input % 64);
    match plane {
        0 | 6 => (8..56).contains(&square),
        12 => (40..48).contains(&square),
        13 => square < 30,
        _ => input < 901,
    }
}
