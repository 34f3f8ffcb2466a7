//! Outputs that are resumed, extended, replaced or refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use super::{command, refusal, statistics};

const NET: [&str; 4] = ["--engine", "material", "--nodes", "20"];

fn beside(out: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", out.display()))
}

fn record(out: &Path) -> Value {
    serde_json::from_slice(&fs::read(beside(out, ".json")).unwrap()).unwrap()
}

fn size(out: &Path) -> u64 {
    fs::metadata(beside(out, ".part")).map_or(0, |part| part.len())
}

/// Asserts that two outputs have the same bytes, and equal records.
#[track_caller]
fn assert_equal(out: &Path, expected: &Path) {
    assert!(
        fs::read(out).unwrap() == fs::read(expected).unwrap(),
        "{}",
        out.display()
    );
    assert_eq!(record(out), record(expected));
}

/// Returns a pseudo-random number, for kills at varying times.
fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    *seed >> 33
}

/// A run killed at any time, with any number of threads and a torn end, resumes to the bytes of an
/// uninterrupted run.
#[test]
fn a_killed_run_resumes_to_the_same_file() {
    let mut seed = 1;
    for (name, amount) in [
        ("games.pgn.zst", ["--games", "230"]),
        ("games.pgn", ["--positions", "20000"]),
        ("games.viri", ["--games", "200"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let [whole, out] = ["whole", "cut"].map(|cut| folder.path().join(cut).join(name));
        for path in [&whole, &out] {
            fs::create_dir(path.parent().unwrap()).unwrap();
        }
        let arguments = [&NET[..], &amount].concat();
        let with = |concurrency| [&arguments[..], &["--concurrency", concurrency]].concat();
        let mut expected = statistics(&with("1"), &whole);
        let (mut kills, mut resumed) = (0, 0);
        for concurrency in ["3", "2", "1", "5"].into_iter().cycle() {
            if kills > 2 && resumed > 1 {
                break;
            }
            if out.exists() {
                // The run finished before its kill: start a new one.
                fs::remove_file(&out).unwrap();
                fs::remove_file(beside(&out, ".json")).unwrap();
            }
            let mut run = start(&with(concurrency), &out, &out, size(&out));
            sleep(Duration::from_millis(random(&mut seed) % 20));
            run.kill().unwrap();
            let said = run.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&said.stderr);
            resumed += u32::from(said.contains("going on after"));
            kills += u32::from(!out.exists());
            if beside(&out, ".part").exists() {
                // A kill in the middle of a write.
                let mut torn = fs::read(beside(&out, ".part")).unwrap();
                torn.extend(b"[Event \"Kib\0\0");
                fs::write(beside(&out, ".part"), torn).unwrap();
            }
        }
        let mut found = statistics(&with("2"), &out);
        assert_equal(&out, &whole);
        for statistics in [&mut expected, &mut found] {
            statistics["run"] = Value::Null;
            statistics["out"] = Value::Null;
        }
        assert_eq!(found, expected);
        // A finished output is reported as such.
        let again = command(&with("2"), &out).output().unwrap();
        assert!(String::from_utf8_lossy(&again.stderr).contains("finished before"));
        let mut again: Value = serde_json::from_slice(&again.stdout).unwrap();
        again["out"] = Value::Null;
        assert_eq!(again, expected);
        assert_eq!(fs::read_dir(out.parent().unwrap()).unwrap().count(), 2);
    }
}

/// Starts a run, and returns it once the file `written` has more than `bytes`.
fn start(arguments: &[&str], out: &Path, written: &Path, bytes: u64) -> Child {
    let mut command = command(arguments, out);
    let run = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut run = run.spawn().unwrap();
    while size(written) <= bytes && run.try_wait().unwrap().is_none() {
        sleep(Duration::from_millis(1));
    }
    run
}

/// Interrupts a run, and returns what it printed.
fn interrupt(run: Child) -> Output {
    test_support::send_signal("INT", &run);
    run.wait_with_output().unwrap()
}

/// After a signal the output is complete with the games so far, and the same command continues to
/// the same bytes.
#[test]
fn an_interrupted_run_leaves_a_complete_file_and_resumes() {
    for name in ["games.pgn", "games.pgn.zst", "games.viri"] {
        let folder = tempfile::tempdir().unwrap();
        let [whole, out] = ["whole", "cut"].map(|cut| folder.path().join(cut).join(name));
        for path in [&whole, &out] {
            fs::create_dir(path.parent().unwrap()).unwrap();
        }
        let endless = [&NET[..], &["--games", "1000000"]].concat();
        let (mut games, mut bytes) = (0, 0);
        for _ in 0..2 {
            let said = interrupt(start(&endless, &out, &out, bytes));
            assert_eq!(said.status.code(), Some(130));
            assert!(String::from_utf8_lossy(&said.stderr).contains("the same command goes on"));
            let statistics: Value = serde_json::from_slice(&said.stdout).unwrap();
            assert_eq!(statistics["finished"], false);
            let before = games;
            games = statistics["games"].as_u64().unwrap();
            assert!(games > before && games.is_multiple_of(32), "{games}");
            bytes = fs::metadata(&out).unwrap().len();
            assert_eq!(statistics["bytes"], bytes);
            assert!(!beside(&out, ".part").exists());
            if name == "games.pgn" {
                let text = fs::read_to_string(&out).unwrap();
                assert_eq!(text.matches("[Event ").count() as u64, games);
            }
        }
        // Fewer games than written would have to be cut off.
        let fewer = [&NET[..], &["--games", "1"]].concat();
        let (code, message) = refusal(&fewer, &out);
        assert_eq!(code, Some(5), "{message}");
        assert!(message.contains("games 1000000, now 1"), "{message}");
        let more = (games + 5).to_string();
        let more = [&NET[..], &["--games", &more]].concat();
        assert_eq!(statistics(&more, &out)["finished"], true);
        statistics(&more, &whole);
        assert_equal(&out, &whole);
    }
}

/// An output that grows step by step has the games of one generated at once.
#[test]
fn an_output_grows_to_the_amount_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let grown = |out: &Path, amount: [&str; 2]| statistics(&[&NET[..], &amount].concat(), out);
    for name in ["games.pgn", "games.viri", "games.pgn.zst"] {
        let [out, whole] = [path(name), path(&format!("whole-{name}"))];
        assert_eq!(grown(&out, ["--games", "3"])["games"], 3);
        assert_eq!(grown(&out, ["--games", "4"])["run"]["games"], 1);
        let positions = grown(&out, ["--positions", "3000"]);
        assert!(positions["positions"].as_u64() >= Some(3000), "{positions}");
        let games = positions["games"].as_u64().unwrap() + 1;
        assert_eq!(
            grown(&out, ["--games", &games.to_string()])["run"]["games"],
            1
        );
        grown(&whole, ["--games", &games.to_string()]);
        let text = |path: &Path| match name.ends_with(".zst") {
            // Compressed frames end where the file grew.
            true => zstd::decode_all(fs::File::open(path).unwrap()).unwrap(),
            false => fs::read(path).unwrap(),
        };
        assert!(text(&out) == text(&whole), "{name}");
        let counts = |path: &Path| {
            let mut done = record(path)["done"].take();
            done["bytes"] = Value::Null;
            done["sha256"] = Value::Null;
            done
        };
        assert_eq!(counts(&out), counts(&whole));
        // A changed output does not grow, and keeps its name.
        let mut changed = fs::read(&out).unwrap();
        changed[100] ^= 1;
        fs::write(&out, &changed).unwrap();
        let (code, message) = refusal(&[&NET[..], &["--games", "999"]].concat(), &out);
        assert_eq!(code, Some(5), "{message}");
        assert!(message.contains("not those that were written"), "{message}");
        assert_eq!(fs::read(&out).unwrap(), changed);
    }
    // Killed after the rename, before the record was written.
    let out = path("killed.pgn");
    grown(&out, ["--games", "3"]);
    fs::rename(&out, beside(&out, ".part")).unwrap();
    assert_eq!(grown(&out, ["--games", "4"])["run"]["games"], 1);
    // A removed output starts anew.
    fs::remove_file(&out).unwrap();
    assert_eq!(grown(&out, ["--games", "5"])["run"]["games"], 5);
}

