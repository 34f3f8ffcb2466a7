//! Search results: mates, draws by the rules, limits, panics and bounds.

#[path = "../common/mod.rs"]
mod common;
mod puct;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, mpsc};
use std::thread::{self, ThreadId};
use std::time::Duration;

use cozy_chess::{Board, Move};
use engine::{
    BENCH_POSITIONS, Engine, EvaluationKind, Evaluator, Handicap, Limits, MIN_ELO, Outcome,
    Position, Report, ScoreBound, Tablebase, TimeBudget, Wdl, has_legal_move,
};
use models::{Architecture, Network, QuantisedNetwork};

use common::{played, search, signals};

const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

fn engine(kind: EvaluationKind) -> Engine {
    let network = QuantisedNetwork::new(&Network::random(Architecture::ARTICLE, 1)).unwrap();
    let mut evaluator = Evaluator::new(network);
    evaluator.set_kind(kind);
    Engine::new(evaluator)
}

fn nodes_only(nodes: u64) -> Limits {
    Limits {
        nodes: Some(nodes),
        ..Limits::default()
    }
}

fn depth(depth: u64) -> Limits {
    Limits {
        depth: Some(depth),
        ..Limits::default()
    }
}

/// Searches a FEN by material; returns move and score in UCI notation.
fn by_material(fen: &str, plies: u64) -> (String, String) {
    let position = Position::from_fen(fen).unwrap();
    let outcome = search(
        &mut engine(EvaluationKind::Material),
        &position,
        &depth(plies),
    );
    (outcome.best.unwrap().to_string(), outcome.score.to_string())
}

#[test]
fn finds_mates_with_their_distance() {
    let mates = [
        ("6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1", "e1e8", "mate 1"),
        ("4r2k/8/8/8/8/8/PPP5/1K6 b - - 0 1", "e8e1", "mate 1"),
        // Morphy's problem, a zugzwang that null moves miss at first.
        ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", "a1a6", "mate 2"),
        ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", "f6a6", "mate 3"),
    ];
    for (fen, mv, score) in mates {
        assert_eq!(by_material(fen, 20), (mv.into(), score.into()), "{fen}");
    }
    assert_eq!(
        by_material("kbK5/pp6/RP6/8/8/8/8/8 b - - 0 1", 5).1,
        "mate -1"
    );
}

#[test]
fn mate_distances_are_right_with_a_filled_table() {
    let mut engine = engine(EvaluationKind::Material);
    let mut position = Position::from_fen("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1").unwrap();
    for expected in [
        "mate 3", "mate -2", "mate 2", "mate -1", "mate 1", "mate -0",
    ] {
        let outcome = search(&mut engine, &position, &depth(20));
        assert_eq!(outcome.score.to_string(), expected);
        if let Some(mv) = outcome.best {
            position.play(mv).unwrap();
        }
    }
}

#[test]
fn never_stalemates_in_won_positions() {
    for fen in [
        "7k/8/8/8/8/8/8/K4Q2 w - - 0 1",
        "7k/8/6K1/8/8/8/8/5Q2 w - - 0 1",
    ] {
        for plies in 1..=6 {
            let mut position = Position::from_fen(fen).unwrap();
            let outcome = search(
                &mut engine(EvaluationKind::Material),
                &position,
                &depth(plies),
            );
            position.play(outcome.best.unwrap()).unwrap();
            let board = position.board();
            assert!(
                has_legal_move(board) || !board.checkers().is_empty(),
                "{fen} depth {plies}"
            );
            assert!(outcome.score.centipawns() > 0);
        }
    }
}

#[test]
fn perpetual_check_saves_a_lost_game() {
    let (_, score) = by_material("r4rk1/8/7Q/8/8/8/q7/7K w - - 0 1", 6);
    assert_eq!(score, "cp 0");
}

#[test]
fn the_third_occurrence_in_the_game_is_a_draw() {
    let fen = "7k/8/8/8/8/8/5r2/K7 w - - 0 1";
    let round = "a1b1 f2f3 b1a1 f3f2 ";
    let loser = played(fen, &format!("{round}{round}a1b1 f2f3"));
    let outcome = search(&mut engine(EvaluationKind::Material), &loser, &depth(3));
    assert_eq!(outcome.best.unwrap().to_string(), "b1a1");
    assert_eq!(outcome.score.to_string(), "cp 0");
    let winner = played(fen, &format!("{round}a1b1 f2f3 b1a1"));
    let outcome = search(&mut engine(EvaluationKind::Material), &winner, &depth(3));
    assert_ne!(outcome.best.unwrap().to_string(), "f3f2");
    // A rook, less the correction history of such positions.
    assert!(outcome.score.centipawns() >= 400);
}

#[test]
fn the_second_occurrence_in_the_game_is_not_a_draw() {
    let position = played(
        "7k/8/8/8/8/8/5r2/K7 w - - 0 1",
        "a1b1 f2f3 b1a1 f3f2 a1b1 f2f3",
    );
    let outcome = search(&mut engine(EvaluationKind::Material), &position, &depth(1));
    assert_eq!(outcome.score.to_string(), "cp -500");
}

