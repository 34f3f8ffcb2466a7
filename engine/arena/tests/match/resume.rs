//! Games files: resumed, appended to, replaced only by force, never overwritten.

use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::Duration;
use std::{fs, thread};

use serde_json::Value;

use super::{command, engine, play, result};

/// Two engines with deterministic games.
const ENGINES: [&str; 6] = [
    "--engine",
    "embedded nodes=300",
    "--engine",
    "material nodes=700",
    "--games",
    "24",
];

/// Returns the games without the times of their moves.
fn games(pgn: &Path) -> Vec<String> {
    let text = fs::read_to_string(pgn).unwrap();
    let timeless = |word: &str| -> String {
        match word.strip_suffix("s}").map(str::parse::<f64>) {
            Some(Ok(_)) => "}".to_string(),
            _ => word.to_string(),
        }
    };
    let games = text.split("[Event ").skip(1);
    games
        .map(|game| {
            game.split_whitespace()
                .map(timeless)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect()
}

/// Returns the result without its timings.
fn timeless(mut outcome: Value) -> Value {
    for averages in outcome["averages"].as_array_mut().unwrap() {
        averages["nps"] = Value::Null;
        averages["move_ms"] = Value::Null;
    }
    outcome
}

fn start(arguments: &[&str]) -> Child {
    let mut command = command(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Waits until `pairs` pairs are counted, or the match is over.
fn wait_for(match_: &mut Child, pgn: &str, pairs: usize) {
    let record = format!("{pgn}.jsonl");
    let counted = || fs::read_to_string(&record).map_or(0, |text| text.matches('\n').count());
    while counted() <= pairs && match_.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_killed_match_resumes_to_the_same_games_and_result() {
    for (concurrency, test) in [("1", false), ("2", false), ("1", true)] {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let (whole, cut) = (path("whole.pgn"), path("cut.pgn"));
        let arguments = |pgn| {
            let mut arguments = ENGINES.to_vec();
            arguments.extend(["--concurrency", concurrency, "--pgn", pgn]);
            if test {
                arguments.extend(["--sprt", "elo0=0,elo1=300,alpha=0.01,beta=0.01"]);
            }
            arguments
        };
        let undisturbed = play(&arguments(whole.to_str().unwrap()));
        let expected: Value = serde_json::from_slice(&undisturbed.stdout).unwrap();
        let pgn = cut.to_str().unwrap();
        let mut arguments = arguments(pgn);
        arguments.push("--resume");
        let (mut kills, mut pairs) = (0, [1, 3, 5].into_iter().cycle());
        while kills < 3 {
            let pairs = pairs.next().unwrap();
            let mut running = start(&arguments);
            wait_for(&mut running, pgn, pairs);
            // In the middle of a game, or of a write.
            thread::sleep(Duration::from_millis(pairs as u64));
            let ended = running.try_wait().unwrap().is_some();
            running.kill().unwrap();
            running.wait().unwrap();
            if ended {
                // The match finished before its kill: start a new one.
                fs::remove_file(&cut).unwrap();
                fs::remove_file(cut.with_extension("pgn.jsonl")).unwrap();
                continue;
            }
            kills += 1;
            if kills == 1 && is_whole(&cut) {
                tear(&cut);
            }
        }
        let resumed = play(&arguments);
        let message = String::from_utf8_lossy(&resumed.stderr);
        assert!(message.contains("going on after"), "{message}");
        assert_eq!(
            resumed.status.code(),
            undisturbed.status.code(),
            "{message}"
        );
        let outcome: Value = serde_json::from_slice(&resumed.stdout).unwrap();
        let (mut before, mut after) = (games(&whole), games(&cut));
        if concurrency == "2" {
            // Pairs are written as they end.
            before.sort();
            after.sort();
        }
        assert_eq!(after, before);
        assert_eq!(timeless(outcome), timeless(expected));
        // A finished match plays nothing and prints the same result.
        let again = play(&arguments);
        assert_eq!(again.stdout, resumed.stdout);
        assert_eq!(games(&cut).len(), before.len());
    }
}

/// Returns whether the kill came between two writes. Only then can `tear` append a torn pair.
fn is_whole(pgn: &Path) -> bool {
    let count = |path: &Path, what: &str| fs::read_to_string(path).unwrap().matches(what).count();
    // The record has a first line before those of the pairs.
    let lines = count(&pgn.with_extension("pgn.jsonl"), "\n");
    count(pgn, "[Event ") == 2 * (lines - 1)
}

/// Appends half a game and half a line, as a kill in the middle of a write does.
fn tear(pgn: &Path) {
    let append = |path: &Path, text: &str| {
        let before = fs::read_to_string(path).unwrap();
        fs::write(path, before + text).unwrap();
    };
    append(
        pgn,
        "[Event \"engine match\"]\n[Site \"?\"]\n[Result \"1-0\"]\n\n1. e4 {0.0",
    );
    append(&pgn.with_extension("pgn.jsonl"), "{\"number\":7,\"tal");
}

/// More games on the same openings are the same match.
#[test]
fn a_finished_match_can_be_extended() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let [long, short] = [path("long.pgn"), path("short.pgn")];
    let engines = [
        "--engine", "material", "--engine", "embedded", "--depth", "1",
    ];
    let of = |games: &str, pgn: &Path| {
        let rest = ["--games", games, "--resume", "--pgn", pgn.to_str().unwrap()];
        timeless(result(&[&engines[..], &rest].concat()))
    };
    let expected = of("8", &long);
    of("4", &short);
    assert_eq!(of("8", &short), expected);
    assert_eq!(games(&short), games(&long));
}

#[test]
fn games_are_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = folder.path().join("games.pgn");
    let name = pgn.to_str().unwrap();
    let try_it = |rest: &[&str]| {
        let pgn = ["--games", "2", "--depth", "1", "--pgn", name];
        let engines = ["--engine", "material", "--engine", "material"];
        let output = play(&[&engines[..], &pgn, rest].concat());
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), message)
    };
    // Foreign games, or those of an earlier version.
    let mine = "[Event \"mine\"]\n\n1. e4 *\n";
    fs::write(&pgn, mine).unwrap();
    for (rest, words) in [(&[][..], "exists already"), (&["--resume"], "no record")] {
        let (code, message) = try_it(rest);
        assert_eq!(code, Some(5), "{message}");
        assert!(
            message.contains(words) && message.contains("games.pgn"),
            "{message}"
        );
        assert!(message.lines().count() == 1, "{message}");
    }
    assert_eq!(fs::read_to_string(&pgn).unwrap(), mine);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    // An empty file may be used.
    fs::write(&pgn, "").unwrap();
    assert_eq!(try_it(&[]).0, Some(0));
    let games = fs::read_to_string(&pgn).unwrap();
    let (code, message) = try_it(&[]);
    assert_eq!(code, Some(5), "{message}");
    assert!(message.contains("--resume"), "{message}");
    // Changed, truncated or extended games are refused and kept.
    let changed = [
        // Other results of the same length.
        games
            .replace("1/2-1/2", "1-0    ")
            .replace("0-1", "*  ")
            .replace("1-0", "0-1"),
        games[..games.len() - 10].to_string(),
        format!("{games}{mine}"),
        format!("{games}{games}{games}"),
        mine.to_string(),
    ];
    for text in changed {
        fs::write(&pgn, &text).unwrap();
        let (code, message) = try_it(&["--resume"]);
        assert_eq!(code, Some(5), "{message}");
        assert!(message.contains("not as its match left it"), "{message}");
        assert_eq!(fs::read_to_string(&pgn).unwrap(), text);
    }
    // Deleted games leave their counts in the record.
    fs::remove_file(&pgn).unwrap();
    for rest in [&[][..], &["--resume"]] {
        let (code, message) = try_it(rest);
        assert_eq!(code, Some(5), "{message}");
        assert!(
            message.contains("games.pgn.jsonl") && message.contains("gone"),
            "{message}"
        );
    }
    // Zeros at the end, as after a power cut.
    fs::write(&pgn, games.clone() + "\0\0\0").unwrap();
    assert_eq!(try_it(&["--resume"]).0, Some(0));
    assert_eq!(fs::read_to_string(&pgn).unwrap(), games);
    let record = folder.path().join("games.pgn.jsonl");
    fs::write(&record, b"\xff\n").unwrap();
    let (code, message) = try_it(&["--resume"]);
    assert_eq!(code, Some(5), "{message}");
    assert!(message.contains("games.pgn.jsonl"), "{message}");
}

#[test]
fn appends_games_when_asked_to() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = folder.path().join("all.pgn");
    let name = pgn.to_str().unwrap();
    let arguments = |rest: &'static [&'static str]| {
        let nets = [
            "--engine", "material", "--engine", "material", "--depth", "1",
        ];
        [&nets[..], &["--games", "2", "--pgn", name], rest].concat()
    };
    fs::write(&pgn, "[Event \"before\"]\n\n1. e4 *\n").unwrap();
    result(&arguments(&["--append"]));
    result(&arguments(&["--append"]));
    let text = fs::read_to_string(&pgn).unwrap();
    assert!(
        text.starts_with("[Event \"before\"]\n\n1. e4 *\n\n[Event \"engine match\"]"),
        "{text}"
    );
    assert_eq!(text.matches("[Event ").count(), 5);
    assert!(!folder.path().join("all.pgn.jsonl").exists());
    // A resumable match would take appended games for torn.
    let record = folder.path().join("all.pgn.jsonl");
    fs::write(record, "{}").unwrap();
    let refused = play(&arguments(&["--append"]));
    assert_eq!(refused.status.code(), Some(5), "{refused:?}");
    std::os::unix::fs::symlink(&pgn, folder.path().join("link.pgn")).unwrap();
    let link = folder.path().join("link.pgn");
    let mut by_link = arguments(&["--append"]);
    let place = by_link.iter().position(|&word| word == name).unwrap();
    by_link[place] = link.to_str().unwrap();
    assert_eq!(play(&by_link).status.code(), Some(5));
    assert_eq!(fs::read_to_string(&pgn).unwrap(), text);
}

