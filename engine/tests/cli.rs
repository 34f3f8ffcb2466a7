//! Subcommands other than UCI: output and exit codes.

use std::process::{Command, Output, Stdio};

use models::Kernel;
use serde_json::Value;

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_engine"))
        .args(arguments)
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn perft_prints_in_stockfish_format() {
    let output = text(&run(&["perft", "3"]));
    assert!(output.lines().any(|line| line == "e2e4: 600"), "{output}");
    assert_eq!(
        output.lines().filter(|line| line.contains(": ")).count(),
        21
    );
    assert!(output.ends_with("\n\nNodes searched: 8902\n"), "{output}");
    let castling = text(&run(&[
        "perft",
        "1",
        "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
    ]));
    assert!(castling.contains("e1g1: 1\n") && castling.ends_with("Nodes searched: 26\n"));
    assert!(text(&run(&["perft", "0"])).ends_with("Nodes searched: 1\n"));
}

#[test]
fn bench_is_deterministic() {
    let signature = || {
        let json: Value = serde_json::from_str(&text(&run(&["bench", "2", "--json"]))).unwrap();
        json["nodes"].as_u64().unwrap()
    };
    let nodes = signature();
    assert_eq!(nodes, signature());
    let plain = text(&run(&["bench", "2"]));
    let last = plain.lines().last().unwrap();
    assert!(
        last.starts_with(&format!("{nodes} nodes ")) && last.ends_with(" nps"),
        "{last}"
    );
}

#[test]
fn bench_compares_the_kernels() {
    let json: Value =
        serde_json::from_str(&text(&run(&["bench", "--evaluations", "--json"]))).unwrap();
    let kernels = json["kernels"].as_array().unwrap();
    let names: Vec<String> = kernels
        .iter()
        .map(|speed| speed["kernel"].as_str().unwrap().to_string())
        .collect();
    let expected: Vec<String> = Kernel::available().iter().map(Kernel::to_string).collect();
    assert_eq!(names, expected);
    for figure in ["incremental_per_s", "from_nothing_per_s", "dense_ns"] {
        assert!(
            kernels
                .iter()
                .all(|speed| speed[figure].as_f64() > Some(0.0))
        );
    }
    assert_eq!(
        run(&["bench", "--evaluations", "3"]).status.code(),
        Some(2),
        "there is no depth to evaluations"
    );
}

#[test]
fn eval_shows_both_views() {
    let json = |fen: &str| -> Value {
        serde_json::from_str(&text(&run(&["eval", fen, "--json"]))).unwrap()
    };
    let black = json("4k3/8/8/8/8/8/8/4K2R b K - 0 1");
    assert_eq!(black["material"]["mover"], -500.0);
    assert_eq!(black["material"]["white"], 500.0);
    let views = |value: &Value| {
        (
            value["mover"].as_f64().unwrap(),
            value["white"].as_f64().unwrap(),
        )
    };
    let (mover, white) = views(&black["quantised"]);
    assert_eq!(mover, -white);
    let (float, _) = views(&black["float"]);
    // Bound of the quantisation error: see tests/tests/network.rs.
    assert!((mover - float).abs() <= 50.0, "{mover} and {float}");
    let plain = text(&run(&["eval", "4k3/8/8/8/8/8/8/4K2R b K - 0 1"]));
    assert!(plain.contains("network") && plain.contains("material"));
}

