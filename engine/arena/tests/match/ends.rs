//! Ends of a match, and their exit codes.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use std::{fs, thread};

use serde_json::Value;
use test_support::send_signal;

use super::{ARENA, command, material, play};

#[test]
fn sprt_stops_the_match_and_sets_the_exit_code() {
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
            "elo0=0",
            "elo1=200",
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

/// Interrupts by Ctrl-C, by a scheduler, and by closing the terminal.
#[test]
fn an_interrupted_match_prints_what_was_played() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        interrupt(signal, code);
    }
}

fn interrupt(signal: &str, code: i32) {
    let folder = tempfile::tempdir().unwrap();
    let pgn = folder.path().join("games.pgn");
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../books/openings.epd");
    let mut running = Command::new(ARENA)
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
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !fs::read_to_string(&pgn).is_ok_and(|text| text.contains("[Result ")) {
        assert_eq!(running.try_wait().unwrap(), None, "it ended by itself");
        thread::sleep(Duration::from_millis(20));
    }
    send_signal(signal, &running);
    let output = running.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{message}");
    assert!(message.contains("--resume goes on"), "{message}");
    let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
    let written = fs::read_to_string(&pgn)
        .unwrap()
        .matches("[Result ")
        .count();
    assert_eq!(outcome["games"], written);
    assert_eq!(outcome["crashes"], serde_json::json!([0, 0]));
}

/// The reader is gone, as behind `| head`.
#[test]
fn a_closed_pipe_is_no_panic() {
    for games in ["2", "20"] {
        let arguments = [
            "--engine", "material", "--engine", "material", "--depth", "1",
        ];
        let mut running = command(&[&arguments[..], &["--games", games]].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop((running.stdout.take(), running.stderr.take()));
        assert_eq!(running.wait().unwrap().code(), Some(0));
    }
    let mut running = command(&[
        "--engine", "cmd=true", "--engine", "material", "--depth", "1", "--games", "2",
    ])
    .stderr(Stdio::piped())
    .spawn()
    .unwrap();
    drop(running.stderr.take());
    assert_eq!(running.wait().unwrap().code(), Some(1));
}

/// Runs a complete command line with the arguments of a case added.
fn with(rest: &[&str]) -> Output {
    let mut arguments = vec!["--engine", "material", "--engine", "material"];
    if !rest.contains(&"--games") {
        arguments.extend(["--games", "2"]);
    }
    let paces = ["--depth", "--nodes", "--movetime", "--tc"];
    if !paces.iter().any(|pace| rest.contains(pace)) {
        arguments.extend(["--depth", "1"]);
    }
    play(&[&arguments, rest].concat())
}

/// Checks the exit code and the reason: no panic, and one line except for wrong usage, which clap
/// explains.
fn fails(output: &Output, code: i32, reason: &str) {
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{message}");
    assert!(message.contains(reason), "{reason}: {message}");
    assert!(!message.contains("panicked"), "{message}");
    assert!(code == 2 || message.lines().count() == 1, "{message}");
}

#[test]
fn rejects_unplayable_options() {
    let cases: [(&[&str], &str); 31] = [
        (&["--tc", "0"], "thousandth of a second"),
        (&["--tc", "0+0"], "thousandth of a second"),
        (&["--tc", "0+1"], "thousandth of a second"),
        (&["--tc", "1e19+1e19"], "1000000 s"),
        (&["--tc", "x"], "10+0.1"),
        (&["--tc", "40/x"], "10+0.1"),
        (&["--tc", "0/60"], "from 1 to 65535 moves"),
        (&["--movetime", "0"], "above 0"),
        (&["--movetime", "18446744073709551615"], "1000000 s"),
        (&["--movetime", "0.5"], "above 0"),
        (&["--nodes", "0"], "above 0"),
        (&["--depth", "0"], "above 0"),
        (&["--depth", "x"], "above 0"),
        (&["--depth", "1", "--nodes", "1"], "cannot be used with"),
        (&["--games", "0"], "an even number from 2"),
        (&["--games", "3"], "an even number from 2"),
        (&["--games", "-2"], "-2"),
        (&["--games", "x"], "an even number from 2"),
        (
            &["--games", "18446744073709551614"],
            "an even number from 2",
        ),
        (&["--concurrency", "0"], "1..=65535"),
        (&["--concurrency", "65536"], "1..=65535"),
        (&["--margin-ms", "18446744073709551615"], "..=3600000"),
        (&["--seed", "x"], "--seed"),
        (&["--resign", "moves=4.7,score=1"], "whole number"),
        (&["--resign", "moves=4"], "moves=, score="),
        (&["--draw", "moves=1,moves=2,score=1,from=7"], "twice"),
        (&["--draw", "moves=1,score=1,from=70000"], "up to 65535"),
        (&["--sprt", "elo0=5,elo1=0"], "elo0 must be less"),
        (&["--sprt", "elo0=nan,elo1=5"], "elo0 must be less"),
        (&["--resume"], "--pgn"),
        (&["--engine", "material"], "twice (it is there 3 times)"),
    ];
    for (arguments, reason) in cases {
        fails(&with(arguments), 2, reason);
    }
    let engines: [(&str, &str); 16] = [
        ("", "give a program"),
        ("net=", "net= has no value"),
        ("cmd=", "cmd= has no value"),
        ("cmd=' '", "cmd= names no program"),
        ("name=x", "give a program"),
        ("material name=", "name= has no value"),
        ("material depth=0", "above 0"),
        ("material tc=0+0", "thousandth of a second"),
        ("material depth=1 nodes=2", "one limit"),
        ("material hash=0", "from 1 to"),
        ("material threads=100000", "from 1 to"),
        ("material option.Hash=1", "hash="),
        ("cmd=x hash=1", "option.Hash="),
        ("cmd=\"x", "a quote is not closed"),
        ("cmd=x -v", "cmd=\"PROGRAM ARGUMENTS\""),
        ("cmd=x net=material", "not both"),
    ];
    for (engine, reason) in engines {
        let arguments = [
            "--engine", "material", "--engine", engine, "--games", "2", "--depth", "1",
        ];
        fails(&play(&arguments), 2, reason);
    }
    for (arguments, reason) in [
        (
            &["--engine", "cmd=x", "--games", "2", "--depth", "1"][..],
            "--engine twice",
        ),
        (
            &["--engine", "cmd=x", "--engine", "cmd=x", "--games", "2"],
            "--movetime",
        ),
        (
            &[
                "--engine", "material", "--engine", "material", "--depth", "1",
            ],
            "--games",
        ),
    ] {
        fails(&play(arguments), 2, reason);
    }
}

#[test]
fn rejects_unusable_engines_and_files() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_string()
    };
    let engine = |spec: &str| {
        play(&[
            "--engine", "material", "--engine", spec, "--games", "2", "--depth", "1",
        ])
    };
    fails(&engine("cmd=/no/such/engine"), 3, "/no/such/engine");
    fails(&engine("/no/such.safetensors"), 3, "/no/such.safetensors");
    fails(
        &engine("stockfish"),
        3,
        "a program would be cmd=\"stockfish\"",
    );
    fails(&engine("cmd=true"), 1, "it ended");
    fails(
        &engine(&format!("net='{}'", file("no.safetensors", b"no net"))),
        6,
        "refused",
    );
    let options = engine(&format!("cmd={} option.Hash=0", super::engine()));
    fails(&options, 1, "\"Hash\" of Kibitz");
    fails(&options, 1, "from 1 to");
    let book = |path: &str| with(&["--book", path]);
    fails(&book("/no/book"), 3, "/no/book");
    fails(&book(folder.path().to_str().unwrap()), 3, "directory");
    let checkmate = b"rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3\n";
    for (name, bytes, reason) in [
        ("bad.epd", &b"\n8/8 w\n"[..], "line 2"),
        (
            "bad.pgn",
            b"1. e4 e5 2. Ke3 *\n",
            "game 1: an illegal move: Ke3",
        ),
        ("empty.epd", b"", "no opening"),
        ("mates.epd", checkmate, "no opening"),
        ("binary.epd", b"\x1f\x8b\xff\xfe", "line 1"),
    ] {
        fails(&book(&file(name, bytes)), 4, reason);
    }
    let pgn = |path: &str| with(&["--pgn", path]);
    fails(&pgn("/none/games.pgn"), 7, "/none/games.pgn");
    fails(
        &pgn(&file("games.pgn", b"[Event \"mine\"]\n")),
        5,
        "exists already",
    );
}

