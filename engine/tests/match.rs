//! `engine match`: the referee, and whole games against the clock.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const ENGINE: &str = env!("CARGO_BIN_EXE_engine");

fn play(arguments: &[&str]) -> Output {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("books/openings.epd");
    let mut command = Command::new(ENGINE);
    command.arg("match").args(arguments).arg("--json");
    if !arguments.contains(&"--book") {
        command.arg("--book").arg(book);
    }
    command.output().unwrap()
}

fn result(arguments: &[&str]) -> Value {
    let output = play(arguments);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn network() -> String {
    format!("cmd={ENGINE} name=network")
}

fn material() -> String {
    format!("cmd={ENGINE} name=material option.Evaluation=material")
}

/// A program that plays like the engine until its `go` is answered by `answer`.
fn broken(folder: &Path, answer: &str) -> String {
    let path = folder.join("broken.sh");
    let script = format!(
        "#!/bin/sh\nwhile read -r line; do case \"$line\" in\n\
         uci) echo uciok;; isready) echo readyok;; quit) exit;; go*) {answer};;\nesac; done\n"
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    format!("cmd='{}' name=broken", path.display())
}

#[test]
fn four_games_without_an_illegal_move() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = folder.path().join("games.pgn");
    let arguments = [
        "--engine",
        &network(),
        "--engine",
        &material(),
        "--games",
        "4",
        "--depth",
        "2",
        "--concurrency",
        "2",
        "--pgn",
        pgn.to_str().unwrap(),
    ];
    let first = result(&arguments);
    assert_eq!(first["games"], 4);
    assert_eq!(first["illegal_moves"], serde_json::json!([0, 0]));
    assert_eq!(first["time_losses"], serde_json::json!([0, 0]));
    assert_eq!(first["crashes"], serde_json::json!([0, 0]));
    let timeless = |mut outcome: Value| {
        for averages in outcome["averages"].as_array_mut().unwrap() {
            averages["nps"] = Value::Null;
            averages["move_ms"] = Value::Null;
        }
        outcome
    };
    assert_eq!(
        timeless(result(&arguments)),
        timeless(first),
        "fixed depth repeats"
    );
    let games = fs::read_to_string(&pgn).unwrap();
    assert_eq!(games.matches("[Result ").count(), 4);
    for side in ["White", "Black"] {
        assert_eq!(games.matches(&format!("[{side} \"network\"]")).count(), 2);
    }
}

#[test]
fn chess960_games() {
    let folder = tempfile::tempdir().unwrap();
    let book = folder.path().join("960.epd");
    fs::write(
        &book,
        "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9\n",
    )
    .unwrap();
    let outcome = result(&[
        "--engine",
        &material(),
        "--engine",
        &material(),
        "--games",
        "2",
        "--depth",
        "3",
        "--book",
        book.to_str().unwrap(),
    ]);
    assert_eq!(
        outcome["engines"],
        serde_json::json!(["material (1)", "material (2)"])
    );
    assert_eq!(outcome["illegal_moves"], serde_json::json!([0, 0]));
}

#[test]
fn whole_games_against_the_clock() {
    let outcome = result(&[
        "--engine",
        &network(),
        "--engine",
        &material(),
        "--games",
        "2",
        "--tc",
        "1+0.01",
        "--margin-ms",
        "200",
    ]);
    assert_eq!(outcome["games"], 2);
    assert_eq!(outcome["time_losses"], serde_json::json!([0, 0]));
    assert_eq!(outcome["crashes"], serde_json::json!([0, 0]));
}

#[test]
fn an_engine_that_breaks_the_rules_loses_and_the_match_goes_on() {
    let cases = [
        ("echo bestmove e2e5", "depth", "illegal_moves"),
        ("echo bestmove", "depth", "illegal_moves"),
        ("exit 1", "depth", "crashes"),
        (":", "movetime", "time_losses"),
        ("sleep 0.3; echo bestmove a2a3", "movetime", "time_losses"),
    ];
    for (answer, pace, counter) in cases {
        let folder = tempfile::tempdir().unwrap();
        let broken = broken(folder.path(), answer);
        let pace = format!("--{pace}");
        let amount = if pace == "--depth" { "2" } else { "100" };
        let outcome = result(&[
            "--engine",
            &broken,
            "--engine",
            &material(),
            "--games",
            "2",
            &pace,
            amount,
        ]);
        assert_eq!(outcome["losses"], 2, "{answer}: {outcome}");
        assert_eq!(
            outcome[counter],
            serde_json::json!([2, 0]),
            "{answer}: {outcome}"
        );
    }
}

#[test]
fn what_cannot_be_played_is_one_line_and_an_exit_code() {
    let cases: [(&[&str], i32, &str); 5] = [
        (
            &[
                "--engine",
                "cmd=/no/such/engine",
                "--engine",
                "cmd=x",
                "--games",
                "2",
                "--depth",
                "1",
            ],
            3,
            "/no/such/engine",
        ),
        (
            &[
                "--engine", "cmd=true", "--engine", "cmd=true", "--games", "2", "--depth", "1",
            ],
            1,
            "it ended",
        ),
        (
            &[
                "--engine", "cmd=x", "--engine", "cmd=x", "--games", "2", "--depth", "1", "--book",
                "/no/book",
            ],
            3,
            "/no/book",
        ),
        (
            &[
                "--engine", "cmd=x", "--engine", "cmd=x", "--games", "3", "--depth", "1",
            ],
            2,
            "even number",
        ),
        (
            &["--engine", "cmd=x", "--games", "2", "--depth", "1"],
            1,
            "--engine twice",
        ),
    ];
    for (arguments, code, reason) in cases {
        let output = play(arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
        assert!(message.contains(reason), "{arguments:?}: {message}");
        assert!(code == 2 || message.lines().count() == 1, "{message}");
    }
}