#[test]
fn mate_takes_precedence_over_the_fifty_move_rule() {
    assert_eq!(by_material("7k/8/8/8/8/8/8/KQ6 w - - 99 80", 4).1, "cp 0");
    assert_eq!(by_material("7k/8/8/8/8/8/8/KQ6 w - - 90 80", 4).1, "cp 900");
    assert_eq!(
        by_material("7k/8/6K1/8/8/8/8/1Q6 w - - 99 80", 4).1,
        "mate 1"
    );
    // The pawn move resets the count.
    let (mv, score) = by_material("7k/8/8/8/8/8/P7/KQ6 w - - 99 80", 2);
    assert!(mv.starts_with("a2") && score == "cp 1000", "{mv} {score}");
}

#[test]
fn mates_in_the_table_yield_to_the_fifty_move_rule() {
    let mut engine = engine(EvaluationKind::Material);
    let mut score = |clock: u8, plies: u64| {
        let fen = format!("7k/8/8/4K3/8/8/8/1Q6 w - - {clock} 80");
        search(
            &mut engine,
            &Position::from_fen(&fen).unwrap(),
            &depth(plies),
        )
        .score
    };
    assert!(score(0, 14).to_string().starts_with("mate"));
    for plies in 1..=4 {
        let score = score(97, plies).to_string();
        assert!(score.starts_with("cp"), "{score} at {plies} plies");
    }
}

#[test]
fn bare_minor_pieces_draw() {
    for fen in [
        "7k/8/8/8/8/8/8/KB6 w - - 0 1",
        "7k/8/8/8/8/8/8/KN6 b - - 0 1",
    ] {
        assert_eq!(by_material(fen, 3).1, "cp 0", "{fen}");
    }
    // Capturing the last pawn with the bishop would leave insufficient material.
    assert_eq!(
        by_material("8/8/8/8/8/k1p5/8/K3B3 w - - 0 1", 1).1,
        "cp 230"
    );
}

#[test]
fn always_moves_under_the_tightest_limits() {
    let now = TimeBudget {
        soft: Some(Duration::ZERO),
        hard: Duration::ZERO,
    };
    let tight = [
        depth(0),
        Limits {
            nodes: Some(0),
            ..Limits::default()
        },
        Limits {
            nodes: Some(1),
            ..Limits::default()
        },
        Limits {
            nodes: Some(700),
            ..Limits::default()
        },
        Limits {
            time: Some(now),
            ..Limits::default()
        },
    ];
    let mut engine = engine(EvaluationKind::Network);
    for fen in BENCH_POSITIONS {
        let position = Position::from_fen(fen).unwrap();
        for limits in &tight {
            let best = search(&mut engine, &position, limits).best.unwrap();
            assert!(position.board().is_legal(best), "{fen}");
        }
        let stop = AtomicBool::new(true);
        let best = engine
            .search(&position, &Limits::default(), &signals(&stop), &mut |_| {})
            .best;
        assert!(position.board().is_legal(best.unwrap()), "{fen}");
    }
}

#[test]
fn no_best_move_without_legal_moves() {
    for (fen, score) in [
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "cp 0"),
        ("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "mate -0"),
    ] {
        let position = Position::from_fen(fen).unwrap();
        let outcome = search(&mut engine(EvaluationKind::Network), &position, &depth(3));
        assert_eq!(
            (outcome.best, outcome.score.to_string()),
            (None, score.into())
        );
    }
}

#[test]
fn node_limits_are_exact() {
    let position = Position::from_fen(KIWIPETE).unwrap();
    let run = |limits: &Limits| search(&mut engine(EvaluationKind::Material), &position, limits);
    let first = run(&depth(1)).nodes;
    for nodes in [first + 1, 5_000] {
        assert_eq!(run(&nodes_only(nodes)).nodes, nodes);
    }
}

/// An iteration that passes the soft limit is finished: the result equals that of a search to its
/// depth.
#[test]
fn a_soft_limit_ends_between_iterations() {
    let position = Position::from_fen(KIWIPETE).unwrap();
    for soft_nodes in [1, 500, 5_000] {
        let soft = Limits {
            soft_nodes: Some(soft_nodes),
            ..Limits::default()
        };
        let run =
            |limits: &Limits| search(&mut engine(EvaluationKind::Material), &position, limits);
        let outcome = run(&soft);
        assert!(outcome.nodes >= soft_nodes);
        assert_eq!(outcome, run(&depth(outcome.depth.into())));
        let before = run(&depth((outcome.depth - 1).max(1).into()));
        assert!(outcome.depth == 1 || before.nodes < soft_nodes);
    }
}

/// Every move is searched once under any limit.
#[test]
fn the_first_iteration_is_finished() {
    let position = Position::from_fen("3q3k/8/8/8/8/8/PPP5/1K1R4 w - - 0 1").unwrap();
    let now = Limits {
        time: Some(TimeBudget {
            soft: Some(Duration::ZERO),
            hard: Duration::ZERO,
        }),
        ..Limits::default()
    };
    let limits = (0..6).map(nodes_only).chain([now]);
    for limits in limits {
        let outcome = search(&mut engine(EvaluationKind::Material), &position, &limits);
        assert_eq!(outcome.best.unwrap().to_string(), "d1d8", "{limits:?}");
        assert_eq!(outcome.depth, 1, "{limits:?}");
    }
}

