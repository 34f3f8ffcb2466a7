//! `arena tune`: options that matter and one that does not, and a run that is killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// More lines cost nodes; the size of the table matters little.
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
        command.arg("tune").arg("--engine");
        command.arg(format!("cmd='{}'", engine.display()));
        command.arg("--parameters").arg(self.path("p.spsa"));
        command.arg("--book").arg(book);
        command.arg("--out").arg(self.path(out));
        command.args(["--nodes", "400", "--json"]).args(rest);
        command
    }
}

fn json(output: &Output) -> Value {
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn finds_the_better_value_whatever_plays_at_a_time_and_whoever_is_killed() {
    let files = Files::new(PARAMETERS);
    let plot = files.path("run.svg");
    let rest = ["--games", "160", "--concurrency", "2"];
    let whole = files
        .tune("whole.json", &rest)
        .arg("--plot")
        .arg(&plot)
        .output();
    let whole = json(&whole.unwrap());
    assert_eq!(whole["games"], 160);
    let lines = &whole["parameters"][0];
    assert_eq!(
        (&lines["name"], &lines["start"]),
        (&"MultiPV".into(), &6.into())
    );
    assert!(lines["value"].as_f64() < Some(4.5), "{whole}");
    let svg = fs::read_to_string(plot).unwrap();
    for text in ["MultiPV", "Hash", "400 nodes a move; 160 games"] {
        assert!(svg.contains(&format!("\n{text}\n")), "{text}: {svg}");
    }

    // Killed once it has something to lose, twice; one game at a time.
    let record = files.path("cut.json");
    let mut before = 0;
    for _ in 0..2 {
        let rest = ["--games", "160", "--concurrency", "1", "--resume"];
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
        assert!(before < 80, "it was to be killed before its end");
    }
    let rest = ["--games", "160", "--concurrency", "3", "--resume"];
    assert_eq!(
        json(&files.tune("cut.json", &rest).output().unwrap()),
        whole
    );
    let records = ["whole.json", "cut.json"].map(|name| fs::read(files.path(name)).unwrap());
    assert_eq!(records[0], records[1]);
    // Nothing is left to do.
    assert_eq!(
        json(&files.tune("cut.json", &rest).output().unwrap()),
        whole
    );
}

#[test]
fn what_cannot_be_tuned_is_told() {
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
    }
    fs::remove_file(files.path("p.spsa")).unwrap();
    failed(&mut files.tune("new.json", &games), 3, "p.spsa");
    let mut net = files.tune("new.json", &games);
    net.args(["--engine", "material"]);
    failed(&mut net, 2, "--engine");
}