/// A foreign record is detected by its beginning, and a link is kept.
#[test]
fn keeps_foreign_records_and_links() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (pgn, record, link) = (path("games.pgn"), path("games.pgn.jsonl"), path("link.pgn"));
    let start = |engine: &str, pgn: &Path| {
        let engines = ["--engine", engine, "--engine", "material"];
        let rest = [
            "--games",
            "2",
            "--depth",
            "1",
            "--pgn",
            pgn.to_str().unwrap(),
        ];
        play(&[&engines[..], &rest].concat())
    };
    let mine = "{\"mine\": 1}";
    fs::write(&record, mine).unwrap();
    let output = start("material", &pgn);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{message}");
    assert!(message.contains("games.pgn.jsonl"), "{message}");
    assert_eq!(fs::read_to_string(&record).unwrap(), mine);
    // A torn first line, also with zeros after a power cut.
    for torn in [
        "",
        "{\"for",
        "{\"format\":1,\"set",
        "{\"format\":\0\0",
        "\0\0\0",
    ] {
        fs::write(&record, torn).unwrap();
        // Files stay untouched until the engines have started.
        assert_eq!(start("cmd=true", &pgn).status.code(), Some(1), "{torn}");
        assert!(!pgn.exists(), "{torn}");
        assert_eq!(fs::read_to_string(&record).unwrap(), torn);
        assert_eq!(start("material", &pgn).status.code(), Some(0), "{torn}");
        fs::remove_file(&pgn).unwrap();
        fs::remove_file(&record).unwrap();
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("games.pgn", &link).unwrap();
        assert_eq!(start("cmd=true", &link).status.code(), Some(1));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(start("material", &link).status.code(), Some(0));
        let games = fs::read_to_string(&pgn).unwrap();
        assert_eq!(games.matches("[Result ").count(), 2);
    }
}