#[test]
fn replaces_an_output_only_by_force() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let games = |more: &[&'static str]| [&NET[..], &["--games", "2"], more].concat();
    let [out, expected] = [path("games.pgn"), path("expected.pgn")];
    statistics(&games(&[]), &expected);
    fs::write(&out, "mine").unwrap();
    let (code, message) = refusal(&games(&["--force", "--syzygy", "nowhere"]), &out);
    assert_eq!(
        (code, fs::read(&out).unwrap()),
        (Some(3), b"mine".to_vec()),
        "{message}"
    );
    statistics(&games(&["--force"]), &out);
    assert_eq!(fs::read(&out).unwrap(), fs::read(&expected).unwrap());
    // Outputs of other settings, unfinished and complete.
    statistics(&games(&["--seed", "2", "--force"]), &out);
    fs::rename(&out, beside(&out, ".part")).unwrap();
    statistics(&games(&["--force"]), &out);
    assert_eq!(fs::read(&out).unwrap(), fs::read(&expected).unwrap());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
}

/// An interrupted replacement leaves the earlier output, and goes on beside it.
#[test]
fn keeps_the_earlier_output_until_the_new_one_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let [out, expected] = [path("games.pgn"), path("expected.pgn")];
    let new = beside(&out, ".new");
    let earlier = [&NET[..], &["--games", "3"]].concat();
    statistics(&earlier, &out);
    let before = (fs::read(&out).unwrap(), record(&out));
    let is_unchanged = || (fs::read(&out).unwrap(), record(&out)) == before;
    let more = |games: &'static str| [&NET[..], &["--seed", "2", "--games", games]].concat();
    let endless = more("1000000");
    let forced = [&endless[..], &["--force"]].concat();

    // A run without any game.
    let engine = ["--engine", UNEVEN, "--nodes", "1", "--hard-nodes", "1"];
    let openings = ["--opening-limit", "0", "--random-plies", "1"];
    let none = [&engine[..], &openings, &["--games", "2", "--force"]].concat();
    let (code, message) = refusal(&none, &out);
    assert_eq!(code, Some(1), "{message}");
    assert!(is_unchanged());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);

    let mut run = start(&forced, &out, &new, 0);
    for arguments in [&earlier, &endless, &forced] {
        let (code, message) = refusal(arguments, &out);
        assert_eq!(code, Some(5), "{message}");
        assert!(message.contains("in use"), "{message}");
    }
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(is_unchanged());
    assert_eq!(statistics(&earlier, &out)["run"], Value::Null);

    let said = interrupt(start(&endless, &out, &new, size(&new)));
    assert_eq!(said.status.code(), Some(130));
    let message = String::from_utf8_lossy(&said.stderr);
    let words = "games.pgn is unchanged; the same command goes on";
    assert!(message.contains(words), "{message}");
    let found: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert!(found["out"].as_str().unwrap().ends_with("games.pgn.new"));
    assert!(is_unchanged());

    // With --force it begins anew.
    let two = more("2");
    statistics(&two, &expected);
    statistics(&[&two[..], &["--force"]].concat(), &out);
    assert_equal(&out, &expected);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
}

