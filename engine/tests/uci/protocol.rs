//! Handshake, `info` lines, and `go` with its answers.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use engine::cozy_chess::Square;
use engine::{MAX_HASH_MIB, MAX_THREADS};
use models::{MoveIndex, PolicyMetadata, PolicyNetwork};

use crate::process::{Uci, field};

#[test]
fn handshake_and_options() {
    let mut uci = Uci::start();
    uci.send("uci");
    let answer = uci.until("uciok");
    assert!(answer[0].starts_with("id name Kibitz"));
    for option in [
        format!("option name Threads type spin default 1 min 1 max {MAX_THREADS}").as_str(),
        format!("option name Hash type spin default 16 min 1 max {MAX_HASH_MIB}").as_str(),
        "option name Clear Hash type button",
        "option name Ponder type check default false",
        "option name MultiPV type spin default 1 min 1 max 256",
        "option name UCI_LimitStrength type check default false",
        "option name UCI_Elo type spin default 2850 min 400 max 2850",
        "option name Level type combo default off var off var easy var medium var hard",
        "option name OwnBook type check default false",
        "option name BookFile type string default <empty>",
        "option name SyzygyPath type string default <empty>",
        "option name SyzygyProbeDepth type spin default 1 min 1 max 100",
        "option name Syzygy50MoveRule type check default true",
        "option name UCI_ShowWDL type check default false",
        "option name EvalFile type string default <embedded>",
        "option name Evaluation type combo default network var network var material",
        "option name PolicyFile type string default <empty>",
        "option name Style type combo default engine var engine var human",
        "option name Search type combo default alphabeta var alphabeta var puct",
        "option name UCI_Chess960 type check default false",
        "option name Move Overhead type spin default 10 min 0 max 5000",
    ] {
        assert!(answer.iter().any(|line| line == option), "{option}");
    }
    uci.send("setoption name Hash value 1\nsetoption name Clear Hash\nucinewgame\nisready");
    assert_eq!(uci.until("readyok"), ["readyok"]);
    uci.send("setoption name Evaluation value material\nposition fen 4k3/8/8/8/8/8/8/3QK3 w - -\ngo depth 1");
    let answer = uci.until("bestmove");
    assert!(answer[0].contains("score cp 900"), "{answer:?}");
    assert_eq!(uci.close(), "");
}

#[test]
fn info_lines_have_every_field() {
    let mut uci = Uci::start();
    uci.send("position startpos moves e2e4 e7e5\ngo depth 6");
    let lines = uci.until("bestmove");
    let (last, infos) = lines.split_last().unwrap();
    let mut deepest = 0;
    for line in infos {
        let words: Vec<&str> = line.split(' ').collect();
        let names: Vec<&str> = words[1..]
            .iter()
            .copied()
            .take_while(|&word| word != "pv")
            .filter(|word| word.parse::<i64>().is_err())
            .filter(|word| !matches!(*word, "cp" | "mate" | "lowerbound" | "upperbound"))
            .collect();
        let expected = [
            "depth", "seldepth", "multipv", "score", "nodes", "nps", "hashfull", "tbhits", "time",
        ];
        assert_eq!((words[0], names), ("info", expected.into()), "{line}");
        deepest = words[2].parse().unwrap();
    }
    assert_eq!(deepest, 6, "{lines:?}");
    let exact = infos.iter().rfind(|line| !line.contains("bound ")).unwrap();
    let pv: Vec<&str> = exact.split(" pv ").nth(1).unwrap().split(' ').collect();
    let answer = format!("bestmove {} ponder {}", pv[0], pv[1]);
    assert_eq!(*last, answer, "{lines:?}");
}

#[test]
fn several_lines_are_different_and_ordered() {
    let mut uci = Uci::start();
    uci.send("setoption name MultiPV value 5\nposition startpos\ngo depth 5");
    let lines = uci.until("bestmove");
    let last: Vec<&String> = lines
        .iter()
        .filter(|line| line.contains("depth 5 ") && !line.contains("bound "))
        .collect();
    let last = &last[last.len() - 5..];
    let (mut moves, mut scores) = (Vec::new(), Vec::new());
    for (line, rank) in last.iter().zip(1..) {
        assert_eq!(field(line, "multipv"), rank.to_string(), "{lines:?}");
        moves.push(field(line, "pv"));
        scores.push(field(line, "cp").parse::<i32>().unwrap());
    }
    assert!(scores.is_sorted_by(|a, b| a >= b), "{lines:?}");
    assert_eq!(lines.last().unwrap().split(' ').nth(1), Some(moves[0]));
    moves.sort_unstable();
    moves.dedup();
    assert_eq!(moves.len(), 5, "{lines:?}");
    // At most as many lines as moves.
    uci.send("position fen k7/8/8/8/8/8/1r6/7K w - - 0 1\ngo depth 3");
    assert!(
        uci.until("bestmove")
            .iter()
            .all(|line| !line.contains("multipv 2"))
    );
    uci.send("position startpos\ngo depth 3 searchmoves a2a4 h2h4");
    let lines = uci.until("bestmove");
    assert!(lines.iter().any(|line| line.contains("multipv 2")));
    for line in &lines[..lines.len() - 1] {
        assert!(["a2a4", "h2h4"].contains(&field(line, "pv")), "{line}");
    }
}