#[test]
fn other_settings_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = folder.path().join("games.pgn");
    let [book, net] = ["book.epd", "net.safetensors"].map(|name| folder.path().join(name));
    let source = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::copy(source.join("../books/openings.epd"), &book).unwrap();
    fs::copy(source.join("../../models/default.safetensors"), &net).unwrap();
    let (pgn, book, net) = (
        pgn.to_str().unwrap(),
        book.to_str().unwrap(),
        net.to_str().unwrap(),
    );
    let first = [
        "--engine", net, "--engine", "material", "--games", "2", "--depth", "1", "--book", book,
        "--pgn", pgn, "--resume",
    ];
    result(&first);
    let refused = |arguments: &[&str], words: &str| {
        let output = play(arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(5), "{message}");
        assert!(message.contains(words), "{words}: {message}");
    };
    let with = |place: usize, value| {
        let mut arguments = first;
        arguments[place] = value;
        arguments
    };
    let before = fs::read(pgn).unwrap();
    refused(
        &with(3, "material name=x"),
        "engine 2 was material, now material name=x",
    );
    refused(
        &with(7, "2"),
        "the limit of engine 1 was depth=1, now depth=2",
    );
    let more: [(&[&str], &str); 5] = [
        (&["--seed", "2"], "--seed was 1, now 2"),
        (&["--margin-ms", "21"], "--margin-ms was 20, now 21"),
        (
            &["--sprt", "elo0=0,elo1=5"],
            "--sprt was not given, now elo0=0",
        ),
        (
            &["--draw", "moves=8,score=10,from=40"],
            "--draw was not given",
        ),
        (
            &["--resign", "moves=4,score=600"],
            "--resign was not given, now moves=4,score=600",
        ),
    ];
    for (more, words) in more {
        refused(&[&first[..], more].concat(), words);
    }
    let mut text = fs::read_to_string(book).unwrap();
    text.truncate(text.rfind("\nrnb").unwrap() + 1);
    fs::write(book, text).unwrap();
    refused(&first, "--book was 300 openings");
    fs::copy(source.join("../books/openings.epd"), book).unwrap();
    fs::copy(source.join("../../models/linear.safetensors"), net).unwrap();
    refused(&first, "the net of engine 1 was of SHA-256");
    assert_eq!(fs::read(pgn).unwrap(), before);
    // Neither --concurrency nor --games makes another match.
    fs::copy(source.join("../../models/default.safetensors"), net).unwrap();
    result(&[&with(5, "4")[..], &["--concurrency", "2"]].concat());
}