/// Handicaps apply their node limit from the first node, as when their strength was measured.
#[test]
fn a_handicap_may_end_within_the_first_iteration() {
    let position = Position::from_fen(KIWIPETE).unwrap();
    let mut limits = Limits::default();
    Handicap::of_elo(MIN_ELO).apply(&mut limits);
    let outcome = search(&mut engine(EvaluationKind::Network), &position, &limits);
    assert_eq!((outcome.nodes, outcome.depth), (63, 0));
}

/// Runs a closure on another thread; panics after a minute, which no search takes.
fn within_a_minute<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(run()));
    let minute = Duration::from_secs(60);
    receiver.recv_timeout(minute).expect("the search ends")
}

#[test]
fn a_panic_of_the_first_thread_ends_the_search() {
    let panicked = within_a_minute(|| {
        let mut engine = engine(EvaluationKind::Material);
        engine.set_threads(3);
        let search = AssertUnwindSafe(|| {
            let stop = AtomicBool::new(false);
            let report = &mut |_: &Report| panic!("deliberate panic in a report");
            let (position, limits) = (Position::startpos(), Limits::default());
            engine.search(&position, &limits, &signals(&stop), report)
        });
        catch_unwind(search).is_err()
    });
    assert!(panicked);
}

/// A tablebase that panics on all threads but one.
struct Failing(ThreadId);

impl Tablebase for Failing {
    fn max_pieces(&self) -> u32 {
        32
    }

    fn wdl(&self, _: &Board) -> Option<Wdl> {
        let here = thread::current().id();
        assert_eq!(here, self.0, "deliberate panic in a tablebase");
        None
    }

    fn root_moves(&self, _: &Board) -> Option<(Wdl, Vec<Move>)> {
        None
    }
}

#[test]
fn a_panic_of_another_thread_ends_the_search() {
    let panicked = within_a_minute(|| {
        let mut engine = engine(EvaluationKind::Material);
        engine.set_threads(3);
        engine.set_tablebase(Some(Arc::new(Failing(thread::current().id()))));
        let search =
            AssertUnwindSafe(|| search(&mut engine, &Position::startpos(), &Limits::default()));
        catch_unwind(search).is_err()
    });
    assert!(panicked);
}

#[test]
fn searches_are_deterministic() {
    for kind in [EvaluationKind::Network, EvaluationKind::Material] {
        let run = || -> Vec<Outcome> {
            let mut engine = engine(kind);
            let positions = BENCH_POSITIONS
                .iter()
                .map(|fen| Position::from_fen(fen).unwrap());
            positions
                .map(|position| search(&mut engine, &position, &depth(3)))
                .collect()
        };
        assert_eq!(run(), run());
    }
}

#[test]
fn quiescence_does_not_explode() {
    let position = Position::from_fen(KIWIPETE).unwrap();
    for kind in [EvaluationKind::Network, EvaluationKind::Material] {
        let outcome = search(&mut engine(kind), &position, &depth(1));
        assert!(outcome.nodes < 5_000, "{kind}: {} nodes", outcome.nodes);
    }
}

#[test]
fn the_start_is_equal_by_material() {
    for plies in 1..=4 {
        assert_eq!(by_material(&Board::startpos().to_string(), plies).1, "cp 0");
    }
}

/// Late-move pruning of the opponent's replies in PV nodes once made the mover hope for a pawn.
#[test]
fn two_plies_promise_no_more_than_one() {
    let openings = include_str!("../../books/openings.epd").lines();
    let gains = openings.map(|opening| {
        let position = Position::from_fen(&format!("{opening} 0 1")).unwrap();
        let mut engine = Engine::new(Evaluator::embedded().unwrap());
        let [one, two] = [1, 2].map(|plies| search(&mut engine, &position, &depth(plies)).score);
        two.centipawns() - one.centipawns()
    });
    let gains: Vec<i32> = gains.collect();
    let mean = gains.iter().sum::<i32>() / gains.len() as i32;
    assert!((-40..40).contains(&mean), "{mean} centipawns");
}

/// With a stopped clock, only halted searches report bounds.
#[test]
fn halted_searches_report_lower_bounds() {
    let stop = AtomicBool::new(false);
    let mut told = 0;
    for fen in BENCH_POSITIONS {
        let position = Position::from_fen(fen).unwrap();
        for nodes in (500..20_000).step_by(1_500) {
            let limits = Limits {
                nodes: Some(nodes),
                ..Limits::default()
            };
            let mut engine = engine(EvaluationKind::Material);
            engine.search(&position, &limits, &signals(&stop), &mut |report| {
                assert_ne!(report.bound, ScoreBound::Upper, "{fen} {nodes}");
                told += usize::from(report.bound == ScoreBound::Lower);
            });
        }
    }
    assert!(told > 0);
}
