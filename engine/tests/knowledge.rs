//! Chess knowledge of the search, tested by positions: stalemate, repetition, the fifty-move rule,
//! insufficient material, underpromotion, mates. Each with the embedded network and with material
//! only, because the rules come before any evaluation. Tests assert the move, not its score.
//! Outcomes were checked with Stockfish 15.1.

mod common;

use std::sync::atomic::AtomicBool;

use cozy_chess::{Board, Color, GameStatus, Move};
use engine::{Engine, EvaluationKind, Evaluator, Limits, Outcome, Position, Score, has_legal_move};

use common::{played, search, signals};

const KINDS: [EvaluationKind; 2] = [EvaluationKind::Network, EvaluationKind::Material];

/// Several times enough for every problem here.
const NODES: u64 = 60_000;

fn engine(kind: EvaluationKind) -> Engine {
    let mut evaluator = Evaluator::embedded().unwrap();
    evaluator.set_kind(kind);
    Engine::new(evaluator)
}

fn nodes(nodes: u64) -> Limits {
    Limits {
        nodes: Some(nodes),
        ..Limits::default()
    }
}

/// Returns the chosen move in UCI notation, without conversion of castling.
fn chosen(kind: EvaluationKind, position: &Position) -> String {
    let outcome = search(&mut engine(kind), position, &nodes(NODES));
    outcome.best.unwrap().to_string()
}

/// Asserts that one of `wanted` is played, with either evaluation.
fn plays(fen: &str, wanted: &[&str]) {
    for kind in KINDS {
        let mv = chosen(kind, &Position::from_fen(fen).unwrap());
        assert!(wanted.contains(&mv.as_str()), "{fen} by {kind}: {mv}");
    }
}

fn is_stalemate(board: &Board) -> bool {
    board.checkers().is_empty() && !has_legal_move(board)
}

#[test]
fn avoids_stalemate_in_won_games() {
    for fen in [
        "k7/2K5/8/1P6/8/8/8/8 w - - 0 1",
        "7k/8/6K1/8/8/8/8/5Q2 w - - 0 1",
        "k7/2Q5/8/2K5/8/8/8/8 w - - 0 1",
        "8/8/8/8/8/1k6/3q4/K7 b - - 0 1",
        "7k/5P2/6K1/8/8/8/8/8 w - - 0 1",
    ] {
        for kind in KINDS {
            let mut engine = engine(kind);
            let position = Position::from_fen(fen).unwrap();
            for limit in [200, 2_000, NODES] {
                let mut after = position.clone();
                let best = search(&mut engine, &position, &nodes(limit)).best.unwrap();
                after.play(best).unwrap();
                assert!(!is_stalemate(after.board()), "{fen} by {kind}: {best}");
            }
        }
    }
}

#[test]
fn seeks_stalemate_in_lost_games() {
    // The queen sacrifices herself where only the king can capture.
    plays(
        "6k1/6pp/8/8/8/6q1/3r4/5Q1K w - - 0 1",
        &["f1f8", "f1f7", "f1c4"],
    );
}

#[test]
fn underpromotes_if_that_wins() {
    // Saavedra, 1895: a queen would allow stalemate.
    plays("8/2P5/8/8/3r4/8/2K5/k7 w - - 0 1", &["c7c8r"]);
    // Fork.
    plays("8/2q1P1k1/8/8/8/P7/8/6K1 w - - 0 1", &["e7e8n"]);
    // Lasker's trap in the Albin counter-gambit: promotion with check, before d1xd8.
    plays(
        "rnbqk1nr/ppp2ppp/8/4P3/1BP5/8/PP2KpPP/RN1Q1BNR b kq - 1 7",
        &["f2g1n"],
    );
}

/// Plays both sides with the engine; an error unless White mates before the rules end the game.
fn white_mates(kind: EvaluationKind, fen: &str) -> Result<(), String> {
    let mut engine = engine(kind);
    let mut position = Position::from_fen(fen).unwrap();
    while position.board().status() == GameStatus::Ongoing {
        if position.occurrences() == 3 {
            let board = position.board();
            return Err(format!("{fen} by {kind}: a third time {board}"));
        }
        let best = search(&mut engine, &position, &nodes(15_000)).best.unwrap();
        position.play(best).unwrap();
    }
    let board = position.board();
    match board.status() == GameStatus::Won && board.side_to_move() == Color::Black {
        true => Ok(()),
        false => Err(format!("{fen} by {kind}: ends as {board}")),
    }
}

