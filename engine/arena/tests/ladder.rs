//! `arena ladder`: pairings, ratings, the plot, resuming.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use std::{fs, thread};

use serde_json::{Value, json};

fn command(engines: &[&str], rest: &[&str]) -> Command {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../books/openings.epd");
    let mut command = Command::new(env!("CARGO_BIN_EXE_arena"));
    command.arg("ladder").args(engines);
    if !engines.contains(&"--games") {
        command.args(["--games", "4"]);
    }
    command.args(["--concurrency", "2", "--json", "--book"]);
    command.arg(book).args(rest);
    command
}

fn ladder(engines: &[&str], rest: &[&str]) -> Output {
    command(engines, rest).output().unwrap()
}

#[test]
fn equal_engines_are_rated_equal_and_a_deeper_search_higher() {
    let folder = tempfile::tempdir().unwrap();
    let plot = folder.path().join("ladder.svg");
    let engines = [
        "material depth=1",
        "material name=twin depth=1",
        "material name=deep depth=4",
    ];
    let output = ladder(&engines, &["--plot", plot.to_str().unwrap()]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    let ladder: Value = serde_json::from_slice(&output.stdout).unwrap();
    let ratings = ladder["ratings"].as_array().unwrap();
    assert_eq!(ratings[0]["name"], "deep", "{ladder}");
    assert!(ratings[0]["elo"].as_f64().unwrap() > 100.0, "{ladder}");
    for row in &ratings[1..] {
        assert!(row["elo"].as_f64().unwrap().abs() < 1e-6, "{ladder}");
        let anchored = row["name"] == "material";
        assert_eq!(row["elo_interval"].is_null(), anchored, "{ladder}");
    }
    assert!(ratings.iter().all(|row| row["games"] == 8));
    let encounters = ladder["encounters"].as_array().unwrap();
    assert_eq!(encounters.len(), 3);
    let twins = &encounters[0];
    assert_eq!(twins["engines"], json!(["material", "twin"]));
    assert_eq!(twins["pairs"], json!([0, 0, 2, 0, 0]));
    let svg = fs::read_to_string(&plot).unwrap();
    assert_eq!(svg.matches("<circle").count(), 3, "{svg}");
    assert!(
        svg.contains(">twin</text>") || svg.contains("\ntwin\n"),
        "{svg}"
    );
}

#[test]
fn in_a_gauntlet_only_the_first_meets_the_others() {
    let engines = ["material", "material name=a", "material name=b"];
    let output = ladder(&engines, &["--depth", "1", "--gauntlet"]);
    let ladder: Value = serde_json::from_slice(&output.stdout).unwrap();
    let encounters = ladder["encounters"].as_array().unwrap().iter();
    let met: Vec<_> = encounters.map(|row| &row["engines"]).collect();
    assert_eq!(
        met,
        [&json!(["material", "a"]), &json!(["material", "b"])],
        "{ladder}"
    );
    let ratings = ladder["ratings"].as_array().unwrap().iter();
    let mut games: Vec<_> = ratings.map(|row| row["games"].as_u64()).collect();
    games.sort_unstable();
    assert_eq!(games, [4, 4, 8].map(Some), "{ladder}");
}

#[test]
fn rejects_unplayable_ladders() {
    let cases: [(&[&str], i32, &str); 5] = [
        (&["material"], 2, "two engines"),
        (&["material", "material", "--games", "3"], 2, "even number"),
        (
            &["material", "/no/such.safetensors"],
            3,
            "/no/such.safetensors",
        ),
        (&["material", "../books/README.md"], 6, "refused"),
        (&[], 2, "NET"),
    ];
    for (engines, code, reason) in cases {
        let output = ladder(engines, &["--depth", "1"]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{engines:?}: {message}");
        assert!(message.contains(reason), "{engines:?}: {message}");
        assert!(code == 2 || message.lines().count() == 1, "{message}");
    }
}

#[test]
fn a_killed_ladder_resumes_to_the_same_ratings() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let engines = [
        "material nodes=100",
        "embedded nodes=400",
        "material name=b nodes=900",
        "--games",
        "20",
    ];
    let whole = ladder(&engines, &["--pgn", &path("whole.pgn")]);
    let whole: Value = serde_json::from_slice(&whole.stdout).unwrap();
    let games = path("games.pgn");
    let rest = ["--resume", "--pgn", &games];
    for pairs in [1, 9] {
        let mut running = command(&engines, &rest)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let record = format!("{games}.jsonl");
        let played = || fs::read_to_string(&record).map_or(0, |text| text.lines().count());
        while played() <= pairs && running.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        running.kill().unwrap();
        running.wait().unwrap();
    }
    let other = ladder(&engines, &[&rest[..], &["--gauntlet"]].concat());
    let message = String::from_utf8_lossy(&other.stderr);
    assert_eq!(other.status.code(), Some(5), "{message}");
    assert!(
        message.contains("--gauntlet was false, now true"),
        "{message}"
    );
    let resumed = ladder(&engines, &rest);
    let message = String::from_utf8_lossy(&resumed.stderr);
    assert!(message.contains("going on after"), "{message}");
    let resumed: Value = serde_json::from_slice(&resumed.stdout).unwrap();
    assert_eq!(resumed, whole);
    let text = fs::read_to_string(&games).unwrap();
    assert_eq!(text.matches("[Result ").count(), 60);
}

/// A missing folder is reported before the games, not after.
#[test]
fn rejects_an_unwritable_plot_before_the_games() {
    let engines = ["material", "material", "--games", "100000"];
    let output = ladder(&engines, &["--depth", "1", "--plot", "/none/ladder.svg"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{message}");
    assert!(message.contains("/none/ladder.svg"), "{message}");
}

/// The plot would replace the games once they are played.
#[test]
fn rejects_a_plot_in_place_of_the_games() {
    let folder = tempfile::tempdir().unwrap();
    let games = folder.path().join("games.pgn");
    let same = folder.path().join(".").join("games.pgn");
    let [games, same] = [&games, &same].map(|path| path.to_str().unwrap());
    let rest = ["--depth", "1", "--pgn", games, "--plot", same];
    let output = ladder(&["material", "material"], &rest);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("--plot"), "{message}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
