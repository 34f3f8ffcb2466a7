//! Search by PUCT: proofs by the rules, limits, threads, and the tree that is kept.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cozy_chess::{Board, Move};
use engine::{
    Ending, Engine, Evaluator, Limits, Outcome, People, Position, Score, Tablebase, TimeBudget,
    Wdl, legal_moves, random_moves, write_move,
};
use models::{Architecture, Network, PolicyMetadata, PolicyNetwork, QuantisedNetwork};
use shakmaty::{CastlingMode, Chess, fen::Fen, san::San};

use crate::common::{played, signals};

const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

/// An engine and people whose nets are untrained.
struct Untrained {
    engine: Engine,
    people: People,
}

impl Untrained {
    fn new() -> Untrained {
        Untrained::of_seed(1)
    }

    fn of_seed(seed: u64) -> Untrained {
        let network = Network::random(Architecture::ARTICLE, seed);
        let network = QuantisedNetwork::new(&network).unwrap();
        let policy = PolicyNetwork::untrained(16, seed);
        Untrained {
            engine: Engine::new(Evaluator::new(network)),
            people: People::new(&policy, PolicyMetadata::new(16, "test")).unwrap(),
        }
    }

    fn search(&mut self, position: &Position, limits: &Limits) -> Outcome {
        let stop = AtomicBool::new(false);
        let person = self.people.strongest();
        self.engine
            .search_puct(person, position, limits, &signals(&stop), &mut |_| {})
    }

    fn best(&mut self, fen: &str, nodes: u64) -> (String, String) {
        let position = Position::from_fen(fen).unwrap();
        let outcome = self.search(&position, &playouts(nodes));
        (outcome.best.unwrap().to_string(), outcome.score.to_string())
    }
}

fn playouts(nodes: u64) -> Limits {
    Limits {
        nodes: Some(nodes),
        ..Limits::default()
    }
}

/// The thousand positions and their mating moves are python-chess's (`data/mates_in_one.py`).
#[test]
fn untrained_nets_find_every_mate_in_one() {
    let mut untrained = Untrained::new();
    let file = include_str!("../data/mates_in_one.epd");
    for line in file.lines() {
        let (epd, mates) = line.split_once(" bm ").unwrap();
        let board: Chess = epd
            .parse::<Fen>()
            .unwrap()
            .into_position(CastlingMode::Standard)
            .unwrap();
        let uci = |san: &str| {
            let san: San = san.parse().unwrap();
            san.to_move(&board)
                .unwrap()
                .to_uci(CastlingMode::Chess960)
                .to_string()
        };
        let mates = mates.trim_end_matches(';').split(' ');
        let mates: HashSet<String> = mates.map(|san| uci(san.trim_end_matches('#'))).collect();
        let position = Position::from_fen(&format!("{epd} 0 1")).unwrap();
        let outcome = untrained.search(&position, &playouts(1));
        let best = write_move(position.board(), outcome.best.unwrap(), true);
        assert!(mates.contains(&best), "{epd}: {best}");
        assert_eq!(outcome.score.to_string(), "mate 1", "{epd}");
    }
    assert_eq!(file.lines().count(), 1000);
}

#[test]
fn longer_mates_are_proven_and_so_are_those_by_the_opponent() {
    let mut untrained = Untrained::new();
    for (fen, mv, score) in [
        // Morphy's problem; and one move before the fifty-move rule, where every other move draws.
        ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", "a1a6", "mate 2"),
        ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 97 99", "a1a6", "mate 2"),
        ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", "f6a6", "mate 3"),
        ("kbK5/pp6/RP6/8/8/8/8/8 b - - 0 1", "b7a6", "mate -1"),
    ] {
        let (best, found) = untrained.best(fen, 50_000);
        // Both answers lose as fast.
        assert!(best == mv || found == "mate -1", "{fen}: {best}");
        assert_eq!(found, score, "{fen}");
    }
}

