//! Probing with tables loaded file by file, as the page does.

use std::fs;

use tables::{Answer, Tables};

/// Returns the answer to a probe as JSON and the files it requested; `None` without tables.
fn ask(fen: &str) -> Option<(String, Vec<String>)> {
    let folder = test_support::shared("syzygy34")?;
    let names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let tables = Tables::new(names.iter().map(String::as_str));
    let mut wanted = Vec::new();
    loop {
        match tables.ask(fen) {
            Answer::Wants(name) => {
                assert!(!wanted.contains(&name), "{name} is wanted again");
                tables.bring(&name, fs::read(folder.join(&name)).unwrap());
                wanted.push(name);
            }
            answer => return Some((serde_json::to_string(&answer).unwrap(), wanted)),
        }
    }
}

#[test]
fn reports_results_and_moves() {
    for (fen, expected) in [
        (
            "k7/8/1K6/8/8/8/8/7R w - - 0 1",
            r#"{"known":{"result":"win","plies":1,"best":"h1h8"}}"#,
        ),
        (
            "k7/8/1K6/8/8/8/8/7R b - - 0 1",
            r#"{"known":{"result":"loss","plies":2,"best":"a8b8"}}"#,
        ),
        (
            "8/4P3/6k1/8/8/8/8/4K3 w - - 0 1",
            r#"{"known":{"result":"win","plies":1,"best":"e7e8q"}}"#,
        ),
        // Five men, which these tables lack; and an invalid FEN.
        ("4k3/8/8/8/8/8/8/KQRB4 w - - 0 1", r#""unknown""#),
        ("no position", r#""unknown""#),
    ] {
        let Some((answer, _)) = ask(fen) else { return };
        assert_eq!(answer, expected, "{fen}");
    }
    // At 99 plies the fifty-move rule draws before any mate.
    let Some((answer, _)) = ask("8/8/8/8/3k4/8/8/KQ6 w - - 99 60") else {
        return;
    };
    assert!(
        answer.starts_with(r#"{"known":{"result":"draw""#),
        "{answer}"
    );
}

#[test]
fn requests_only_needed_files() {
    let Some((_, mut wanted)) = ask("k7/8/1K6/8/8/8/8/7R w - - 0 1") else {
        return;
    };
    wanted.sort();
    assert_eq!(wanted, ["KRvK.rtbw", "KRvK.rtbz"]);
}

#[test]
fn a_damaged_file_counts_as_missing() {
    let tables = Tables::new(["KQvK.rtbw", "KQvK.rtbz", "README", "KQvK.pgn"]);
    for name in ["KQvK.rtbw", "KQvK.rtbz"] {
        for bytes in [&b""[..], b"no table", &[0xd7; 80]] {
            tables.bring(name, bytes.to_vec());
        }
    }
    assert_eq!(tables.ask("8/8/8/8/3k4/8/8/KQ6 w - - 0 1"), Answer::Unknown);
}