/// Programs and nets are identified by their contents, not by their names.
#[test]
fn a_replaced_program_is_another_engine() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let [pgn, program, net] = ["games.pgn", "engine", "net.safetensors"].map(path);
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let load = |name: &str| fs::copy(models.join(name), &net).unwrap();
    fs::copy(engine(), &program).unwrap();
    load("default.safetensors");
    let spec = format!("cmd={program} option.EvalFile={net}");
    let play_on = |games: &str, spec: &str| {
        let engines = ["--engine", spec, "--engine", "material", "--depth", "1"];
        play(&[&engines[..], &["--games", games, "--pgn", &pgn, "--resume"]].concat())
    };
    let refused = |spec: &str, words: &str| {
        let output = play_on("4", spec);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(5), "{message}");
        assert!(message.contains(words), "{words}: {message}");
    };
    assert_eq!(play_on("2", &spec).status.code(), Some(0));
    let before = fs::read(&pgn).unwrap();
    load("linear.safetensors");
    refused(&spec, "the option EvalFile of engine 1 was of SHA-256");
    load("default.safetensors");
    let mut bytes = fs::read(&program).unwrap();
    bytes.extend(b"another build");
    fs::write(&program, &bytes).unwrap();
    refused(&spec, "the program of engine 1 was of SHA-256");
    assert_eq!(fs::read(&pgn).unwrap(), before);
    fs::copy(engine(), &program).unwrap();
    assert_eq!(play_on("4", &spec).status.code(), Some(0));
    assert_eq!(games(Path::new(&pgn)).len(), 4);
}

/// Only --force replaces games, and only once there is a new pair.
#[test]
fn replaces_games_only_by_force() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (pgn, record) = (path("games.pgn"), path("games.pgn.jsonl"));
    let force = |engine: &str, rest: &[&str]| {
        let engines = ["--engine", engine, "--engine", "material", "--depth", "1"];
        let games = ["--games", "2", "--force", "--pgn", pgn.to_str().unwrap()];
        play(&[&engines[..], &games, rest].concat()).status.code()
    };
    let mine = "[Event \"mine\"]\n\n1. e4 *\n";
    fs::write(&pgn, mine).unwrap();
    fs::write(&record, "not a record").unwrap();
    assert_eq!(force("cmd=true", &[]), Some(1));
    assert_eq!(force("none.safetensors", &[]), Some(3));
    assert_eq!(force("material", &["--syzygy", "nowhere"]), Some(3));
    assert_eq!(force("material", &["--resume"]), Some(2));
    assert_eq!(force("material", &["--append"]), Some(2));
    assert_eq!(fs::read_to_string(&pgn).unwrap(), mine);
    assert_eq!(fs::read_to_string(&record).unwrap(), "not a record");
    for _ in 0..2 {
        assert_eq!(force("material", &[]), Some(0));
        assert_eq!(games(&pgn).len(), 2);
        assert!(!fs::read_to_string(&pgn).unwrap().contains("mine"));
    }
}

/// An engine that does not start again: its first start only identifies it.
#[cfg(unix)]
#[test]
fn force_keeps_the_games_of_a_match_that_does_not_begin() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (pgn, record, script) = (path("games.pgn"), path("games.pgn.jsonl"), path("once.sh"));
    let once = format!("mkdir \"$0.started\" 2>/dev/null && exec '{}'\n", engine());
    fs::write(&script, once).unwrap();
    let spec = format!("cmd='sh {}'", script.display());
    let engines = ["--engine", &spec, "--engine", "material", "--depth", "1"];
    let games = ["--games", "2", "--force", "--pgn", pgn.to_str().unwrap()];
    let arguments = [&engines[..], &games].concat();
    let mine = ["[Event \"mine\"]\n\n1. e4 *\n", "not a record"];
    for has_record in [false, true] {
        fs::write(&pgn, mine[0]).unwrap();
        if has_record {
            fs::write(&record, mine[1]).unwrap();
        }
        let output = play(&arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert_eq!(fs::read_to_string(&pgn).unwrap(), mine[0]);
        assert_eq!(record.exists(), has_record);
        fs::remove_dir(path("once.sh.started")).unwrap();
    }
    assert_eq!(fs::read_to_string(&record).unwrap(), mine[1]);
    // Without an earlier match nothing is left.
    fs::remove_file(&pgn).unwrap();
    fs::remove_file(&record).unwrap();
    assert_eq!(play(&arguments).status.code(), Some(1));
    assert!(!pgn.exists() && !record.exists());
}

