//! Invalid and extreme input.

use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use test_support::send_signal;

use crate::compliance::converse;
use crate::process::{Uci, run_with};

/// Commands after a refused line, which the engine must still answer.
const AFTER: &str = "\nisready\ngo depth 1\n";

#[test]
fn refused_lines_are_reported_and_change_nothing() {
    let mut uci = Uci::start();
    uci.send("position fen 8/8/8/8/8/4k3/4p3/4K3 b - - 0 1 moves e3d3");
    uci.refused("xyzzy", "unknown command");
    uci.refused("setoption name Hash value 99999999999", "1 to ");
    uci.refused("setoption name Hash value -5", "1 to ");
    uci.refused("setoption name Threads value 0", "1 to ");
    uci.refused("setoption name MultiPV value many", "1 to ");
    uci.refused("setoption name UCI_Elo value 5000", "400 to ");
    uci.refused("setoption name Level value off and on", "easy");
    uci.refused("setoption name Colour value blue", "unknown option");
    uci.refused("setoption name EvalFile value /no/such/net", "/no/such/net");
    uci.refused(
        "setoption name BookFile value /no/such/book",
        "/no/such/book",
    );
    uci.refused(
        "setoption name SyzygyPath value /no/such/folder",
        "/no/such/folder",
    );
    uci.refused(
        "setoption name PolicyFile value /no/such/policy",
        "/no/such/policy",
    );
    uci.refused("setoption name Style value human", "PolicyFile");
    uci.refused("setoption name Style value odd", "engine or human");
    uci.refused("setoption name Search value puct", "PolicyFile");
    uci.refused("setoption name Search value odd", "alphabeta or puct");
    let net = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/default.safetensors");
    uci.refused(
        &format!("setoption name PolicyFile value {net}"),
        "trainer fit --policy",
    );
    let program = env!("CARGO_BIN_EXE_engine");
    uci.refused(
        &format!("setoption name EvalFile value {program}"),
        "not a safetensors",
    );
    uci.refused(&"go ".repeat(1 << 20), "ignored");
    uci.send("go depth 2");
    assert_eq!(uci.best_move(), "e1f2", "the last good position stands");
    assert_eq!(uci.close(), "");
}

/// A move for the previous position would belong to another game.
#[test]
fn unplayable_positions_get_no_move() {
    let mut uci = Uci::start();
    for (line, reason) in [
        ("position", "startpos"),
        ("position fen", "four fields"),
        ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "legal position"),
        (
            "position fen 8/8/8/8/8/8/4k3/4K3 w - - 0 1 moves e1d1",
            "legal position",
        ),
    ] {
        uci.send("position startpos");
        uci.refused(line, reason);
        for go in [
            "go depth 2",
            "go infinite\nstop",
            "go ponder depth 1\nponderhit",
        ] {
            uci.send(go);
            let lines = uci.until("bestmove");
            assert!(lines[0].starts_with("info string no position"), "{lines:?}");
            assert_eq!(lines[1..], ["bestmove 0000"], "{line}");
        }
        for command in ["d", "eval", "flip"] {
            uci.refused(command, "no position");
        }
        // Like a search, perft does not delay `readyok`, which may come first.
        uci.send("go perft 1");
        let lines = uci.until("info string");
        assert!(
            lines.len() == 1 && lines[0].contains("no position"),
            "{lines:?}"
        );
    }
    uci.send("position startpos\ngo depth 1");
    assert_eq!(uci.best_move().len(), 4);
    assert_eq!(uci.close(), "");
}

/// Repairs follow python-chess and Lichess.
#[test]
fn fen_repairs_are_reported() {
    let mut uci = Uci::start();
    for (fen, told) in [
        ("4k3/8/8/8/8/8/4P3/4K3 w KQkq - 0 1", "\"KQkq\""),
        ("4k3/8/8/8/8/8/4P3/4K3 w - e6 0 1", "square e6"),
        ("4k3/8/8/8/8/8/4P3/4K3 w - e3 0 1", "square e3"),
    ] {
        uci.refused(&format!("position fen {fen}"), told);
        uci.send("d");
        uci.until("Fen: 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1");
        uci.until("Checkers");
    }
    uci.refused("position startpos move e2e4", "\"move\"");
    assert_eq!(uci.close(), "");
}