#[test]
fn finds_a_requested_mate() {
    let mut uci = Uci::start();
    // Mate in two: 1. Ra6 bxa6 2. b7#. (Morphy)
    uci.send("position fen kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1\ngo mate 2");
    let lines = uci.until("bestmove");
    assert!(
        lines[lines.len() - 2].contains("score mate 2 "),
        "{lines:?}"
    );
    assert!(
        lines.last().unwrap().starts_with("bestmove a1a6"),
        "{lines:?}"
    );
}

#[test]
fn every_kind_of_go_gives_a_move() {
    let mut uci = Uci::start();
    for go in [
        "go depth 3",
        "go nodes 1000",
        "go movetime 50",
        "go wtime 500 btime 500",
        "go wtime 500 btime 500 winc 10 binc 10 movestogo 5",
        "go wtime 1 btime 1",
        "go wtime -100 btime -100",
        "go depth 0",
        "go nodes 0",
        "go movetime 0",
        "go depth 2 searchmoves e7e5",
        "go mate 1 depth 2",
    ] {
        uci.send(&format!("position startpos moves d2d4\n{go}"));
        let start = Instant::now();
        assert_eq!(uci.best_move().len(), 4, "{go}");
        // Every search ends.
        assert!(start.elapsed() < Duration::from_secs(300), "{go}");
    }
}

/// Every move is searched once, under any limit.
#[test]
fn captures_a_queen_under_any_limit() {
    let mut uci = Uci::start();
    uci.send("position fen 3q3k/8/8/8/8/8/PPP5/1K1R4 w - - 0 1");
    for go in [
        "nodes 0",
        "nodes 1",
        "nodes 5",
        "depth 0",
        "depth -7",
        "movetime 0",
        "movetime -1",
        "wtime 0 btime 0",
        "wtime -5000 btime -5000",
        "wtime 99999999999999999999999 btime 1 nodes 1",
    ] {
        uci.send(&format!("go {go}"));
        assert_eq!(uci.best_move(), "d1d8", "{go}");
    }
}

/// Weaker levels may answer before an iteration is complete; python-chess's `analyse` fails without
/// a score.
#[test]
fn a_line_precedes_every_answer() {
    let mut uci = Uci::start();
    uci.send("setoption name UCI_LimitStrength value true\nsetoption name UCI_Elo value 400");
    for go in ["go movetime 0", "go nodes 1", "go wtime 1 btime 1"] {
        uci.send(&format!("position startpos\n{go}"));
        let lines = uci.until("bestmove ");
        assert!(lines[0].starts_with("info depth 1 "), "{go}: {lines:?}");
    }
}

#[test]
fn no_legal_move_is_0000() {
    let mut uci = Uci::start();
    // python-chess's `analyse` fails without a score.
    for (fen, score) in [
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "cp 0"),
        ("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "mate 0"),
    ] {
        uci.send(&format!("position fen {fen}\ngo depth 5"));
        let score = format!("info depth 0 score {score}");
        assert_eq!(uci.until("bestmove"), [&score, "bestmove 0000"], "{fen}");
    }
    uci.send("go infinite\nstop");
    assert_eq!(uci.best_move(), "0000");
}

#[test]
fn writes_castling_by_uci_chess960() {
    let mut uci = Uci::start();
    // Only castling, with check and an attack on the rook, wins the rook.
    let fen = "position fen 3k4/8/8/8/8/8/1r6/R3K3 w Q - 0 1";
    uci.send(&format!(
        "setoption name Evaluation value material\n{fen}\ngo depth 3"
    ));
    assert_eq!(uci.best_move(), "e1c1");
    uci.send(&format!(
        "setoption name UCI_Chess960 value true\n{fen}\ngo depth 3"
    ));
    assert_eq!(uci.best_move(), "e1a1");
    for (castling, spelling) in [("Q", "e1c1"), ("A", "e1a1")] {
        let fen = format!("position fen 3k4/8/8/8/8/8/1r6/R3K3 w {castling} - 0 1");
        uci.send(&format!("{fen} moves {spelling} d8e8\ngo depth 1"));
        let lines = uci.until("bestmove");
        assert!(
            lines.iter().all(|line| !line.contains("string")),
            "{lines:?}"
        );
    }
}

