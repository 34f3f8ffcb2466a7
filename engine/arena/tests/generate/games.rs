//! Contents of the games: moves, labels, statistics, openings.

use std::collections::HashSet;
use std::fs;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::cozy_chess::{Board, Color};
use engine::{Engine, Evaluator, Limits, Syzygy, Tablebase, Wdl, from_shakmaty, parse_fen};
use records::games::read_games;
use records::position::GameResult;
use records::selection::{Filters, SkipReason, SourceCounts};
use shakmaty::Position;

use super::{Game, Ply, games, statistics};

const MATERIAL: [&str; 4] = ["--engine", "material", "--nodes", "100"];

fn text_of(arguments: &[&str]) -> (String, serde_json::Value) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("games.pgn");
    let statistics = statistics(arguments, &out);
    (fs::read_to_string(out).unwrap(), statistics)
}

/// Returns the starting position for the engine.
fn start(game: &Game) -> engine::Position {
    let board = game.tag("FEN").map(|fen| parse_fen(fen).unwrap());
    engine::Position::of(board.unwrap_or_default())
}

/// Formats White's score as in `[%eval`, independently of the program.
fn written(score: engine::Score, mover: Color) -> String {
    let sign = if mover == Color::White { 1 } else { -1 };
    if let Some(plies) = score.plies_to_mate() {
        let moves = (plies as i32 + 1) / 2;
        return format!("#{}", moves * sign * score.centipawns().signum());
    }
    let pawns = f64::from(sign * score.centipawns()) / 100.0;
    format!("{pawns:.2}")
}

/// Returns whether two labels are the same number of pawns, or the same mate.
fn is_same(label: &str, expected: &str) -> bool {
    match (label.parse::<f64>(), expected.parse::<f64>()) {
        (Ok(label), Ok(expected)) => (label - expected).abs() < 1e-9,
        _ => label == expected,
    }
}

/// A repeated search of each position gives the written label and the played move.
#[test]
fn each_position_is_labelled_by_its_own_search() {
    let limits = ["--nodes", "300", "--hard-nodes", "900"];
    let rest = ["--engine", "embedded", "--games", "4", "--resign", "none"];
    let (text, statistics) = text_of(&[&limits[..], &rest].concat());
    let games = games(&text);
    let mut engine = Engine::new(Evaluator::embedded().unwrap());
    engine.set_hash(4).unwrap();
    let limits = Limits {
        nodes: Some(900),
        soft_nodes: Some(300),
        ..Limits::default()
    };
    let signals = engine::Signals {
        stop: &AtomicBool::new(false),
        pondering: None,
        elapsed: &|| Duration::ZERO,
    };
    let (mut positions, mut nodes, mut mates) = (0, 0, 0);
    for (number, game) in games.iter().enumerate() {
        assert_eq!(game.tag("Round"), Some(&*(number + 1).to_string()));
        let opening = game.opening();
        assert_eq!(opening, 8 + number % 2);
        engine.clear();
        let mut position = start(game);
        for (ply, played) in game.plies.iter().enumerate() {
            if ply >= opening {
                let outcome = engine.search(&position, &limits, &signals, &mut |_| {});
                let (label, depth) = game.label(ply);
                let mover = position.board().side_to_move();
                let expected = written(outcome.score, mover);
                assert!(is_same(label, &expected), "{label}, not {expected}");
                assert_eq!((outcome.best, outcome.depth), (Some(played.mv), *depth));
                assert!(outcome.nodes <= 900, "{}", outcome.nodes);
                positions += 1;
                nodes += outcome.nodes;
                mates += u64::from(label.starts_with('#'));
            }
            position.play(played.mv).unwrap();
        }
        // Positions without a search have no label.
        assert!(
            game.plies[..opening - 1]
                .iter()
                .all(|ply| ply.label.is_none())
        );
        assert_eq!(game.plies.last().unwrap().label, None);
        assert!(["1-0", "0-1", "1/2-1/2"].contains(&game.tag("Result").unwrap()));
    }
    assert_eq!(statistics["positions"], positions);
    assert!(mates > 0);
    let mean = statistics["nodes_per_position"].as_f64().unwrap();
    let rejected = statistics["rejected_openings"].as_u64().unwrap();
    let most = (nodes + 900 * rejected) as f64 / positions as f64;
    assert!(
        (nodes as f64 / positions as f64..=most).contains(&mean),
        "{mean}"
    );
}

