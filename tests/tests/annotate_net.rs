//! `ingest annotate --net`: evaluations equal those of the Kibitz program over pipes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use test_support::send_signal;
use tests::annotated::{SLICE, SPECIAL, folder, games, report, unannotated};
use tests::{Said, first_games, program, root, run, sample, shared, text_of};

fn command(source: &Path, out: &Path, more: &[&str]) -> Command {
    let mut command = program("ingest");
    command.arg("annotate").arg(source).arg("--out").arg(out);
    command.args(more);
    command
}

fn annotate(source: &Path, out: &Path, more: &str) -> Said {
    run(&mut command(source, out, &words(more)))
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

fn kibitz() -> String {
    program("engine").get_program().display().to_string()
}

fn net(name: &str) -> String {
    let path = root().join("models").join(name);
    path.to_str().unwrap().to_string()
}

fn record(out: &Path) -> Value {
    let json = PathBuf::from(format!("{}.json", out.display()));
    serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap()
}

/// Asserts that the library, with a net and perhaps a table size, and the program with `options`
/// give the same text and counts. Returns the number of mates.
fn agree(source: &Path, net: &str, options: &str, more: &str) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let [library, pipes] = ["library.pgn", "pipes.pgn"].map(|name| folder.path().join(name));
    annotate(source, &library, &format!("--net {net} {more}")).succeeded();
    let engine = kibitz();
    let mut command = command(source, &pipes, &["--engine", &engine]);
    run(command.args(words(options)).args(words(more))).succeeded();
    let text = |path: &Path| std::fs::read_to_string(path).unwrap();
    assert!(text(&library) == text(&pipes), "{net} {more}");
    let tally = record(&library)["done"]["tally"].clone();
    assert_eq!(tally, record(&pipes)["done"]["tally"], "{net} {more}");
    assert_eq!(tally["unanswered"], 0);
    tally["mates"].as_u64().unwrap()
}

/// Games with and without evaluations, from FENs, of Chess960, with mates and stalemates, under
/// various limits and table sizes.
#[test]
fn the_library_evaluates_as_the_program_does() {
    let (_folder, source, _) = folder(&(unannotated(40) + SPECIAL));
    let default = "--option Hash=16";
    agree(&source, "embedded", default, "--nodes 1 --processes 3");
    let more = "--depth 4 --processes 1";
    assert!(agree(&source, "embedded", default, more) > 20);
    let (with_1, small) = ("embedded --hash 1", "--option Hash=1");
    assert!(agree(&source, with_1, small, "--nodes 700 --every 3") > 5);
    let linear = net("linear.safetensors");
    let options = format!("--option EvalFile={linear} --option Hash=2");
    agree(
        &source,
        &format!("{linear} --hash 2"),
        &options,
        "--nodes 100",
    );
    let options = "--option Evaluation=material";
    agree(&source, "material", options, "--nodes 60");
    let text = text_of(&sample(SLICE));
    let first = first_games(&text, 150);
    assert!(first.contains("[%eval "));
    let (_folder, source, _) = folder(first);
    agree(&source, "embedded", default, "--nodes 1");
    agree(&source, "embedded", default, "--nodes 1 --replace");
}

/// Real Chess960 games with castling to either side.
#[test]
fn the_library_evaluates_the_chess960_league_as_the_program_does() {
    let Some(source) = shared("quirks/league_chess960.pgn.zst") else {
        return;
    };
    let text = text_of(&source);
    let (_folder, source, _) = folder(first_games(&text, 100));
    agree(
        &source,
        "embedded --hash 1",
        "--option Hash=1",
        "--nodes 50",
    );
}

/// Resuming an output needs the same net and table size; the file's path may differ.
#[test]
fn records_the_net_and_the_table_size() {
    let (folder, source, out) = folder(SPECIAL);
    let linear = net("linear.safetensors");
    let more = |net: &str, hash: u32| format!("--net {net} --nodes 20 --json --hash {hash}");
    let found = report(annotate(&source, &out, &more(&linear, 4)));
    let name = found["engine"].as_str().unwrap();
    assert!(
        name.starts_with("Kibitz 0.2.0 of SHA-256 ") && name.contains(" with the net of SHA-256 "),
        "{name}"
    );
    let made_by = &record(&out)["made_by"];
    assert_eq!(made_by["engine"], name);
    assert_eq!(made_by["options"], serde_json::json!([["Hash", "4"]]));
    let copy = folder.path().join("copy.safetensors");
    std::fs::copy(&linear, &copy).unwrap();
    let again = report(annotate(&source, &out, &more(copy.to_str().unwrap(), 4)));
    assert_eq!(
        (&again["engine"], &again["run"]),
        (&found["engine"], &Value::Null)
    );
    for (net, hash) in [("embedded", 4), (&*linear, 5), ("material", 4)] {
        annotate(&source, &out, &more(net, hash)).failed(5, &["other settings"]);
    }
}

#[test]
fn names_files_that_are_not_nets() {
    let (folder, source, out) = folder(SPECIAL);
    let missing = "--nodes 1 --net /none/net.safetensors";
    annotate(&source, &out, missing).failed(3, &["/none/net.safetensors", "No such file"]);
    let games = format!("--nodes 1 --net {}", source.display());
    annotate(&source, &out, &games).failed(6, &["games.pgn", "refused", "not a safetensors file"]);
    for (more, word) in [
        ("--nodes 1", "--engine <COMMAND>|--net <NET>"),
        (
            "--nodes 1 --net material --engine cat",
            "cannot be used with",
        ),
        ("--nodes 1 --net material --hash 0", "1 to 131072"),
        ("--nodes 1 --net material --hash 131073", "1 to 131072"),
        ("--nodes 1 --net material --ahead 2", "cannot be used with"),
        (
            "--nodes 1 --net material --timeout 2",
            "cannot be used with",
        ),
        (
            "--nodes 1 --net material --option Hash=1",
            "cannot be used with",
        ),
        ("--nodes 1 --engine cat --hash 1", "cannot be used with"),
    ] {
        let said = annotate(&source, &out, more);
        assert_eq!(said.code, Some(2), "{more}: {}", said.err);
        assert!(said.err.contains(word), "{more}: {}", said.err);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// The search would take years.
#[test]
fn a_search_is_stopped_at_once() {
    let (folder, source, out) = folder(SPECIAL);
    let mut child = command(&source, &out, &words("--net embedded --depth 90"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let part = folder.path().join("out.pgn.zst.part");
    while !part.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "it has ended");
    send_signal("TERM", &child);
    let sent = Instant::now();
    let said = Said::from(child.wait_with_output().unwrap());
    // Without the signal it would take hours.
    assert!(sent.elapsed() < Duration::from_secs(300), "still runs");
    said.failed(143, &["stopped", "same command again"]);
    // No frame was complete, so other settings may start over.
    annotate(&source, &out, "--net embedded --depth 2").succeeded();
    assert_eq!(games(&text_of(&out)).len(), 5);
}
