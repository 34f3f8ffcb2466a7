//! `engine match`: the referee, and whole games against the clock.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

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

/// Moves as SAN, game by game; the comments are left out.
fn moves(pgn: &Path) -> Vec<String> {
    let text = fs::read_to_string(pgn).unwrap();
    let games = text.split("[Event ").skip(1);
    games
        .map(|game| {
            let movetext = game.split_once("\n\n").unwrap().1;
            let parts = movetext
                .split('{')
                .map(|part| part.split('}').next_back().unwrap());
            let words = parts.flat_map(str::split_whitespace);
            words
                .filter(|word| !word.ends_with('.'))
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect()
}

#[test]
fn a_net_plays_in_this_process_as_it_does_over_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = folder.path().join("games.pgn");
    let arguments = ["--engine", &network(), "--engine", "embedded"];
    let rest = [
        "--games",
        "4",
        "--depth",
        "3",
        "--pgn",
        pgn.to_str().unwrap(),
    ];
    let outcome = result(&[&arguments[..], &rest[..]].concat());
    assert_eq!(
        outcome["engines"],
        serde_json::json!(["network", "embedded"])
    );
    assert_eq!(outcome["pairs"], serde_json::json!([0, 0, 2, 0, 0]));
    assert_eq!(outcome["elo"], 0.0);
    for pair in moves(&pgn).chunks(2) {
        assert_eq!(pair[0], pair[1]);
    }
}

#[test]
fn each_engine_may_have_a_pace_of_its_own() {
    let shallow = ["--engine", "material depth=1", "--engine"];
    let both = [
        &shallow[..],
        &["material name=other nodes=50", "--games", "2"],
    ]
    .concat();
    let outcome = result(&both);
    assert_eq!(outcome["averages"][0]["depth"], 1.0);
    let nodes = outcome["averages"][1]["nodes"].as_f64().unwrap();
    assert!(nodes > 0.0 && nodes <= 50.0, "{nodes}");
    let one = [&shallow[..], &["material", "--games", "2"]].concat();
    let output = play(&one);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--movetime"));
}

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
fn games_are_adjudicated_only_when_asked_for() {
    let match_of = |rule: &[&str]| {
        let engines = [
            "--engine",
            "material depth=1",
            "--engine",
            "material depth=2",
        ];
        let endings = result(&[&engines[..], &["--games", "4"], rule].concat());
        endings["endings"].clone()
    };
    let played_out = match_of(&[]);
    for adjudicated in ["resignation", "agreed_draw"] {
        assert_eq!(played_out.get(adjudicated), None, "{played_out}");
    }
    let drawn = match_of(&["--draw", "moves=1,score=20000,from=1"]);
    assert_eq!(drawn, serde_json::json!({ "agreed_draw": 4 }));
    // Who is not ahead resigns, and both cannot be.
    let resigned = match_of(&["--resign", "moves=1,score=0"]);
    assert_eq!(resigned, serde_json::json!({ "resignation": 4 }));
}

#[test]
fn games_are_written_with_scores_and_times_and_can_be_a_book() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = folder.path().join("games.pgn");
    let book = pgn.to_str().unwrap();
    let engines = [
        "--engine", "material", "--engine", "embedded", "--games", "2",
    ];
    let pace = ["--depth", "2"];
    result(&[&engines[..], &pace, &["--pgn", book]].concat());
    let text = fs::read_to_string(&pgn).unwrap();
    assert!(
        text.contains("[TimeControl \"-\"]\n[Termination \"normal\"]\n"),
        "{text}"
    );
    let comments: Vec<&str> = text.split('{').skip(1).collect();
    let timed = comments
        .iter()
        .filter(|comment| comment.split('}').next().unwrap().ends_with('s'));
    let plies = text.matches("[PlyCount \"").count();
    assert_eq!(
        (plies, comments.len() - timed.count()),
        (2, 2),
        "an ending a game"
    );
    assert!(
        text.contains("/2 0."),
        "score and depth, then seconds: {text}"
    );
    let again = result(&[&engines[..], &pace, &["--book", book]].concat());
    assert_eq!(again["games"], 2, "every move written could be read");
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

/// On a busy machine a game may be lost on time; it must then be counted so.
#[test]
fn whole_games_against_the_clock() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = folder.path().join("games.pgn");
    let outcome = result(&[
        "--engine",
        &network(),
        "--engine",
        "embedded threads=2",
        "--games",
        "4",
        "--tc",
        "1+0.01",
        "--pgn",
        pgn.to_str().unwrap(),
    ]);
    println!("time losses of 4 games: {}", outcome["time_losses"]);
    assert_eq!(outcome["games"], 4);
    assert_eq!(outcome["crashes"], serde_json::json!([0, 0]));
    assert_eq!(outcome["illegal_moves"], serde_json::json!([0, 0]));
    let forfeits = outcome["endings"]["time_forfeit"].as_u64().unwrap_or(0);
    let losses = outcome["time_losses"].as_array().unwrap();
    let losses: u64 = losses.iter().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(losses, forfeits);
    let games = fs::read_to_string(&pgn).unwrap();
    assert_eq!(games.matches("[TimeControl \"1+0.01\"]").count(), 4);
    let written = games.matches("[Termination \"time forfeit\"]").count();
    assert_eq!(written as u64, forfeits);
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