/// `ingest build` reads games by the same code.
#[test]
fn ingest_reads_every_label_with_its_result() {
    let (text, statistics) = text_of(&[&MATERIAL[..], &["--games", "60"]].concat());
    let read = |filters: &Filters| {
        let (mut records, mut counts) = (Vec::new(), SourceCounts::default());
        read_games(text.as_bytes(), filters, &mut counts, |_, game| {
            records.extend_from_slice(game);
        });
        (records, counts)
    };
    let (records, counts) = read(&Filters::default());
    assert_eq!((counts.games, counts.games_kept), (60, 60));
    assert!(counts.skipped.is_empty(), "{:?}", counts.skipped);
    assert_eq!(statistics["positions"], records.len());
    let mut results = [0; 3];
    let mut quiet = 0;
    for game in games(&text) {
        let positions = &game.plies[game.opening()..];
        let is_quiet = |ply: &&Ply| {
            let legal = ply.position.legal_moves();
            let mv = legal.iter().find(|&&mv| from_shakmaty(mv) == Some(ply.mv));
            let mv = mv.unwrap();
            !ply.position.is_check() && !mv.is_capture() && !mv.is_promotion()
        };
        quiet += positions.iter().filter(is_quiet).count();
        let result = match game.tag("Result").unwrap() {
            "1-0" => 0,
            "1/2-1/2" => 1,
            _ => 2,
        };
        results[result] += positions.len();
    }
    let with = |result| {
        let results = records
            .iter()
            .filter(|record| record.result() == Some(result));
        results.count()
    };
    let found = [
        GameResult::WhiteWins,
        GameResult::Draw,
        GameResult::BlackWins,
    ]
    .map(with);
    assert_eq!(found, results);
    assert!(found.iter().all(|&positions| positions > 0), "{found:?}");
    let (records, counts) = read(&Filters {
        quiet: true,
        ..Filters::default()
    });
    assert_eq!(records.len(), quiet);
    let dropped = counts.skipped[&SkipReason::NotQuiet];
    let [in_check, tactical] =
        ["in_check", "tactical"].map(|name| statistics[name].as_u64().unwrap());
    assert!(in_check > 0 && dropped >= in_check.max(tactical) && dropped <= in_check + tactical);
}

#[test]
fn statistics_match_the_games() {
    let (text, statistics) = text_of(&[&MATERIAL[..], &["--games", "50"]].concat());
    let games = games(&text);
    let count = |result: &str| {
        let of_result = |game: &&Game| game.tag("Result") == Some(result);
        games.iter().filter(of_result).count()
    };
    assert_eq!(statistics["white_wins"], count("1-0"));
    assert_eq!(statistics["draws"], count("1/2-1/2"));
    assert_eq!(statistics["black_wins"], count("0-1"));
    for (ending, count) in statistics["endings"].as_object().unwrap() {
        let ending = ending.replace('_', " ");
        let found = games.iter().filter(|game| game.ending == ending).count();
        assert_eq!(count, found, "{ending}");
    }
    let lengths: Vec<usize> = games.iter().map(|game| game.plies.len()).collect();
    let of = |name: &str| statistics["lengths"][name].as_u64().unwrap() as usize;
    assert_eq!(of("shortest"), *lengths.iter().min().unwrap());
    assert_eq!(of("longest"), *lengths.iter().max().unwrap());
    let mut histogram = vec![0; lengths.iter().max().unwrap() / 20 + 1];
    lengths
        .iter()
        .for_each(|length| histogram[length / 20] += 1);
    assert_eq!(
        statistics["lengths"]["histogram"],
        serde_json::json!(histogram)
    );
    let positions = games.iter().flat_map(|game| &game.plies[game.opening()..]);
    let (mut phases, mut in_check) = ([0; 3], 0);
    for ply in positions {
        let pieces = ply.position.board().occupied().count();
        phases[if pieces > 24 {
            0
        } else {
            usize::from(pieces < 13) + 1
        }] += 1;
        in_check += usize::from(ply.position.is_check());
    }
    for (name, count) in ["opening", "middlegame", "endgame"].iter().zip(phases) {
        assert_eq!(statistics["phases"][name], count);
    }
    assert_eq!(statistics["in_check"], in_check);
}