#[test]
fn two_matches_do_not_write_to_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = folder.path().join("games.pgn");
    let pgn = pgn.to_str().unwrap();
    let engines = [
        "--engine", "material", "--engine", "material", "--depth", "1",
    ];
    let arguments = [
        &engines[..],
        &["--games", "1000000", "--resume", "--pgn", pgn],
    ]
    .concat();
    let mut running = start(&arguments);
    wait_for(&mut running, pgn, 1);
    let output = play(&arguments);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{message}");
    assert!(message.contains("in use"), "{message}");
    running.kill().unwrap();
    running.wait().unwrap();
}

/// A match without games leaves no file that blocks the next one.
#[test]
fn a_match_that_did_not_begin_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = folder.path().join("games.pgn");
    let arguments = [
        "--engine",
        "cmd=true",
        "--engine",
        "material",
        "--games",
        "2",
        "--depth",
        "1",
        "--pgn",
        pgn.to_str().unwrap(),
    ];
    assert_eq!(play(&arguments).status.code(), Some(1));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn games_can_go_to_a_pipe_or_a_device() {
    let engines = ["--engine", "material", "--engine", "material"];
    let rest = ["--games", "2", "--depth", "1", "--pgn"];
    let mut to_pipe = command(&[&engines[..], &rest, &["/dev/stderr"]].concat());
    let output = to_pipe.output().unwrap();
    let written = String::from_utf8_lossy(&output.stderr);
    assert_eq!(written.matches("[Result ").count(), 2, "{written}");
    let nowhere = [&engines[..], &rest, &["/dev/null"]].concat();
    result(&nowhere);
    let output = play(&[&nowhere[..], &["--resume"]].concat());
    assert_eq!(output.status.code(), Some(5));
}

/// Runs the command with files limited to this many KiB.
fn with_little_room(kibibytes: u32, arguments: &[&str]) -> Output {
    let mut limited = test_support::limited(&command(arguments), kibibytes);
    limited.output().unwrap()
}

/// Half of the first pair does not block the next match.
#[test]
fn a_full_disk_leaves_no_torn_pair_alone() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = folder.path().join("games.pgn");
    fs::write(&pgn, "").unwrap();
    let arguments = [&ENGINES[..], &["--pgn", pgn.to_str().unwrap()]].concat();
    let limited = with_little_room(1, &arguments);
    let message = String::from_utf8_lossy(&limited.stderr);
    assert_eq!(limited.status.code(), Some(7), "{message}");
    assert!(message.contains("games.pgn\""), "{message}");
    assert_eq!(fs::read_to_string(&pgn).unwrap(), "");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// A write that fails half-way, as on a full disk.
#[test]
fn a_full_disk_keeps_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (whole, cut) = (path("whole.pgn"), path("cut.pgn"));
    let expected = result(&[&ENGINES[..], &["--pgn", whole.to_str().unwrap()]].concat());
    let arguments = [&ENGINES[..], &["--resume", "--pgn", cut.to_str().unwrap()]].concat();
    let limited = with_little_room(20, &arguments);
    let message = String::from_utf8_lossy(&limited.stderr);
    assert_eq!(limited.status.code(), Some(7), "{message}");
    assert!(
        message.contains("cannot write") && message.contains("cut.pgn"),
        "{message}"
    );
    let so_far: Value = serde_json::from_slice(&limited.stdout).unwrap();
    let played = so_far["games"].as_u64().unwrap();
    assert!((2..24).contains(&played), "{so_far}");
    let resumed = play(&arguments);
    let message = String::from_utf8_lossy(&resumed.stderr);
    assert!(
        message.contains(&format!("going on after {played} games")),
        "{message}"
    );
    let resumed: Value = serde_json::from_slice(&resumed.stdout).unwrap();
    assert_eq!(timeless(resumed), timeless(expected));
    assert_eq!(games(&cut), games(&whole));
}
