//! `engine ladder`: games between all, ratings, the picture.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

fn ladder(engines: &[&str], rest: &[&str]) -> Output {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("books/openings.epd");
    Command::new(env!("CARGO_BIN_EXE_engine"))
        .arg("ladder")
        .args(engines)
        .args(["--games", "4", "--concurrency", "2", "--json", "--book"])
        .arg(book)
        .args(rest)
        .output()
        .unwrap()
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
        assert_eq!(row["elo_error"].is_null(), anchored, "{ladder}");
    }
    assert!(ratings.iter().all(|row| row["games"] == 8));
    let encounters = ladder["encounters"].as_array().unwrap();
    assert_eq!(encounters.len(), 3);
    let twins = &encounters[0];
    assert_eq!(twins["engines"], json!(["material", "twin"]));
    assert_eq!(twins["pairs"], json!([0, 0, 2, 0, 0]));
    let svg = fs::read_to_string(&plot).unwrap();
    assert_eq!(svg.matches("class=\"rating\"").count(), 3, "{svg}");
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
fn what_cannot_be_played_is_one_line_and_an_exit_code() {
    let cases: [(&[&str], i32, &str); 4] = [
        (&["material"], 1, "two engines"),
        (
            &["material", "/no/such.safetensors"],
            3,
            "/no/such.safetensors",
        ),
        (&["material", "books/README.md"], 6, "refused"),
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