#[test]
fn openings_are_within_the_limit() {
    let limit = ["--engine", "embedded", "--nodes", "200", "--games", "30"];
    let (text, statistics) = text_of(&[&limit[..], &["--opening-limit", "40"]].concat());
    for game in games(&text) {
        let (label, _) = game.label(game.opening());
        assert!(label.parse::<f64>().unwrap().abs() <= 0.4, "{label}");
    }
    assert!(statistics["rejected_openings"].as_u64() > Some(5));
}

#[test]
fn a_seed_gives_the_same_games_and_another_one_others() {
    let of = |seed: &str, concurrency: &str| {
        let rest = [
            "--games",
            "40",
            "--seed",
            seed,
            "--concurrency",
            concurrency,
        ];
        text_of(&[&MATERIAL[..], &rest].concat()).0
    };
    let first = of("1", "1");
    assert_eq!(of("1", "3"), first);
    let other = of("2", "2");
    let openings = |text: &str| -> HashSet<String> {
        let opening = |game: &Game| game.plies[game.opening()].position.board().to_string();
        games(text).iter().map(opening).collect()
    };
    assert_eq!(openings(&first).len(), 40);
    assert!(openings(&first).is_disjoint(&openings(&other)));
}

#[test]
fn chess960_games_are_legal_and_castle() {
    let (text, _) = text_of(&[&MATERIAL[..], &["--games", "60", "--chess960"]].concat());
    let games = games(&text);
    let starts: HashSet<_> = games.iter().filter_map(|game| game.tag("FEN")).collect();
    assert!(starts.len() > 50, "{}", starts.len());
    let of_chess960 = games.iter().filter(|game| game.tag("FEN").is_some());
    assert!(
        of_chess960
            .clone()
            .all(|game| game.tag("Variant") == Some("Chess960"))
    );
    let castles = |ply: &&Ply| {
        let mv = shakmaty::Square::new(ply.mv.to as u32);
        ply.position.us().contains(mv)
    };
    let castlings = of_chess960.flat_map(|game| game.plies.iter().filter(castles));
    assert!(castlings.count() > 5);
}

/// Tables of three and four pieces end games once they know the result.
#[test]
fn tables_end_games_with_their_result() {
    let Some(folder) = test_support::shared("syzygy34") else {
        return;
    };
    let tables = Syzygy::open([&folder]).unwrap();
    let rest = [
        "--games", "60", "--resign", "none", "--draw", "none", "--syzygy",
    ];
    let folder = folder.to_str().unwrap();
    let (text, statistics) = text_of(&[&MATERIAL[..], &rest, &[folder]].concat());
    let mut results = HashSet::new();
    for game in games(&text) {
        let mut position = start(&game);
        let few = |board: &Board| board.occupied().len() <= 4 && board.halfmove_clock() == 0;
        for ply in &game.plies {
            assert!(!few(position.board()), "known before its end");
            position.play(ply.mv).unwrap();
        }
        if game.ending != "tablebase" {
            continue;
        }
        let board = position.board();
        let white = board.side_to_move() == Color::White;
        let result = match (tables.wdl(board).unwrap(), white) {
            (Wdl::Win, true) | (Wdl::Loss, false) => "1-0",
            (Wdl::Win, false) | (Wdl::Loss, true) => "0-1",
            _ => "1/2-1/2",
        };
        assert_eq!(game.tag("Result"), Some(result));
        results.insert(result);
    }
    assert!(results.len() > 1, "{results:?}: {statistics}");
}