/// Wins are never given away by stalemate, repetition or fifty moves.
#[test]
fn won_endings_are_mated() {
    let endings = [
        "8/8/8/4k3/8/8/8/KQ6 w - - 0 1",
        "8/8/8/4k3/8/8/8/KR6 w - - 0 1",
        "8/8/8/3k4/8/8/8/KRR5 w - - 0 1",
    ];
    let nets = (1..=3).flat_map(|net| endings.map(|fen| (net, fen)));
    for (seed, (net, fen)) in nets.enumerate() {
        let mut untrained = Untrained::of_seed(net);
        let mut game = Position::from_fen(fen).unwrap();
        let mut ply = 0;
        while game.ending().is_none() {
            let mv = match ply % 2 {
                0 => untrained.search(&game, &playouts(1500)).best.unwrap(),
                _ => {
                    let moves = legal_moves(game.board());
                    moves[(seed + 7 * ply) % moves.len()]
                }
            };
            game.play(mv).unwrap();
            ply += 1;
        }
        let ending = game.ending().unwrap();
        assert!(
            matches!(ending, Ending::Checkmate { .. }),
            "{fen}: {ending:?}"
        );
    }
}

/// The third occurrence of a position is proven a draw.
#[test]
fn repetitions_are_proven_draws() {
    let game = played(
        "7k/8/7p/8/8/5Q2/2rr4/7K w - - 0 1",
        "f3f8 h8h7 f8f7 h7h8 f7f8 h8h7 f8f7 h7h8",
    );
    let mut untrained = Untrained::new();
    untrained.search(&game, &playouts(500));
    let moves = untrained.engine.visited_moves();
    let third = moves
        .iter()
        .find(|visited| visited.mv.to_string() == "f7f8");
    let third = third.expect("visited");
    assert_eq!((third.proof, third.value), (Some(Score::DRAW), 0.0));
}

#[test]
fn one_thread_grows_the_same_tree_again() {
    let position = Position::from_fen(KIWIPETE).unwrap();
    let grow = || {
        let mut untrained = Untrained::new();
        let outcome = untrained.search(&position, &playouts(3000));
        (outcome, untrained.engine.visited_moves())
    };
    let (outcome, moves) = grow();
    assert_eq!(grow(), (outcome.clone(), moves.clone()));
    assert_eq!(outcome.nodes, 3000);
    assert_eq!(outcome.best, Some(moves[0].mv));
    let visits: u32 = moves.iter().map(|mv| mv.visits).sum();
    assert_eq!(visits, 3000);
    let priors: f32 = moves.iter().map(|mv| mv.prior).sum();
    assert!(priors <= 1.0 + 1e-5, "{priors}");
}

#[test]
fn threads_share_the_tree_and_the_limit() {
    let mut untrained = Untrained::new();
    untrained.engine.set_threads(4);
    let position = Position::from_fen(KIWIPETE).unwrap();
    let outcome = untrained.search(&position, &playouts(20_000));
    assert_eq!(outcome.threads, 4);
    // The first thread that ends aborts the playouts of the others.
    assert!((19_997..=20_000).contains(&outcome.nodes), "{outcome:?}");
    let moves = untrained.engine.visited_moves();
    let visits: u32 = moves.iter().map(|mv| mv.visits).sum();
    assert_eq!(u64::from(visits), outcome.nodes, "no visit is lost");
}

#[test]
fn the_tree_of_the_position_played_is_kept() {
    let mut untrained = Untrained::new();
    let mut game = Position::startpos();
    let outcome = untrained.search(&game, &playouts(3000));
    let line = &outcome.lines[0].pv;
    line[..2].iter().for_each(|&mv| game.play(mv).unwrap());
    let visits = |untrained: &Untrained| -> u32 {
        let moves = untrained.engine.visited_moves();
        moves.iter().map(|mv| mv.visits).sum()
    };
    untrained.search(&game, &playouts(100));
    let kept = visits(&untrained);
    assert!(kept > 100, "{kept}");
    // A second search of the position adds to its tree; another game, or a cleared engine, has a
    // new one.
    untrained.search(&game, &playouts(100));
    assert_eq!(visits(&untrained), kept + 100);
    let other = Position::from_fen(KIWIPETE).unwrap();
    untrained.search(&other, &playouts(100));
    assert_eq!(visits(&untrained), 100);
    untrained.search(&game, &playouts(100));
    untrained.engine.clear();
    untrained.search(&game, &playouts(100));
    assert_eq!(visits(&untrained), 100);
}

