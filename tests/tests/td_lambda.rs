//! `ingest build --td-lambda`: labels from lambda-returns.

use std::path::Path;

use datasets::Split;
use tests::exit::REFUSED;
use tests::{Said, contents, program, records, run, sample, stats};

const JUNE: &str = "dump_2026-06_annotated500.pgn.zst";
const OLD: &str = "dump_2013-02_rewritten2551.pgn.zst";

fn build(source: &str, dataset: &Path, threads: &str, arguments: &[&str]) -> Said {
    run(program("ingest")
        .arg("build")
        .arg(sample(source))
        .arg("--out")
        .arg(dataset)
        .args(arguments)
        .env("RAYON_NUM_THREADS", threads))
}

#[test]
fn lambda_0_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, arguments) in [("none", &[][..]), ("zero", &["--td-lambda", "0"])] {
        build(JUNE, &path(name), "2", arguments).succeeded();
    }
    assert!(contents(&path("none")) == contents(&path("zero")));
    build(JUNE, &path("x"), "2", &["--td-lambda", "1.5"]).failed(2, &[]);
}

#[test]
fn keeps_positions_and_held_out_labels() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    build(JUNE, &path("plain"), "2", &[]).succeeded();
    build(JUNE, &path("returns"), "2", &["--td-lambda", "0.7"]).succeeded();
    let both = |split| ["plain", "returns"].map(|name| records(&path(name), split));
    let [plain, returns] = both(Split::Validation);
    assert!(!plain.is_empty() && plain == returns);
    let [plain, returns] = both(Split::Train);
    assert_eq!(plain.len(), returns.len());
    let pairs = || plain.iter().zip(&returns);
    assert!(pairs().all(|(plain, other)| plain.epd() == other.epd()));
    let changed = pairs().filter(|(plain, other)| plain.label() != other.label());
    assert!(changed.count() > plain.len() / 2);
    let [plain, returns] = ["plain", "returns"].map(|name| stats(&path(name)));
    for name in ["games", "games_kept", "labels", "mates", "gaps", "skipped"] {
        assert_eq!(plain[name], returns[name], "{name}");
    }
    assert_eq!(returns["filters"]["td_lambda"], 0.7);
}

#[test]
fn threads_make_no_difference() {
    let folder = tempfile::tempdir().unwrap();
    let all = ["1", "2", "7"].map(|threads| {
        let dataset = folder.path().join(threads);
        build(OLD, &dataset, threads, &["--td-lambda", "0.5"]).succeeded();
        contents(&dataset)
    });
    assert!(all[0] == all[1] && all[0] == all[2]);
}

#[test]
fn another_lambda_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("a");
    build(JUNE, &dataset, "2", &["--td-lambda", "0.7"]).succeeded();
    for (arguments, words) in [
        (&[][..], "td_lambda 0.7, now not set"),
        (&["--td-lambda", "0.5"], "td_lambda 0.7, now 0.5"),
    ] {
        build(OLD, &dataset, "2", arguments).failed(REFUSED, &[words]);
    }
    build(OLD, &dataset, "2", &["--td-lambda", "0.7"]).succeeded();
}