/// Moves before an illegal one, and readable parameters of `go`, take effect.
#[test]
fn valid_parts_of_a_line_take_effect() {
    let mut uci = Uci::start();
    uci.refused("position startpos moves e2e4 e2e4 e7e5", "illegal");
    uci.send("go depth 3 searchmoves c7c5");
    assert_eq!(uci.best_move(), "c7c5", "Black's turn");
    uci.refused("position startpos moves \u{265e}g1f3", "not a move");
    for (go, reasons) in [
        ("go wtime abc btime 100", &["go wtime", "\"abc\""][..]),
        ("go wtime btime 100", &["go wtime"]),
        ("go depth 2 nodes", &["go nodes"]),
        ("go deep depth 2", &["\"deep\""]),
        ("go depth 2 searchmoves e2e5 g1f3", &["e2e5"]),
        ("go depth 2 searchmoves e2e5", &["e2e5", "all moves"]),
    ] {
        uci.send(go);
        let lines = uci.until("bestmove ");
        let said: Vec<&String> = lines
            .iter()
            .filter(|line| line.starts_with("info string"))
            .collect();
        for reason in reasons {
            assert!(
                said.iter().any(|line| line.contains(reason)),
                "{go}: {said:?}"
            );
        }
        assert_eq!(lines.last().unwrap().split(' ').nth(1).unwrap().len(), 4);
    }
    // A search with an unreadable limit still ends.
    for (go, told) in [
        ("go depth x", Some("\"x\"")),
        ("go wtime abc", Some("\"abc\"")),
        ("go wtime 1000.5", None),
        ("go movetime 0.5", None),
    ] {
        uci.send(go);
        let lines = uci.until("bestmove ");
        let said = lines[0].starts_with("info string");
        assert_eq!(said, told.is_some(), "{go}: {lines:?}");
        assert!(
            told.is_none_or(|told| lines[0].contains(told)),
            "{go}: {lines:?}"
        );
    }
    assert_eq!(uci.close(), "");
}

/// A well-formed net with an empty layer, which cannot evaluate.
#[test]
fn a_net_without_neurons_is_refused() {
    let metadata = r#"{"layout":"kibitz-902-v2","shape":{"first":1,"second":0,"third":1},"activation":"clipped-relu","output":"","target":null,"training":null,"dataset":null,"validation":null,"tool":""}"#;
    let tensor = |shape: &[usize], start, end| serde_json::json!({ "dtype": "F16", "shape": shape, "data_offsets": [start, end] });
    let header = serde_json::json!({
        "__metadata__": { "kibitz": metadata },
        "layers.0.weight": tensor(&[1, 902], 0, 1804),
        "layers.0.bias": tensor(&[1], 1804, 1806),
        "layers.1.weight": tensor(&[0, 1], 1806, 1806),
        "layers.1.bias": tensor(&[0], 1806, 1806),
        "layers.2.weight": tensor(&[1, 0], 1806, 1806),
        "layers.2.bias": tensor(&[1], 1806, 1808),
        "layers.3.weight": tensor(&[1, 1], 1808, 1810),
        "layers.3.bias": tensor(&[1], 1810, 1812),
    });
    let header = header.to_string();
    let length = (header.len() as u64).to_le_bytes();
    let file = [&length, header.as_bytes(), &[0; 1812]].concat();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hollow.safetensors");
    std::fs::write(&path, file).unwrap();
    let mut uci = Uci::start();
    let option = format!("setoption name EvalFile value {}", path.display());
    uci.refused(&option, "at least one neuron");
    uci.send("go depth 3");
    assert_eq!(uci.best_move().len(), 4, "by the net before");
    assert_eq!(uci.close(), "");
}