#[test]
fn moves_and_lines_are_limited() {
    let mut untrained = Untrained::new();
    let position = Position::from_fen(KIWIPETE).unwrap();
    let wanted: Vec<Move> = legal_moves(position.board()).into_iter().take(3).collect();
    let limits = Limits {
        moves: wanted.clone(),
        lines: 5,
        ..playouts(500)
    };
    let outcome = untrained.search(&position, &limits);
    let lines: Vec<Move> = outcome.lines.iter().map(|line| line.pv[0]).collect();
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|mv| wanted.contains(mv)), "{lines:?}");
    // The whole position is not taken for the part.
    let limits = Limits {
        lines: 5,
        ..playouts(500)
    };
    assert_eq!(untrained.search(&position, &limits).lines.len(), 5);
}

#[test]
fn a_full_tree_is_searched_on() {
    let mut untrained = Untrained::new();
    untrained.engine.set_hash(1).unwrap();
    let position = Position::startpos();
    let mut fullest = 0;
    let stop = AtomicBool::new(false);
    let person = untrained.people.strongest();
    let outcome = untrained.engine.search_puct(
        person,
        &position,
        &playouts(20_000),
        &signals(&stop),
        &mut |report| fullest = report.hashfull,
    );
    assert_eq!((outcome.nodes, fullest), (20_000, 1000));
}

/// Without time the likeliest move is played.
#[test]
fn a_search_without_time_has_a_move() {
    let mut untrained = Untrained::new();
    let now = Limits {
        time: Some(TimeBudget {
            soft: Some(Duration::ZERO),
            hard: Duration::ZERO,
        }),
        ..Limits::default()
    };
    for limits in [now, playouts(0)] {
        let position = Position::startpos();
        let likeliest = untrained.people.strongest().moves(position.board());
        let likeliest = likeliest.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let outcome = untrained.search(&position, &limits);
        assert_eq!(outcome.best, likeliest.map(|(mv, _)| mv), "{limits:?}");
        untrained.engine.clear();
    }
    let mated = Position::from_fen("4R1k1/5ppp/8/8/8/8/8/K7 b - - 0 1").unwrap();
    let outcome = untrained.search(&mated, &playouts(10));
    assert_eq!(
        (outcome.best, outcome.score.to_string()),
        (None, "mate -0".to_string())
    );
}

/// A tablebase in which the side with a rook wins.
struct Rooks;

impl Tablebase for Rooks {
    fn max_pieces(&self) -> u32 {
        3
    }

    fn wdl(&self, board: &Board) -> Option<Wdl> {
        let rooks = board.pieces(cozy_chess::Piece::Rook);
        let own = board.colors(board.side_to_move());
        Some(match rooks.is_empty() {
            true => Wdl::Draw,
            false if rooks.is_subset(own) => Wdl::Win,
            false => Wdl::Loss,
        })
    }

    fn root_moves(&self, _: &Board) -> Option<(Wdl, Vec<Move>)> {
        None
    }
}

#[test]
fn tablebases_prove_leaves() {
    let mut untrained = Untrained::new();
    untrained.engine.set_tablebase(Some(Arc::new(Rooks)));
    // Capturing the knight leaves king and rook against king.
    let (best, score) = untrained.best("8/8/8/4k3/8/8/n7/R3K3 w - - 0 1", 200);
    assert_eq!(best, "a1a2");
    assert_eq!(score, "cp 24999");
}

/// Castling, en passant and promotions, in positions that random moves reach.
#[test]
fn every_position_has_a_legal_move_to_play() {
    let mut untrained = Untrained::new();
    for seed in 0..60 {
        let mut game = Position::startpos();
        let mut random = fastrand::Rng::with_seed(seed);
        let plies = 30 + 2 * seed as usize;
        let moves = random_moves(game.board(), plies, &mut |number| random.usize(..number));
        moves
            .unwrap()
            .into_iter()
            .for_each(|mv| game.play(mv).unwrap());
        if game.ending().is_some() {
            continue;
        }
        let best = untrained.search(&game, &playouts(50)).best.unwrap();
        assert!(legal_moves(game.board()).contains(&best));
    }
}