/// A resumed replacement equals an output generated at once, also with another number of games.
#[test]
fn an_interrupted_replacement_resumes() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let [out, expected] = [path("games.viri"), path("expected.viri")];
    let new = beside(&out, ".new");
    fs::write(&out, "mine").unwrap();
    let endless = [&NET[..], &["--games", "1000000"]].concat();
    let forced = [&endless[..], &["--force"]].concat();
    let said = interrupt(start(&forced, &out, &new, 0));
    let message = String::from_utf8_lossy(&said.stderr);
    assert!(message.contains("without --force goes on"), "{message}");
    assert_eq!(fs::read_to_string(&out).unwrap(), "mine");
    let games = record(&new)["done"]["games"].as_u64().unwrap();
    assert!(games > 0, "{message}");
    let more = (games + 5).to_string();
    let more = [&NET[..], &["--games", &more]].concat();
    statistics(&more, &out);
    statistics(&more, &expected);
    assert_equal(&out, &expected);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
}

/// A kill before, between or after the renames at the end of a replacement.
#[test]
fn a_killed_replacement_is_completed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let [out, other] = [path("games.pgn"), path("other.pgn")];
    let new = beside(&out, ".new");
    let with = |seed: &'static str| [&NET[..], &["--games", "3", "--seed", seed]].concat();
    statistics(&with("2"), &other);
    let [games, json] = [other.clone(), beside(&other, ".json")];
    for renamed in 0..3 {
        statistics(&[&with("1")[..], &["--force"]].concat(), &out);
        fs::write(beside(&out, ".part"), "an earlier unfinished output").unwrap();
        fs::copy(&games, if renamed > 0 { &out } else { &new }).unwrap();
        let place = if renamed > 1 { &out } else { &new };
        fs::copy(&json, beside(place, ".json")).unwrap();
        assert_eq!(
            statistics(&with("2"), &out)["run"],
            Value::Null,
            "{renamed}"
        );
        assert_equal(&out, &other);
        assert!(
            !new.exists() && !beside(&new, ".json").exists(),
            "{renamed}"
        );
    }
}

