//! Commands typed by hand: Stockfish's extensions of UCI.

use crate::process::{Uci, field};
use crate::referee;

/// Returns the lines before the answer to `isready`.
fn reply(uci: &mut Uci, command: &str) -> Vec<String> {
    uci.send(&format!("{command}\nisready"));
    let mut lines = uci.until("readyok");
    lines.pop();
    lines
}

#[test]
fn displays_and_flips_the_position() {
    let mut uci = Uci::start();
    uci.send("position startpos moves e2e4 d7d5 f1b5");
    let shown = reply(&mut uci, "d");
    assert_eq!(shown[0], "8  r n b q k b n r", "{shown:?}");
    assert_eq!(shown[3], "5  . B . p . . . .", "{shown:?}");
    let fen = "Fen: rnbqkbnr/ppp1pppp/8/1B1p4/4P3/8/PPPP1PPP/RNBQK1NR b KQkq - 1 2";
    assert!(shown.contains(&fen.to_string()), "{shown:?}");
    assert!(shown.contains(&"Checkers: b5".to_string()), "{shown:?}");
    let other = reply(&mut uci, "flip\nd");
    let fen = "Fen: rnbqk1nr/pppp1ppp/8/4p3/1b1P4/8/PPP1PPPP/RNBQKBNR w KQkq - 1 2";
    assert!(other.contains(&fen.to_string()), "{other:?}");
    assert_eq!(reply(&mut uci, "flip\nd"), shown);
    assert_eq!(uci.close(), "");
}

/// Counts from `engine perft` and <https://www.chessprogramming.org/Perft_Results>.
#[test]
fn perft_divides_by_move_and_can_be_stopped() {
    let mut uci = Uci::start();
    uci.send("position startpos\ngo perft 4");
    let counts = uci.until("Nodes searched");
    assert_eq!(counts.len(), 22, "{counts:?}");
    assert!(counts.contains(&"e2e4: 13160".to_string()), "{counts:?}");
    assert_eq!(counts[21], "Nodes searched: 197281");
    uci.refused("go perft", "go perft wants a number of plies");
    // Would take centuries. After `stop`, only finished counts are printed, without a sum. The next
    // search's time starts then, however long the perft took: depth 4 takes far less.
    uci.send("position startpos\ngo perft 20\nisready");
    uci.until("readyok");
    std::thread::sleep(std::time::Duration::from_millis(2_100));
    uci.send("stop\ngo movetime 2000");
    let lines = uci.until("bestmove");
    assert!(
        lines.iter().all(|line| !line.starts_with("Nodes")),
        "{lines:?}"
    );
    assert!(
        lines.iter().any(|line| line.starts_with("info depth 4 ")),
        "{lines:?}"
    );
    uci.send("bench 100\nstop\nd");
    uci.until("Checkers");
    uci.send("go perft 20\nquit");
    assert_eq!(uci.close(), "");
}

#[test]
fn eval_and_bench_match_the_subcommands() {
    let program = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_engine"));
        let output = command.args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let mut uci = Uci::start();
    let fen = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3";
    let in_session = reply(&mut uci, &format!("position fen {fen}\neval"));
    let by_subcommand: Vec<String> = program(&["eval", fen])
        .lines()
        .map(|line| line.trim_end().to_string())
        .collect();
    assert_eq!(in_session, by_subcommand);
    let net = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/linear.safetensors");
    let changed = reply(
        &mut uci,
        &format!("setoption name EvalFile value {net}\neval"),
    );
    assert_ne!(changed, in_session);
    let bench = reply(
        &mut uci,
        "setoption name EvalFile value <embedded>\nbench 4",
    );
    let last = |text: &str| {
        text.lines()
            .last()
            .unwrap()
            .split(' ')
            .next()
            .unwrap()
            .to_string()
    };
    assert_eq!(last(&bench.join("\n")), last(&program(&["bench", "4"])));
    uci.refused("bench deep", "bench wants a number of plies");
    assert_eq!(uci.close(), "");
}