/// Endless devices are read only up to a limit.
#[cfg(unix)]
#[test]
fn refuses_endless_files() {
    let mut uci = Uci::start();
    uci.refused("setoption name EvalFile value /dev/zero", "more than");
    uci.send("go depth 1");
    uci.best_move();
    assert_eq!(uci.close(), "");
}

#[test]
fn rejects_impossible_positions() {
    for placement in [
        "8/8/8/8/8/8/8/8",
        "4k3/8/8/8/8/8/8/8",
        "8/8/8/8/8/8/8/4K3",
        "4k2k/8/8/8/8/8/8/4K3",
        "4k3/8/8/8/8/8/8/K3K3",
        "8/8/8/8/8/8/3k4/4K3",
        "4k3/pppppppp/p7/8/8/8/8/4K3",
        "P3k3/8/8/8/8/8/8/4K3",
        "4k3/8/8/8/8/8/8/4K2p",
        "qqqqqqqq/qqqqqqqq/qqqqqqqq/qqqkqqqq/QQQQQQQQ/QQQKQQQQ/QQQQQQQQ/QQQQQQQQ",
        "4k3/8/8/8/8/8/8/4K3/8",
        "4k3/9/8/8/8/8/8/4K3",
        "4k3/8/8/8/8/8/4K3",
        "4k3/8/8/8/8/8/8/4Kx2",
        // The side that has just moved is in check.
        "4k3/8/8/8/8/8/8/K3R3",
    ] {
        for rest in ["w KQkq e3 0 1", "w - - 0 1", "w - - -1 x", "x - - 0 1", ""] {
            let answer = converse(&format!("position fen {placement} {rest}{AFTER}"));
            assert!(
                answer.starts_with("info string FEN") && answer.ends_with("bestmove 0000\n"),
                "{placement} {rest}: {answer}"
            );
        }
    }
}

#[test]
fn survives_odd_orders_and_extreme_numbers() {
    for script in [
        "stop",
        "stop\nstop\nponderhit\nstop",
        "ponderhit\ngo depth 2\nponderhit",
        "go infinite\ngo infinite\ngo infinite\nstop",
        "go depth 2\ngo depth 3\ngo nodes 100",
        "go depth 999999\nstop",
        "go depth 99999999999999999999999999999\nisready\nstop",
        "go nodes 0\ngo nodes 1\ngo nodes -1",
        "go movetime 0\ngo movetime -99999999999999999999",
        "go wtime 99999999999999999999 btime 99999999999999999999 movestogo 0\nstop",
        "go wtime 0 btime 0 winc -5 binc -5 movestogo -1",
        "go mate 0\nstop\ngo mate 99999999999\nstop",
        "go ponder\nponderhit\nstop",
        "go ponder\nstop\nponderhit",
        "go ponder wtime 100 btime 100\nsetoption name Hash value 2\nposition startpos moves e2e4\ngo depth 1",
        "go infinite\nucinewgame\nsetoption name Threads value 2\nisready\nstop",
        "go infinite\nposition startpos moves e2e4\nstop\ngo depth 1",
        "setoption name Level value easy\ngo nodes 0\ngo nodes 1\ngo infinite\nstop",
        "setoption name UCI_LimitStrength value true\nsetoption name UCI_Elo value 800\ngo depth 1",
        "setoption name MultiPV value 256\ngo depth 2\nposition fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1\ngo depth 5",
        "setoption name Hash value 1048577\nsetoption name Hash value 1048576000000\nsetoption",
        "setoption name\nsetoption name Hash\nsetoption value\nsetoption name Hash value value 3",
        "uci uci uci\nucinewgame now\nisready?",
        "position startpos moves\ngo depth 1\nposition startpos e2e4\ngo depth 1",
        "position fen startpos\nposition startpos fen\ngo depth 1",
        "go depth 2 searchmoves\ngo searchmoves e2e4 e2e4 e7e5 depth 2",
        "position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1\ngo infinite\nstop\ngo movetime 10\ngo ponder\nponderhit\nstop",
        "\r\n\t \r\n go depth 1 \r\n",
        "go infinite\nsetoption name Hash value 2\nisready\nstop\ngo depth",
        "go wtime abc\nstop\ngo searchmoves depth 2\ngo nodes nodes nodes 3",
        "go infinite\nquit\ngo depth 3\nisready",
        "quit\nquit",
        "go depth 99\nquit",
    ] {
        converse(script);
        converse(&format!("{script}{AFTER}"));
    }
}

