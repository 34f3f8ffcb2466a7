//! Exit codes in help texts, and `arena suite`.

use std::fs;
use std::process::Command;

/// Returns the codes of a table with one per row: `  4  meaning` in a help, `| 4 | meaning |` in
/// Markdown.
fn codes(table: &str) -> Vec<u8> {
    let rows = table.lines().filter_map(|line| {
        let row = line.trim_start().trim_start_matches("| ");
        let (codes, _) = row.split_once("  ").or(row.split_once(" |"))?;
        let codes = codes.split(", ").map(|code| code.trim().parse().ok());
        codes.collect::<Option<Vec<u8>>>()
    });
    rows.flatten().collect()
}

/// Help texts and docs/exit-codes.md list the same codes.
#[test]
fn the_tables_of_exit_codes_agree() {
    let page = include_str!("../../../docs/exit-codes.md");
    let table = page.split_once("| code | meaning |").unwrap().1;
    let known = codes(table.split_once("\n\n").unwrap().0);
    let of_help = |command| {
        let help = Command::new(env!("CARGO_BIN_EXE_arena"))
            .args([command, "--help"])
            .output()
            .unwrap()
            .stdout;
        let help = String::from_utf8_lossy(&help);
        codes(help.split_once("Exit codes:\n").unwrap().1)
    };
    assert_eq!(of_help("match"), [0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 130]);
    assert_eq!(of_help("ladder"), [0, 1, 2, 3, 4, 5, 6, 7, 130]);
    assert_eq!(of_help("generate"), [0, 1, 2, 3, 4, 5, 6, 7, 130]);
    // `suite` writes no games.
    assert_eq!(of_help("suite"), [0, 1, 2, 3, 4, 6, 7, 130]);
    for code in of_help("match") {
        assert!(
            known.contains(&code),
            "docs/exit-codes.md has no {code}: {known:?}"
        );
    }
}

/// Counts the problems solved, and names a line that is not a problem.
#[test]
fn a_suite_is_counted_and_a_bad_line_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mates.epd");
    let suite = |text: &str| {
        fs::write(&path, text).unwrap();
        Command::new(env!("CARGO_BIN_EXE_arena"))
            .args(["suite", "--depth", "3", "--json"])
            .arg(&path)
            .output()
            .unwrap()
    };
    let mates = "6k1/5ppp/8/8/8/8/8/K3R3 w - - bm Re8; id \"back rank\";\n\
                 6k1/5ppp/8/8/8/8/8/K3R3 w - - bm Rd1; id \"wrong\";\n";
    let output = suite(mates);
    assert_eq!(output.status.code(), Some(0));
    let counts: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(counts["problems"], 2);
    assert_eq!(counts["solved"], 1);
    assert_eq!(counts["unsolved"], serde_json::json!(["wrong"]));

    let output = suite("no board at all\n");
    assert_eq!(output.status.code(), Some(4));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("no board at all"), "{message}");

    for empty in ["", "\n \n"] {
        let output = suite(empty);
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains("mates.epd\" has no problem"), "{message}");
    }
}

/// An engine program gets the same problems as a net in this process, with the same counts.
#[test]
fn a_suite_asks_any_engine() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("suite.epd");
    let problems = "6k1/5ppp/8/8/8/8/8/K3R3 w - - bm #1; id \"mate\";\n\
                    6k1/5ppp/8/8/8/8/8/K3R3 w - - bm #2; id \"wrong mate\";\n\
                    4k2r/8/8/8/8/8/8/R3K3 w Qk - bm O-O-O Ra8+; id \"move\";\n\
                    k7/8/8/8/8/8/8/K1R4R w - - am Rc2; c9 \"c1c7\"; c8 \"5\"; id \"points\";\n";
    fs::write(&path, problems).unwrap();
    let suite = |rest: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_arena"));
        command.arg("suite").arg(&path).args(["--json"]).args(rest);
        command.output().unwrap()
    };
    let counts = |rest: &[&str]| -> serde_json::Value {
        let output = suite(rest);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{message}");
        let mut counts: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        counts["seconds"] = serde_json::Value::Null;
        counts
    };
    let program = format!("cmd={}", test_support::program_path("engine").display());
    for limit in [["--depth", "5"], ["--nodes", "2000"]] {
        let mut own = counts(&limit);
        assert_eq!(own["mates_shown"], 2, "{own}");
        assert_eq!(own["mates_wrong"].as_array().unwrap().len(), 1, "{own}");
        let with = |spec: &str| counts(&[&limit[..], &["--engine", spec]].concat());
        assert_eq!(with("net=embedded hash=16 threads=1"), own);
        // A program's lines are not read, and its nodes are those last reported.
        let mut asked = with(&program);
        assert!(asked["nodes"].as_u64() > Some(0), "{asked}");
        own["mates_shown"] = serde_json::Value::Null;
        own["nodes"] = asked["nodes"].take();
        asked["nodes"] = own["nodes"].clone();
        assert_eq!(asked, own);
        assert_eq!(
            counts(&[&limit[..], &["--engine", &program, "--go-mate"]].concat())["mates_found"],
            2
        );
    }
    let failed = |rest: &[&str], code: i32, words: &str| {
        let output = suite(&[&["--depth", "2"], rest].concat());
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{message}");
        assert!(message.contains(words), "{words}: {message}");
    };
    failed(
        &["--engine", &program, "--threads", "2"],
        2,
        "cannot be used with",
    );
    failed(&["--engine", "material depth=3"], 2, "not depth=3");
    failed(&["--engine", "none.safetensors"], 3, "none.safetensors");
    failed(&["--engine", "cmd=/none/engine"], 3, "/none/engine");
    let crashes = "cmd='sh -c \"while read -r line; do case $line in uci) echo uciok;; \
                   isready) echo readyok;; go*) exit;; esac; done\"'";
    failed(&["--engine", crashes], 1, "asked for \"mate\": it ended");
}
