//! The referee: rules, clocks, adjudication.

use std::fs;
use std::path::Path;

use super::{material, network, play, result};

/// Returns a program that answers `go` with the shell commands `answer`.
fn broken(folder: &Path, answer: &str) -> String {
    let path = folder.join("broken.sh");
    let script = format!(
        "#!/bin/sh\nwhile read -r line; do case \"$line\" in\n\
         uci) echo uciok;; isready) echo readyok;; quit) exit;; go*) {answer};;\nesac; done\n"
    );
    fs::write(&path, script).unwrap();
    // Run by the shell: the system starts no file that another test's fork still writes.
    format!("cmd=\"sh '{}'\" name=broken", path.display())
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
fn each_engine_may_have_a_pace_of_its_own() {
    let shallow = ["--engine", "material depth=1", "--engine"];
    let both = [
        &shallow[..],
        &["material name=other nodes=500", "--games", "2"],
    ]
    .concat();
    let outcome = result(&both);
    assert_eq!(outcome["averages"][0]["depth"], 1.0);
    let nodes = outcome["averages"][1]["nodes"].as_f64().unwrap();
    assert!(nodes > 100.0 && nodes <= 500.0, "{nodes}");
    let one = [&shallow[..], &["material", "--games", "2"]].concat();
    let output = play(&one);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--movetime"));
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
    // The side that is not ahead resigns; both sides cannot be ahead.
    let resigned = match_of(&["--resign", "moves=1,score=0"]);
    assert_eq!(resigned, serde_json::json!({ "resignation": 4 }));
}

#[test]
fn tables_and_length_end_games_when_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let book = folder.path().join("book.epd");
    let book_text = book.to_str().unwrap();
    let endings = |book_line: &str, rest: &[&str]| {
        fs::write(&book, book_line).unwrap();
        let nets = ["--engine", "material", "--engine", "material"];
        let rest = [
            &nets[..],
            &["--games", "2", "--book", book_text, "--depth", "1"],
            rest,
        ]
        .concat();
        result(&rest)["endings"].clone()
    };
    let line = "7k/8/8/8/8/8/4P3/K7 w - - 0 1\n";
    let shortest = endings(line, &["--max-moves", "3"]);
    assert_eq!(shortest["too_long"], 2, "{shortest}");
    let Some(tables) = test_support::shared("syzygy34") else {
        return;
    };
    let known = endings(line, &["--syzygy", tables.to_str().unwrap()]);
    assert_eq!(known["tablebase"], 2, "{known}");
    let missing = play(&[
        "--engine", "material", "--engine", "material", "--games", "2", "--depth", "1", "--syzygy",
        book_text,
    ]);
    assert_eq!(missing.status.code(), Some(3), "{missing:?}");
}

#[test]
fn each_sets_the_defaults_of_all_engines() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = folder.path().join("games.pgn");
    let arguments = [
        "--engine",
        &network(),
        "--engine",
        "material depth=1",
        "--games",
        "2",
        "--each",
        "option.Hash=2 hash=1 depth=2",
        "--pgn",
        pgn.to_str().unwrap(),
    ];
    result(&arguments);
    let record = fs::read_to_string(folder.path().join("games.pgn.jsonl")).unwrap();
    let head: serde_json::Value = serde_json::from_str(record.lines().next().unwrap()).unwrap();
    let settings = &head["settings"];
    assert_eq!(settings["the limit of engine 1"], "depth=2", "{head}");
    assert_eq!(settings["the limit of engine 2"], "depth=1", "{head}");
    let engine = |number: u32| settings[format!("engine {number}")].to_string();
    assert!(engine(1).contains("option.Hash=2") && !engine(1).contains("hash=1"));
    assert!(engine(2).contains("hash=1") && !engine(2).contains("option."));
    let wrong = play(&[
        "--engine", "material", "--engine", "material", "--games", "2", "--each", "name=x",
    ]);
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
}

/// A busy machine may lose a game on time, which must be counted.
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

