//! How a match ends, and with which exit code.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::{ENGINE, material, play};

#[test]
fn a_test_stops_the_match_and_its_verdict_is_the_exit_code() {
    let (deep, shallow) = ("material name=deep depth=3", "material depth=1");
    let cases = [
        (deep, shallow, "400", 0, "accepted_h1"),
        (shallow, deep, "400", 10, "accepted_h0"),
        (deep, shallow, "2", 11, "undecided"),
    ];
    for (first, second, games, code, verdict) in cases {
        let output = play(&[
            "--engine",
            first,
            "--engine",
            second,
            "--games",
            games,
            "--concurrency",
            "2",
            "--sprt",
            "elo0=0,elo1=200",
        ]);
        let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code), "{outcome}");
        assert_eq!(outcome["sprt"]["verdict"], verdict, "{outcome}");
        let played = outcome["games"].as_u64().unwrap();
        assert!(played < 400, "{outcome}");
        let endings = outcome["endings"].as_object().unwrap();
        let ended: u64 = endings.values().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(ended, played, "games that were broken off do not count");
    }
}

#[test]
fn an_interrupted_match_prints_what_was_played() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = folder.path().join("games.pgn");
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("books/openings.epd");
    let mut running = Command::new(ENGINE)
        .args([
            "match", "--json", "--games", "100000", "--depth", "1", "--engine", "material",
        ])
        .args([
            "--engine",
            &material(),
            "--pgn",
            pgn.to_str().unwrap(),
            "--book",
        ])
        .arg(book)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    while !fs::read_to_string(&pgn).is_ok_and(|text| text.contains("[Result ")) {
        assert_eq!(running.try_wait().unwrap(), None, "it ended by itself");
        thread::sleep(Duration::from_millis(20));
    }
    let sent = Command::new("kill")
        .args(["-INT", &running.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    let output = running.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
    let written = fs::read_to_string(&pgn)
        .unwrap()
        .matches("[Result ")
        .count();
    assert_eq!(outcome["games"], written);
    assert_eq!(outcome["crashes"], serde_json::json!([0, 0]));
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

#[test]
fn options_that_do_not_take_are_told() {
    let with = |option: &str| {
        let engine = format!("cmd={ENGINE} option.{option}");
        let output = play(&[
            "--engine", &engine, "--engine", &engine, "--games", "2", "--depth", "1",
        ]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), message)
    };
    let (code, message) = with("Colour=blue");
    assert_eq!(code, Some(1), "{message}");
    assert!(message.contains("no option \"Colour\""), "{message}");
    let (code, message) = with("evalfile=/no/such.net");
    assert_eq!(code, Some(0), "{message}");
    assert!(message.contains("info string"), "{message}");
    assert!(message.contains("/no/such.net"), "{message}");
}