/// Writes a policy whose logits are 0 but for a2a3 and e1f1.
fn write_policy(folder: &Path) -> PathBuf {
    let mut policy = PolicyNetwork::random(1, 1);
    policy.moves.fill(0.0);
    let square = |name: &str| name.parse::<Square>().unwrap() as u8;
    for (from, to) in [("a2", "a3"), ("e1", "f1")] {
        let [from, to] = [from, to].map(|name| models::Square::new(square(name)).unwrap());
        let index = MoveIndex::new(models::Color::White, from, to, None).unwrap();
        policy.move_bias[index.index()] = 30.0;
    }
    let file = folder.join("policy.safetensors");
    let metadata = PolicyMetadata::new(1, "test");
    std::fs::write(&file, policy.to_bytes(&metadata)).unwrap();
    file
}

#[test]
fn search_puct_reports_the_visits_of_moves() {
    let folder = tempfile::tempdir().unwrap();
    let file = write_policy(folder.path());
    let mut uci = Uci::start();
    uci.send(&format!(
        "setoption name PolicyFile value {}\nsetoption name Search value puct\n\
         setoption name MultiPV value 2\nposition fen 7k/8/8/8/8/8/8/KQ6 w - - 0 1\ngo nodes 500",
        file.display()
    ));
    let lines = uci.until("bestmove");
    let told = |part: &str| lines.iter().filter(|line| line.contains(part)).count();
    assert!(
        told(" nodes 500 ") == 2 && told("multipv 2 ") > 2,
        "{lines:?}"
    );
    let visits = lines.iter().filter_map(|line| {
        let (_, rest) = line.strip_prefix("info string ")?.split_once(" visits ")?;
        rest.split(' ').next()?.parse().ok()
    });
    let visits: Vec<u32> = visits.collect();
    // The ten moves with most visits, the first of them last.
    assert!(visits.len() == 10 && visits.is_sorted(), "{visits:?}");
    // `go ponder` is answered after `ponderhit`.
    uci.send("position startpos\ngo ponder wtime 1000 btime 1000\nisready");
    uci.until("readyok");
    uci.send("ponderhit");
    uci.best_move();
    // A mate is sought, or disproved, by alpha-beta.
    uci.send("setoption name MultiPV value 1\nposition startpos\ngo mate 1");
    uci.best_move();
    // Without the policy alpha-beta searches.
    uci.send("setoption name PolicyFile value <empty>\nposition startpos\ngo depth 3");
    assert!(
        uci.until("bestmove")
            .iter()
            .all(|line| !line.contains("visits"))
    );
    assert_eq!(uci.close(), "");
}

/// A policy that expects one move alone is followed, unless the move is a blunder.
#[test]
fn style_human_plays_the_moves_of_the_policy() {
    let folder = tempfile::tempdir().unwrap();
    let file = write_policy(folder.path());
    let mut uci = Uci::start();
    uci.send(&format!(
        "setoption name PolicyFile value {}\nsetoption name Style value human\n\
         setoption name UCI_Elo value 2850",
        file.display()
    ));
    for _ in 0..3 {
        uci.send("position startpos\ngo movetime 1000");
        let lines = uci.until("bestmove");
        assert!(
            lines.last().unwrap().starts_with("bestmove a2a3"),
            "{lines:?}"
        );
        assert!(
            lines.iter().any(|line| line.contains(" score ")),
            "{lines:?}"
        );
        // Black mirrors White.
        uci.send("position startpos moves e2e4\ngo depth 3");
        assert!(uci.best_move().starts_with("a7a6"));
        // e1f1 leaves a queen that can be had.
        uci.send("position fen 4k3/8/8/8/8/8/3q4/4K3 w - - 0 1\ngo nodes 1000");
        assert_eq!(uci.best_move(), "e1d2");
    }
    uci.send("setoption name Style value engine\nposition startpos\ngo depth 6");
    assert_ne!(uci.best_move(), "a2a3");
    assert_eq!(uci.close(), "");
}