/// A busy machine loses no game here: lateness is forgiven.
#[test]
fn periods_of_moves_repeat() {
    let folder = tempfile::tempdir().unwrap();
    let (script, log) = (folder.path().join("logged.sh"), folder.path().join("log"));
    let engine = super::engine();
    fs::write(
        &script,
        format!("tee -a '{}' | '{engine}'\n", log.display()),
    )
    .unwrap();
    let logged = format!("cmd=\"sh '{}'\" tc=3/0.3+0.01", script.display());
    let engines = ["--engine", &logged, "--engine", "material depth=1"];
    let rest = ["--games", "2", "--max-moves", "4", "--margin-ms", "60000"];
    let outcome = result(&[&engines[..], &rest].concat());
    assert_eq!(outcome["endings"]["too_long"], 2, "{outcome}");
    let log = fs::read_to_string(&log).unwrap();
    let goes = log.lines().filter(|line| line.starts_with("go "));
    let to_go: Vec<&str> = goes
        .map(|line| line.rsplit_once(" movestogo ").expect(line).1)
        .collect();
    assert_eq!(to_go, ["3", "2", "1", "3"].repeat(2), "{log}");
}

#[test]
fn an_engine_that_breaks_the_rules_loses_and_the_match_continues() {
    let cases = [
        ("echo bestmove e2e5", "depth=2", "illegal_moves"),
        ("echo bestmove", "depth=2", "illegal_moves"),
        ("exit 1", "depth=2", "crashes"),
        ("exec >&-; sleep 100", "depth=2", "crashes"),
        ("exec yes info string x", "movetime=100", "time_losses"),
        ("exec tr '\\0' x </dev/zero", "movetime=100", "time_losses"),
        (
            "printf 'info string \\344\\n\\344\\n'; echo bestmove e2e5",
            "depth=2",
            "illegal_moves",
        ),
        (":", "movetime=100", "time_losses"),
        (
            "sleep 0.3; echo bestmove a2a3",
            "movetime=100",
            "time_losses",
        ),
    ];
    for (answer, pace, counter) in cases {
        let folder = tempfile::tempdir().unwrap();
        let broken = format!("{} {pace}", broken(folder.path(), answer));
        // The opponent has no clock, since a busy machine could delay it.
        let engines = ["--engine", &broken, "--engine", "material depth=2"];
        let output = play(&[&engines[..], &["--games", "2"]].concat());
        let crashed = counter == "crashes";
        assert_eq!(output.status.code(), Some(crashed.into()), "{answer}");
        let outcome: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(outcome["losses"], 2, "{answer}: {outcome}");
        assert_eq!(
            outcome[counter],
            serde_json::json!([2, 0]),
            "{answer}: {outcome}"
        );
    }
}

#[test]
fn an_engine_that_crashes_in_every_game_ends_the_match() {
    let folder = tempfile::tempdir().unwrap();
    let broken = broken(folder.path(), "exit 1");
    let one = ["--engine", &broken, "--engine", "material"];
    let both = ["--engine", &broken, "--engine", &broken];
    for (engines, played) in [(one, 6), (both, 12)] {
        let output = play(&[&engines[..], &["--games", "40", "--depth", "1"]].concat());
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(
            message.contains("name=broken\" crashed or hung in 6 games"),
            "{message}"
        );
        let outcome: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(outcome["games"], played, "{outcome}");
    }
}

/// Accepts Latin-1, a second answer, and a line of a million bytes.
#[test]
fn ignores_all_output_but_moves() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("loud.sh");
    let says = "printf 'info string gr\\374n\\n'; head -c 1000000 /dev/zero | tr '\\0' x; echo; \
                echo bestmove a1a1";
    let script = format!(
        "'{}' | while read -r line; do echo \"$line\"; \
                          case $line in bestmove*) {says};; esac; done\n",
        super::engine()
    );
    fs::write(&path, script).unwrap();
    let loud = format!("cmd=\"sh '{}'\" name=loud depth=1", path.display());
    let engines = ["--engine", &loud, "--engine", "material depth=1"];
    let outcome = result(&[&engines[..], &["--games", "2"]].concat());
    for counter in ["crashes", "hangs", "illegal_moves", "time_losses"] {
        assert_eq!(outcome[counter], serde_json::json!([0, 0]), "{outcome}");
    }
}

/// Chess960 openings need an engine with UCI_Chess960.
#[test]
fn refuses_chess960_openings_without_support() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("960.epd");
    let opening = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9\n";
    fs::write(&path, opening).unwrap();
    let plain = broken(folder.path(), "exit 1");
    let engines = ["--engine", &plain, "--engine", "material"];
    let rest = [
        "--games",
        "2",
        "--depth",
        "1",
        "--book",
        path.to_str().unwrap(),
    ];
    let output = play(&[&engines[..], &rest].concat());
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("UCI_Chess960") && message.contains("broken"),
        "{message}"
    );
}
