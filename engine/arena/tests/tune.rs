//! `arena tune`: an option that matters and one that does not, resuming, refusals.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// MultiPV costs nodes; the size of the table matters little.
const PARAMETERS: &str = "MultiPV, int, 6, 1, 12, 4, 0.05\n\nHash, int, 4, 1, 8, 1, 0.002\n";

struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn new(parameters: &str) -> Files {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("p.spsa"), parameters).unwrap();
        Files { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn tune(&self, out: &str, rest: &[&str]) -> Command {
        let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../books/openings.epd");
        let engine = test_support::program_path("engine");
        let mut command = Command::new(env!("CARGO_BIN_EXE_arena"));
        command.arg("tune");
        if !rest.contains(&"--engine") {
            command.arg("--engine");
            command.arg(format!("cmd='{}'", engine.display()));
        }
        command.arg("--parameters").arg(self.path("p.spsa"));
        command.arg("--book").arg(book);
        command.arg("--out").arg(self.path(out));
        command.args(["--nodes", "200", "--json"]).args(rest);
        command
    }
}

fn json(output: &Output) -> Value {
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn finds_the_better_value_with_any_concurrency_and_after_kills() {
    let files = Files::new(PARAMETERS);
    let plot = files.path("run.svg");
    let rest = ["--games", "96", "--concurrency", "2"];
    let whole = files
        .tune("whole.json", &rest)
        .arg("--plot")
        .arg(&plot)
        .output();
    let whole = json(&whole.unwrap());
    assert_eq!(whole["games"], 96);
    let lines = &whole["parameters"][0];
    assert_eq!(
        (&lines["name"], &lines["start"]),
        (&"MultiPV".into(), &6.into())
    );
    assert!(lines["value"].as_f64() < Some(4.5), "{whole}");
    let svg = fs::read_to_string(plot).unwrap();
    for text in ["MultiPV", "Hash", "200 nodes a move; 96 games"] {
        assert!(svg.contains(&format!("\n{text}\n")), "{text}: {svg}");
    }

    // Kill twice once there are new results; one game at a time.
    let record = files.path("cut.json");
    let mut before = 0;
    for _ in 0..2 {
        let rest = ["--games", "96", "--concurrency", "1", "--resume"];
        let mut running = files.tune("cut.json", &rest);
        let mut running = running
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        let results = || -> usize {
            let bytes = fs::read(&record).unwrap_or_default();
            let json: Value = serde_json::from_slice(&bytes).unwrap_or_default();
            json["results"].as_array().map_or(0, Vec::len)
        };
        while results() == before {
            assert!(begun.elapsed() < Duration::from_secs(300));
            thread::sleep(Duration::from_millis(5));
        }
        running.kill().unwrap();
        running.wait().unwrap();
        before = results();
        assert!(before < 48, "it was to be killed before its end");
    }
    let rest = ["--games", "96", "--concurrency", "3", "--resume"];
    assert_eq!(
        json(&files.tune("cut.json", &rest).output().unwrap()),
        whole
    );
    let records = ["whole.json", "cut.json"].map(|name| fs::read(files.path(name)).unwrap());
    assert_eq!(records[0], records[1]);
    // A finished run prints the same result again.
    assert_eq!(
        json(&files.tune("cut.json", &rest).output().unwrap()),
        whole
    );
}

#[test]
fn rejects_untunable_parameters() {
    let files = Files::new(PARAMETERS);
    let failed = |command: &mut Command, code: i32, reason: &str| {
        let output = command.output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{message}");
        assert!(message.contains(reason), "{message}");
    };
    let games = ["--games", "2"];
    json(&files.tune("out.json", &games).output().unwrap());
    failed(&mut files.tune("out.json", &games), 5, "--resume");
    let more = ["--games", "4", "--resume"];
    failed(
        &mut files.tune("out.json", &more),
        5,
        "--games was 2, now 4",
    );
    let other = ["--games", "2", "--resume", "--seed", "2"];
    failed(
        &mut files.tune("out.json", &other),
        5,
        "--seed was 1, now 2",
    );
    fs::write(files.path("other.json"), "{}").unwrap();
    let resume = ["--games", "2", "--resume"];
    failed(&mut files.tune("other.json", &resume), 5, "no record");
    failed(&mut files.tune("none/x.json", &games), 7, "none/x.json");
    for (parameters, code, reason) in [
        ("Taste, int, 1, 0, 2, 1, 0.002", 1, "no option"),
        // A bound that the engine refuses: far from the start value, but tuning may reach it.
        ("Hash, int, 4, -1, 8, 1, 0.002", 1, "does not take \"-1\""),
        ("MultiPV, int, 1, 0, 2", 4, "line 1"),
        ("\n", 4, "there is none"),
        (
            "Hash, int, 4, 1, 8, 1, 0.002\nHash, int, 4, 1, 8, 1, 0.002",
            4,
            "twice",
        ),
    ] {
        fs::write(files.path("p.spsa"), parameters).unwrap();
        failed(&mut files.tune("new.json", &games), code, reason);
        assert!(!files.path("new.json").exists(), "{parameters}");
    }
    fs::remove_file(files.path("p.spsa")).unwrap();
    failed(&mut files.tune("new.json", &games), 3, "p.spsa");
    let net = ["--games", "2", "--engine", "material"];
    failed(&mut files.tune("new.json", &net), 2, "options of a program");
}

/// A failed command leaves no file that blocks the corrected one.
#[test]
fn a_failed_start_does_not_block_the_next() {
    let files = Files::new(PARAMETERS);
    let code = |command: &mut Command| command.output().unwrap().status.code();
    let games = ["--games", "2"];
    let mut without_tables = files.tune("out.json", &games);
    assert_eq!(code(without_tables.args(["--syzygy", "nowhere"])), Some(3));
    let no_engine = ["--games", "2", "--engine", "cmd=true"];
    assert_eq!(code(&mut files.tune("out.json", &no_engine)), Some(1));
    assert!(!files.path("out.json").exists());
    // A record as left by a kill before the first games.
    let record = r#"{"format": 1, "settings": {"--games": "9"}, "results": []}"#;
    fs::write(files.path("out.json"), record).unwrap();
    json(&files.tune("out.json", &games).output().unwrap());
}

/// An engine that does not start for the games: its first two starts only identify and check it.
#[cfg(unix)]
#[test]
fn force_keeps_the_record_of_a_run_that_does_not_begin() {
    let files = Files::new(PARAMETERS);
    let (record, script) = (files.path("out.json"), files.path("twice.sh"));
    let engine = test_support::program_path("engine");
    let twice = "for start in 1 2; do mkdir \"$0.$start\" 2>/dev/null && exec";
    fs::write(&script, format!("{twice} '{}'; done\n", engine.display())).unwrap();
    let spec = format!("cmd='sh {}'", script.display());
    fs::write(&record, "mine").unwrap();
    let tune = ["--games", "2", "--force", "--engine", &spec];
    let output = files.tune("out.json", &tune).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(files.path("twice.sh.2").exists(), "{message}");
    assert_eq!(fs::read_to_string(&record).unwrap(), "mine");
}

#[test]
fn replaces_a_record_only_by_force_and_resumes_only_the_same_engine() {
    let files = Files::new(PARAMETERS);
    let games = ["--games", "2"];
    let record = files.path("out.json");
    fs::write(&record, "mine").unwrap();
    let tune = |rest: &[&str]| files.tune("out.json", &[&games[..], rest].concat());
    let code = |command: &mut Command| command.output().unwrap().status.code();
    assert_eq!(code(&mut tune(&[])), Some(5));
    assert_eq!(
        code(&mut tune(&["--force", "--engine", "cmd=true"])),
        Some(1)
    );
    let plot = record.to_str().unwrap();
    assert_eq!(code(&mut tune(&["--force", "--plot", plot])), Some(5));
    assert_eq!(fs::read_to_string(&record).unwrap(), "mine");
    assert_eq!(code(&mut tune(&["--force", "--resume"])), Some(2));
    let program = files.path("engine");
    fs::copy(test_support::program_path("engine"), &program).unwrap();
    let spec = format!("cmd='{}'", program.display());
    json(&tune(&["--force", "--engine", &spec]).output().unwrap());
    let resumed = || tune(&["--resume", "--engine", &spec]).output().unwrap();
    json(&resumed());
    let mut bytes = fs::read(&program).unwrap();
    bytes.extend(b"another build");
    fs::write(&program, bytes).unwrap();
    let refused = resumed();
    let message = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(5), "{message}");
    assert!(message.contains("the program of engine 1 was"), "{message}");
}