#[test]
fn eval_shows_piece_values() {
    let fen = "4k3/8/8/8/8/8/4p3/4K2R w K - 0 1";
    let json: Value = serde_json::from_str(&text(&run(&["eval", fen, "--json"]))).unwrap();
    let pieces = json["pieces"].as_array().unwrap();
    let named = |index: usize| (&pieces[index]["square"], &pieces[index]["piece"]);
    assert_eq!(pieces.len(), 2, "kings have no value: {json}");
    assert_eq!(named(0), (&"h1".into(), &"R".into()));
    assert_eq!(named(1), (&"e2".into(), &"p".into()));
    let worth = |index: usize| pieces[index]["pawns"].as_f64().unwrap();
    assert!(
        worth(0) > 1.0 && worth(1) < 0.0,
        "from White's view: {json}"
    );
    let plain = text(&run(&["eval", fen]));
    let board: Vec<&str> = plain.lines().skip(5).collect();
    assert_eq!(board.len(), 26, "{plain}");
    let [pieces_of_1, worths_of_1] = [board[22], board[23]];
    assert!(
        pieces_of_1.starts_with("1 |") && pieces_of_1.ends_with("|   R   |"),
        "{plain}"
    );
    assert!(
        worths_of_1.contains(&format!("{:+.2}", worth(0))),
        "{plain}"
    );
}

/// A reader may close the pipe early.
#[test]
fn a_closed_pipe_does_not_panic() {
    let bare = "4k3/8/8/8/8/8/8/4K3 w - - 0 1";
    for arguments in [
        &["bench", "1"][..],
        &["bench", "1", "--json"],
        &["bench", "--evaluations"],
        &["perft", "2"],
        &["eval", bare],
        &["eval", bare, "--json"],
        &["play", "--depth", "1"],
        &["--help"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = Command::new(env!("CARGO_BIN_EXE_engine"))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(writer)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {message}");
        assert_eq!(message, "", "{arguments:?}");
    }
}

#[test]
fn errors_print_one_line_and_set_the_exit_code() {
    let bare = "4k3/8/8/8/8/8/8/4K3 w - - 0 1";
    let not_a_net = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.net");
    std::fs::write(&empty, "").unwrap();
    let empty = empty.to_str().unwrap();
    let cases: [(&[&str], i32, &str); 9] = [
        (&["eval", "nonsense"], 2, "nonsense"),
        (&["perft", "x"], 2, "x"),
        (&["perft", "-1"], 2, "-1"),
        (&["perft", "100000"], 2, "100000"),
        (&["bench", "0"], 2, "1 or more"),
        (&["dance"], 2, "dance"),
        (&["eval", bare, "--net", "/no/such/net"], 3, "/no/such/net"),
        (&["eval", bare, "--model", not_a_net], 6, "Cargo.toml"),
        (&["eval", bare, "-n", empty], 6, "empty.net"),
    ];
    for (arguments, code, reason) in cases {
        let output = run(arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
        assert!(message.contains(reason), "{message}");
        assert!(code == 2 || message.lines().count() == 1, "{message}");
    }
}

#[test]
fn refuses_other_layouts_by_name() {
    use models::{Architecture, Metadata, Network};
    let mut metadata = Metadata::new(Architecture::ARTICLE, "test");
    metadata.layout = "someone-elses".to_string();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.safetensors");
    std::fs::write(
        &path,
        Network::random(Architecture::ARTICLE, 1).to_bytes(&metadata),
    )
    .unwrap();
    let output = run(&[
        "eval",
        "4k3/8/8/8/8/8/8/4K3 w - - 0 1",
        "--net",
        path.to_str().unwrap(),
    ]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(6));
    assert!(
        message.contains("someone-elses") && message.contains("other.safetensors"),
        "{message}"
    );
}

/// Without a reader of stderr, the exit code still tells.
#[test]
fn a_closed_stderr_does_not_panic() {
    let mut running = Command::new(env!("CARGO_BIN_EXE_engine"))
        .args([
            "eval",
            "4k3/8/8/8/8/8/8/4K3 w - - 0 1",
            "--net",
            "/no/such/net",
        ])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(running.stderr.take());
    assert_eq!(running.wait().unwrap().code(), Some(3));
}

/// Deeper benches would never end.
#[test]
fn rejects_benches_that_would_never_end() {
    let mut engine = std::process::Command::new(env!("CARGO_BIN_EXE_engine"));
    let output = engine.args(["bench", "300"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("at most 30 plies"), "{said}");
}