/// The game that reaches the number is the last.
#[test]
fn positions_end_an_output_with_the_game_that_reaches_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let of = |amount: &[&str], name: &str| {
        let statistics = statistics(&[&NET[..], amount].concat(), &path(name));
        let text = fs::read_to_string(path(name)).unwrap();
        (statistics["positions"].as_u64().unwrap(), text)
    };
    let (_, games) = of(&["--games", "20"], "games.pgn");
    let (exact, _) = of(&["--games", "10"], "exact.pgn");
    for (wanted, last) in [(exact, 10), (exact + 1, 11)] {
        let wanted = wanted.to_string();
        let (positions, text) = of(&["--positions", &wanted], &format!("{wanted}.pgn"));
        assert!(games.starts_with(&text));
        assert_eq!(text.matches("[Event ").count(), last);
        assert!(positions >= wanted.parse().unwrap());
    }
}

#[test]
fn other_settings_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let out = path("games.pgn");
    let first = ["--engine", "material", "--nodes", "50", "--games", "3"];
    statistics(&first, &out);
    let before = fs::read(&out).unwrap();
    let refused = |arguments: &[&str], words: &str| {
        let (code, message) = refusal(arguments, &out);
        assert_eq!(code, Some(5), "{message}");
        assert!(message.contains(words), "{words}: {message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    };
    let with = |place: usize, value| {
        let mut arguments = first;
        arguments[place] = value;
        arguments
    };
    refused(&with(1, "embedded"), "net \"material\", now \"embedded\"");
    refused(&with(1, "material hash=1"), "hash_mib 4, now 1");
    refused(&with(3, "60"), "nodes 50, now 60");
    refused(&with(5, "2"), "games 3, now 2");
    for (more, words) in [
        (&["--seed", "2"][..], "seed 1, now 2"),
        (&["--chess960"], "chess960 false, now true"),
        (&["--random-plies", "9"], "random_plies 8, now 9"),
        (&["--opening-limit", "9"], "opening_limit 400, now 9"),
        (&["--hard-nodes", "99"], "hard_nodes 1000, now 99"),
        (
            &["--resign", "none"],
            "resign \"moves=4,score=1200\", now null",
        ),
        (
            &["--draw", "moves=1,score=1,from=1"],
            "from=40\", now \"moves",
        ),
    ] {
        refused(&[&first[..], more].concat(), words);
    }
    // A net of the same name with other contents.
    let net = path("net.safetensors");
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let name = net.to_str().unwrap();
    let arguments = with(1, name);
    let other = path("other.pgn");
    fs::copy(models.join("default.safetensors"), &net).unwrap();
    statistics(&arguments, &other);
    fs::copy(models.join("linear.safetensors"), &net).unwrap();
    let (code, message) = refusal(&arguments, &other);
    assert_eq!(code, Some(5));
    assert!(message.contains("net_sha256"), "{message}");
    // The concurrency is not a setting.
    statistics(&[&first[..], &["--concurrency", "3"]].concat(), &out);
    assert_eq!(fs::read(&out).unwrap(), before);
}

#[test]
fn keeps_foreign_changed_and_busy_outputs() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let arguments = ["--engine", "material", "--nodes", "50", "--games", "3"];
    let mine = path("mine.pgn");
    fs::write(&mine, "mine").unwrap();
    let (code, message) = refusal(&arguments, &mine);
    assert_eq!(code, Some(5), "{message}");
    assert!(message.contains("exists already"), "{message}");
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
    // An output that was changed.
    let out = path("games.pgn");
    statistics(&arguments, &out);
    let mut changed = fs::read(&out).unwrap();
    changed[100] ^= 1;
    fs::remove_file(&out).unwrap();
    fs::write(beside(&out, ".part"), changed).unwrap();
    let (code, message) = refusal(&arguments, &out);
    assert_eq!(code, Some(5), "{message}");
    assert!(message.contains("not those that were written"), "{message}");
    // An output that another process writes.
    let out = path("busy.pgn");
    let long = [
        "--engine", "material", "--nodes", "50", "--games", "1000000",
    ];
    let mut running = command(&long, &out);
    let running = running.stdout(Stdio::null()).stderr(Stdio::null());
    let mut running = running.spawn().unwrap();
    while size(&out) == 0 {
        sleep(Duration::from_millis(1));
    }
    let more = [&long[..5], &["2000000"]].concat();
    let force = [&long[..], &["--force"]].concat();
    let refusals = [&long[..], &more, &force].map(|arguments| refusal(arguments, &out));
    running.kill().unwrap();
    running.wait().unwrap();
    for (code, message) in refusals {
        assert_eq!(code, Some(5), "{message}");
        assert!(message.contains("in use"), "{message}");
    }
}