#[test]
fn accepts_a_game_of_ten_thousand_moves() {
    let shuffle = " g1f3 g8f6 f3g1 f6g8".repeat(2_500);
    let answer = converse(&format!("position startpos moves{shuffle}\ngo depth 3\n"));
    assert!(!answer.contains("string"), "{answer}");
    // An illegal move at the end: the game before it is kept.
    let answer = converse(&format!("position startpos moves{shuffle} e2e5{AFTER}"));
    assert!(
        answer.starts_with("info string move e2e5 is illegal"),
        "{answer}"
    );
}

/// Backpressure: unread answers must not accumulate in memory, and a signal ends the engine even
/// while it blocks on its output.
#[cfg(unix)]
#[test]
fn a_blocked_reader_causes_backpressure() {
    use std::io::Write;
    use std::os::unix::process::ExitStatusExt;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static HEARD: AtomicUsize = AtomicUsize::new(0);
    for line in ["isready\n", "uci\n", "go nodes 1\n"] {
        let mut engine = Command::new(env!("CARGO_BIN_EXE_engine"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = engine.stdin.take().unwrap();
        HEARD.store(0, Ordering::Relaxed);
        let text = line.repeat(1000);
        let writer = thread::spawn(move || {
            while HEARD.load(Ordering::Relaxed) < 16 << 20
                && input.write_all(text.as_bytes()).is_ok()
            {
                HEARD.fetch_add(text.len(), Ordering::Relaxed);
            }
        });
        // Wait until the engine reads no more.
        let mut heard = 0;
        loop {
            thread::sleep(Duration::from_secs(1));
            let now = HEARD.load(Ordering::Relaxed);
            if now == heard && now > 0 {
                break;
            }
            heard = now;
        }
        assert!(heard < 1 << 20, "{line:?}: {heard} bytes");
        send_signal("TERM", &engine);
        let status = engine.wait().unwrap();
        assert_eq!(
            (status.code(), status.signal()),
            (Some(143), None),
            "{line:?}"
        );
        writer.join().unwrap();
    }
}

/// A script longer than the queues: every search still finishes.
#[test]
fn a_long_script_runs_all_its_searches() {
    let script = "position startpos\ngo depth 4\n".repeat(3_000);
    let output = run_with(script.as_bytes());
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said.matches("info depth 4 ").count(), 3_000);
    assert_eq!(said.matches("bestmove ").count(), 3_000);
}

/// The queen is captured even without time to search.
#[test]
fn an_immediate_stop_still_finds_a_capture() {
    let mut uci = Uci::start();
    for _ in 0..20 {
        uci.send("ucinewgame\nposition fen 4k3/8/8/3q4/8/8/8/3QK3 w - - 0 1\ngo infinite\nstop");
        let answer = uci.until("bestmove ").pop().unwrap();
        let answer = answer.split(" ponder").next().unwrap();
        assert_eq!(answer, "bestmove d1d5");
    }
}

#[test]
fn rejects_lines_of_megabytes() {
    for word in ["go ", "position startpos moves ", "x", " ", "\0", "9"] {
        let line = word.repeat((2 << 20) / word.len());
        let answer = converse(&format!("{line}{AFTER}"));
        assert!(
            answer.starts_with("info string line of more than"),
            "{answer:.200}"
        );
        // Without a newline at the end of input.
        assert!(run_with(line.as_bytes()).status.success());
    }
}

#[test]
fn survives_random_bytes() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut input: Vec<u8> = (0..200_000).map(|_| random.u8(..)).collect();
    input.extend(b"\n\0\0\nuci\r\nposition startpos\r\ngo depth 1\r\n");
    let output = run_with(&input);
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("uciok\n") && text.contains("\nbestmove "));
    assert!(output.stderr.is_empty());
}