/// Books as found: Latin-1 in names, a name without .pgn, a byte order mark; and a position that is
/// checkmate.
#[test]
fn books_of_all_kinds_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let epd = "rnbqkbnr/pp3ppp/2p1p3/3p4/3P4/6B1/PPP1PPPP/RN1QKBNR w KQkq -\n";
    let ended = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3\n";
    let books = [
        (
            "latin.pgn",
            &b"[White \"M\xfcller\"]\n\n1. e4 {gr\xfcn} e5 *\n"[..],
        ),
        ("LATIN.PGN", b"1. e4 e5 *\n"),
        ("games.txt", b"[White \"x\"]\n\n1. e4 e5 *\n"),
        ("mark.epd", &[b"\xef\xbb\xbf", epd.as_bytes()].concat()),
        ("ended.epd", &[ended.as_bytes(), epd.as_bytes()].concat()),
    ];
    for (name, bytes) in books {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let output = with(&["--book", path.to_str().unwrap()]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{name}: {message}");
        let told = message.contains("in 1 openings the game is over");
        assert_eq!(told, name == "ended.epd", "{message}");
    }
}

/// A silent program is reported while the match waits for it.
#[test]
fn reports_the_program_it_waits_for() {
    let output = play(&[
        "--engine", "cmd=cat", "--engine", "material", "--games", "2", "--depth", "1",
    ]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    let lines: Vec<&str> = message.lines().collect();
    assert!(
        lines[0].contains("waiting for `uciok` from \"cat\""),
        "{message}"
    );
    assert!(
        lines[1].contains("\"cat\" is not a UCI engine"),
        "{message}"
    );
    assert_eq!(lines.len(), 2, "{message}");
}

#[test]
fn reports_refused_options() {
    let with = |option: &str| {
        let engine = format!("cmd={} option.{option}", super::engine());
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