#[test]
fn reports_wdl_on_request() {
    let mut uci = Uci::start();
    uci.send("setoption name UCI_ShowWDL value true\nposition startpos\ngo depth 5");
    for line in uci.until("bestmove") {
        let Some((_, chances)) = line.split_once(" wdl ") else {
            assert!(line.starts_with("bestmove"), "{line}");
            continue;
        };
        let three: Vec<u16> = chances
            .split(' ')
            .take(3)
            .map(|word| word.parse().unwrap())
            .collect();
        assert_eq!(three.iter().sum::<u16>(), 1000, "{line}");
        assert!(three[1] > 200, "the start is no win: {line}");
    }
    uci.send("position fen 7k/8/5KQ1/8/8/8/8/8 w - - 0 1\ngo depth 5");
    let lines = uci.until("bestmove");
    assert!(
        lines[lines.len() - 2].contains(" wdl 1000 0 0 "),
        "{lines:?}"
    );
    uci.send("setoption name UCI_ShowWDL value false\ngo depth 1");
    assert!(
        uci.until("bestmove")
            .iter()
            .all(|line| !line.contains("wdl"))
    );
    assert_eq!(uci.close(), "");
}

/// Queen against rook, 49 plies to the next capture and 11 left by the clock: a cursed win in
/// `tests/data/syzygy.tsv` from python-chess.
#[test]
fn tablebase_options_take_effect() {
    let Some(folder) = test_support::shared("syzygy34") else {
        return;
    };
    let mut uci = Uci::start();
    uci.send(&format!(
        "setoption name SyzygyPath value {}",
        folder.display()
    ));
    uci.until("info string 70 Syzygy files");
    let mut last = |lines: &str| {
        uci.send(&format!("{lines}\ngo depth 6"));
        let mut lines = uci.until("bestmove");
        lines.remove(lines.len() - 2)
    };
    let cursed = "position fen 8/4r3/3k4/6Q1/8/8/8/4K3 w - - 89 1";
    assert_eq!(field(&last(cursed), "cp"), "0");
    let without = last(&format!(
        "setoption name Syzygy50MoveRule value false\n{cursed}"
    ));
    assert!(
        field(&without, "cp").parse::<i32>().unwrap() > 20_000,
        "{without}"
    );
    // Four pieces after a capture, the most that any table has.
    let five = "ucinewgame\nposition fen 4k3/8/8/8/7r/2p5/8/R3K2R w - - 0 1";
    let hits = |line: String| field(&line, "tbhits").parse::<u64>().unwrap();
    let all = hits(last(five));
    let deep = hits(last(&format!(
        "setoption name SyzygyProbeDepth value 100\n{five}"
    )));
    assert!(all > deep, "{all} and {deep}");
    assert_eq!(uci.close(), "");
}

/// A game with pondering: the expected reply comes, or another.
#[test]
fn plays_a_game_with_pondering() {
    let mut uci = Uci::start();
    uci.send("uci\nsetoption name Ponder value true\nisready");
    uci.until("readyok");
    // Neither side can be mated soon.
    let start = "position fen 4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1";
    let clocks = "wtime 2000 btime 2000 winc 20 binc 20";
    let mut moves = String::new();
    let (mut hits, mut misses) = (0, 0);
    uci.send(&format!("{start}\ngo {clocks}"));
    for ply in 0..12 {
        let position = referee::position(&format!("{start} moves{moves}")).unwrap();
        let lines = uci.until("bestmove");
        let words: Vec<&str> = lines.last().unwrap().split(' ').collect();
        assert!(referee::are_legal(&position, [words[1]]), "{lines:?}");
        moves.push_str(&format!(" {}", words[1]));
        let answers = referee::moves(&format!("{start} moves{moves}"));
        assert!(!answers.is_empty(), "mated within twelve moves: {moves}");
        // A short search may have no expected reply.
        let expected = words.get(3).copied();
        if let Some(expected) = expected {
            uci.send(&format!(
                "{start} moves{moves} {expected}\ngo ponder {clocks}"
            ));
            uci.until("info depth 3 ");
        }
        let other = answers.iter().find(|&mv| Some(mv.as_str()) != expected);
        match (expected, other) {
            (Some(expected), other) if ply % 3 > 0 || other.is_none() => {
                hits += 1;
                moves.push_str(&format!(" {expected}"));
                uci.send("ponderhit");
            }
            (expected, other) => {
                if expected.is_some() {
                    misses += 1;
                    uci.send("stop");
                    uci.until("bestmove");
                }
                moves.push_str(&format!(" {}", other.unwrap_or(&answers[0])));
                uci.send(&format!("{start} moves{moves}\ngo {clocks}"));
            }
        }
    }
    assert!(hits > 4 && misses > 1, "{hits} and {misses}");
    uci.until("bestmove");
    assert_eq!(uci.close(), "");
}