#[test]
fn wins_won_endgames() {
    for fen in [
        "8/8/8/3k4/8/8/8/KQ6 w - - 0 1",
        "8/8/3k4/8/8/8/8/KR5R w - - 0 1",
        "8/8/8/3k4/8/8/8/KR6 w - - 0 1",
        "8/8/8/3k4/8/8/8/KBB5 w - - 0 1",
        "8/8/8/3k4/8/8/8/KBN5 w - - 0 1",
        "8/8/8/4k3/8/8/2BN4/4K3 w - - 0 1",
        "8/8/8/8/8/8/1k6/5BNK w - - 0 1",
        "8/8/8/4k3/8/4K3/4P3/3Q4 w - - 0 1",
        "6k1/5pp1/7p/8/8/8/5PPP/2Q3K1 w - - 0 1",
    ] {
        white_mates(EvaluationKind::Network, fen).unwrap();
    }
    white_mates(EvaluationKind::Material, "7k/8/8/3K4/8/8/8/1Q6 w - - 0 1").unwrap();
}

#[test]
fn avoids_threefold_repetition_in_won_games() {
    // Black, a rook up, has had two chances; f3f2 would be the third occurrence.
    let fen = "7k/8/8/8/8/8/5r2/K7 w - - 0 1";
    let position = played(fen, "a1b1 f2f3 b1a1 f3f2 a1b1 f2f3 b1a1");
    for kind in KINDS {
        let mut after = position.clone();
        let mv = chosen(kind, &position);
        after.play(mv.parse().unwrap()).unwrap();
        assert!(after.occurrences() < 3, "{kind}: {mv}");
    }
}

#[test]
fn seeks_repetition_in_lost_games() {
    // The king's return is the third occurrence.
    let fen = "7k/8/8/8/8/8/5r2/K7 w - - 0 1";
    let position = played(fen, "a1b1 f2f3 b1a1 f3f2 a1b1 f2f3 b1a1 f3f2 a1b1 f2f3");
    for kind in KINDS {
        assert_eq!(chosen(kind, &position), "b1a1", "{kind}");
    }
    // Perpetual check: without it Black mates.
    plays("r4rk1/8/7Q/8/8/8/q7/7K w - - 0 1", &["h6g6"]);
}

#[test]
fn makes_progress_before_the_fifty_move_rule() {
    // The hundredth ply must be a capture or a pawn move.
    plays("7k/8/8/3p4/8/8/8/K2Q4 w - - 99 80", &["d1d5"]);
    plays("7k/8/8/8/8/8/P7/KQ6 w - - 99 80", &["a2a3", "a2a4"]);
    // Time left for a mate in two, or in one.
    let mate = |clock| format!("7k/8/8/5K2/8/8/8/1Q6 w - - {clock} 80");
    plays(&mate(97), &["f5g6"]);
    for kind in KINDS {
        // A mate in the table must not be announced if it comes too late.
        let mut engine = engine(kind);
        for (clock, score) in [(0, "mate 2"), (97, "mate 2"), (98, "cp 0")] {
            let position = Position::from_fen(&mate(clock)).unwrap();
            let outcome = search(&mut engine, &position, &nodes(NODES));
            assert_eq!(outcome.score.to_string(), score, "clock {clock} by {kind}");
        }
    }
}

#[test]
fn waits_for_the_fifty_move_rule_in_lost_games() {
    // A pawn move would reset the count.
    plays("7k/p7/8/8/8/8/8/KQ6 b - - 98 80", &["h8g7", "h8g8"]);
}

#[test]
fn insufficient_material_is_a_draw() {
    for kind in KINDS {
        for fen in [
            "7k/8/8/8/8/8/8/KB6 w - - 0 1",
            "7k/8/8/8/8/8/8/KN6 b - - 0 1",
            "6bk/8/8/8/8/8/8/KB6 w - - 0 1",
        ] {
            let outcome = search(
                &mut engine(kind),
                &Position::from_fen(fen).unwrap(),
                &nodes(NODES),
            );
            assert_eq!(outcome.score, Score::DRAW, "{fen} by {kind}");
        }
    }
    // The knight captures the last pawn, at once or after its promotion.
    plays("8/8/8/8/3N4/8/1kp5/6K1 w - - 0 1", &["d4c2", "d4e2"]);
}

/// Searches for a mate as `go mate` does.
fn find_mate(engine: &mut Engine, position: &Position, moves: u32) -> Outcome {
    let limits = Limits {
        mate: Some(moves),
        nodes: Some(500_000),
        ..Limits::default()
    };
    search(engine, position, &limits)
}

