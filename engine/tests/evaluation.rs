//! Incremental accumulators against recomputation, and colour symmetry of the evaluation.

use cozy_chess::Board;
use engine::{
    EvaluationKind, Evaluator, Position, Tree, features, legal_moves, parse_fen, write_fen,
};
use models::{Architecture, Kernel, Network, QuantisedNetwork};

fn network() -> Network {
    Network::random(Architecture::ARTICLE, 902)
}

fn quantised() -> QuantisedNetwork {
    QuantisedNetwork::new(&network()).unwrap()
}

/// Returns the start of a random game: standard, prepared for castling and promotion, or Chess960,
/// to cover every kind of castling.
fn opening(game: u64, random: &mut fastrand::Rng) -> Board {
    match game % 3 {
        0 => Board::startpos(),
        // Rooks and kings with room to castle, pawns about to promote.
        1 => parse_fen("r3k2r/pP4pp/8/8/8/8/PP4pP/R3K2R w KQkq - 0 1").unwrap(),
        _ => Board::chess960_startpos(random.u32(0..960)),
    }
}

/// Calls `visit` with every board of random games.
fn random_games(games: u64, mut visit: impl FnMut(&Board)) {
    for game in 0..games {
        let mut random = fastrand::Rng::with_seed(game);
        let mut board = opening(game, &mut random);
        for _ in 0..150 {
            let moves = legal_moves(&board);
            let Some(&mv) = random.choice(&moves) else {
                break;
            };
            board.play(mv);
            visit(&board);
        }
    }
}

/// Walks random lines up and down a tree and evaluates only now and then, so that lazy updates
/// catch up over several moves. Every kernel must equal the scalar kernel's evaluation from
/// scratch.
#[test]
fn incremental_evaluation_equals_recomputation() {
    let scalar = *Kernel::available().last().unwrap();
    let reference = Evaluator::new(quantised().with_kernel(scalar));
    for kernel in Kernel::available() {
        let evaluator = Evaluator::new(quantised().with_kernel(kernel));
        walk(&evaluator, &reference);
    }
}

fn walk(evaluator: &Evaluator, reference: &Evaluator) {
    let mut tree = Tree::new(evaluator);
    let (mut evaluations, mut castled, mut passed) = (0, 0, 0);
    for game in 0..120 {
        let mut random = fastrand::Rng::with_seed(game);
        tree.start(&Position::of(opening(game, &mut random)), evaluator);
        for _ in 0..250 {
            let board = tree.board();
            let moves = legal_moves(board);
            let mv = random.choice(&moves);
            let back = mv.is_none() || tree.is_full() || random.u8(..) < 60;
            if back && tree.ply() > 0 {
                tree.pop();
            } else if random.u8(..) < 10 && board.checkers().is_empty() {
                tree.push_null();
                passed += 1;
            } else if let Some(&mv) = mv {
                castled += usize::from(board.colors(board.side_to_move()).has(mv.to));
                tree.push(mv);
            }
            if random.bool() {
                let expected = reference.evaluate_board(tree.board());
                assert_eq!(tree.evaluate(evaluator), expected, "{}", tree.board());
                evaluations += 1;
            }
            assert_eq!(tree.key(), engine::position_key(tree.board()));
        }
    }
    assert!(
        evaluations > 8_000 && castled > 30 && passed > 100,
        "{evaluations} evaluations, {castled} castled, {passed} passed"
    );
}

/// Returns the position with colours swapped and ranks mirrored.
fn twin(board: &Board) -> Board {
    let fen = write_fen(board);
    let fields: Vec<&str> = fen.split(' ').collect();
    let swap = |text: &str| -> String {
        let swapped = text.chars().map(|c| match c.is_ascii_uppercase() {
            true => c.to_ascii_lowercase(),
            false => c.to_ascii_uppercase(),
        });
        swapped.collect()
    };
    let placement: Vec<String> = fields[0].split('/').rev().map(swap).collect();
    let side = if fields[1] == "w" { "b" } else { "w" };
    let en_passant = fields[3]
        .replace('3', "x")
        .replace('6', "3")
        .replace('x', "6");
    let flipped = format!(
        "{} {side} {} {en_passant} {} {}",
        placement.join("/"),
        swap(fields[2]),
        fields[4],
        fields[5]
    );
    parse_fen(&flipped).unwrap()
}

#[test]
fn evaluation_is_colour_symmetric() {
    let mut evaluator = Evaluator::new(quantised());
    let mut en_passant = 0;
    for kind in [EvaluationKind::Network, EvaluationKind::Material] {
        evaluator.set_kind(kind);
        random_games(45, |board| {
            let twin = twin(board);
            let mut inputs = [features(board), features(&twin)];
            inputs.iter_mut().for_each(|features| features.sort());
            assert_eq!(inputs[0], inputs[1], "{board}");
            assert_eq!(
                evaluator.evaluate_board(board),
                evaluator.evaluate_board(&twin),
                "{board}"
            );
            en_passant += usize::from(engine::legal_en_passant(board).is_some());
        });
    }
    assert!(en_passant > 0, "the games should have seen en passant");
}

#[test]
fn quantised_evaluation_is_close_to_floats() {
    let float = network();
    let evaluator = Evaluator::new(quantised());
    random_games(30, |board| {
        let exact = float.evaluate(&features(board)) * 100.0;
        let played = evaluator.evaluate_board(board).centipawns() as f32;
        assert!(
            (exact - played).abs() <= 5.0,
            "{board}: {exact} and {played}"
        );
    });
}