/// A fixed net that gives no position after one ply a score of exactly 0.
const UNEVEN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../models/games1191.safetensors"
);

/// A command without games leaves no files.
#[test]
fn wrong_usage_and_missing_files_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("games.pgn");
    let games = ["--games", "2"];
    for (engine, more, code, words) in [
        ("cmd=true", &[][..], 2, "only nets in this process"),
        ("material depth=2", &[], 2, "--nodes limits a search"),
        ("material threads=2", &[], 2, "one thread"),
        ("material", &["--resign", "moves=1"], 2, "give all of"),
        ("material", &["--positions", "9"], 2, "cannot be used with"),
        ("no.safetensors", &[], 3, "no.safetensors"),
        ("material", &["--syzygy", "nowhere"], 3, "nowhere"),
        (
            UNEVEN,
            &[
                "--opening-limit",
                "0",
                "--random-plies",
                "1",
                "--nodes",
                "1",
                "--hard-nodes",
                "1",
            ],
            1,
            "--opening-limit",
        ),
    ] {
        let arguments = [&["--engine", engine][..], &games, more].concat();
        let (found, message) = refusal(&arguments, &out);
        assert_eq!(found, Some(code), "{message}");
        assert!(message.contains(words), "{words}: {message}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{engine}");
    }
    let (code, message) = refusal(&["--engine", "material", "--games", "2"], folder.path());
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains(".pgn.zst"), "{message}");
}