#[test]
fn finding_a_requested_mate_ends_the_search() {
    for (fen, moves) in [
        ("6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1", 1),
        ("7k/8/8/5K2/8/8/8/1Q6 w - - 0 1", 2),
        // Morphy's problem: a rook sacrifice and a zugzwang.
        ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 2),
        ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", 3),
    ] {
        for kind in KINDS {
            let position = Position::from_fen(fen).unwrap();
            let outcome = find_mate(&mut engine(kind), &position, moves);
            let score = format!("mate {moves}");
            assert_eq!(outcome.score.to_string(), score, "{fen} by {kind}");
            assert!(outcome.nodes < 500_000, "{fen} by {kind} goes on");
        }
    }
}

/// Returns whether a line is legal and ends in mate.
fn ends_in_mate(position: &Position, line: &[Move]) -> bool {
    let mut position = position.clone();
    line.iter().all(|&mv| position.play(mv).is_ok()) && position.board().status() == GameStatus::Won
}

#[test]
fn disproving_a_requested_mate_ends_the_search() {
    for (fen, moves) in [
        // Mates in two and three.
        ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 1),
        ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", 2),
        (
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            2,
        ),
    ] {
        let position = Position::from_fen(fen).unwrap();
        let outcome = find_mate(&mut engine(EvaluationKind::Network), &position, moves);
        assert!(outcome.nodes < 500_000, "{fen} goes on");
        assert!(outcome.best.is_some(), "{fen}");
        let told = outcome.score.moves_to_mate();
        assert!(
            told.is_none_or(|told| told > moves as i32),
            "{fen}: {told:?}"
        );
    }
}

#[test]
fn mates_near_the_fifty_move_rule_are_left_to_the_normal_search() {
    for (clock, score) in [(95, "mate 2"), (97, "mate 2"), (98, "cp 0")] {
        let position = Position::from_fen(&format!("7k/8/8/5K2/8/8/8/1Q6 w - - {clock} 80"));
        let mut engine = engine(EvaluationKind::Network);
        let outcome = find_mate(&mut engine, &position.unwrap(), 2);
        assert_eq!(outcome.score.to_string(), score, "clock {clock}");
    }
}

/// Returns positions with the moves to their mates, negative if the side to move is mated.
fn published_mates() -> Option<Vec<(Position, i32)>> {
    let path = test_support::shared("suites/mates2000.epd")?;
    let text = std::fs::read_to_string(path).unwrap();
    let problem = |line: &str| {
        let moves = line.rsplit_once('#').unwrap().1.trim_end_matches(';');
        (Position::from_fen(line).unwrap(), moves.parse().unwrap())
    };
    Some(text.lines().map(problem).collect())
}

#[test]
fn requested_mates_are_shortest_and_have_full_lines() {
    let Some(problems) = published_mates() else {
        return;
    };
    let mut found = 0;
    for threads in [1, 2] {
        let mut engine = engine(EvaluationKind::Network);
        engine.set_threads(threads);
        for (position, published) in problems.iter().step_by(40) {
            let fen = position.board();
            let limits = Limits {
                mate: Some(published.unsigned_abs()),
                nodes: Some(100_000),
                ..Limits::default()
            };
            engine.clear();
            let outcome = search(&mut engine, position, &limits);
            let Some(moves) = outcome.score.moves_to_mate() else {
                continue;
            };
            assert_eq!(moves.signum(), published.signum(), "{fen}");
            if outcome.nodes >= 100_000 {
                // The normal search may have found only a longer mate.
                assert!(moves.abs() >= published.abs(), "{fen}");
                continue;
            }
            assert_eq!(moves, *published, "{fen}");
            let line = &outcome.lines[0].pv;
            assert_eq!(Some(line.len()), outcome.score.plies_to_mate(), "{fen}");
            assert!(ends_in_mate(position, line), "{fen}");
            found += 1;
        }
    }
    assert!(found > 50, "{found} of 100 found");
}

#[test]
fn never_announces_mates_shorter_than_the_shortest() {
    let Some(problems) = published_mates() else {
        return;
    };
    let mut engine = engine(EvaluationKind::Network);
    let mut announced = 0;
    let mut shown = 0;
    for (position, published) in problems.iter().step_by(20) {
        let fen = position.board();
        let stop = AtomicBool::new(false);
        engine.clear();
        engine.search(position, &nodes(20_000), &signals(&stop), &mut |report| {
            let Some(plies) = report.score.plies_to_mate() else {
                return;
            };
            let moves = plies.div_ceil(2) as i32;
            let wins = report.score > Score::DRAW;
            let depth = report.depth;
            assert_eq!(wins, *published > 0, "{fen} depth {depth}");
            assert!(moves >= published.abs(), "{fen} depth {depth}: {moves}");
            announced += 1;
            shown += usize::from(report.pv.len() == plies && ends_in_mate(position, report.pv));
        });
    }
    assert!(announced > 100, "only {announced} mates announced");
    assert!(shown * 10 > announced * 7, "{shown} of {announced} shown");
}
