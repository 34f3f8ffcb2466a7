//! The benchmark runs, and its counts are those of the dump. Its times are
//! nobody's business here.

use std::process::Command;

use tests::dump::{Dump, Frames};

#[test]
fn the_benchmark_runs_on_a_small_dump() {
    if Command::new("zstd").arg("--version").output().is_err() {
        eprintln!("SKIPPED: zstd is not installed");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [many, one, json] =
        ["many.pgn.zst", "one.pgn.zst", "bench.json"].map(|name| folder.path().join(name));
    let dump = |frames| Dump {
        games: 500,
        annotated_percent: 20,
        seed: 1,
        frames,
        level: 3,
    };
    let contents = dump(Frames::Of(1 << 19)).write_to(&many, |_| {});
    let contents = contents.expect("a dump is written");
    dump(Frames::One)
        .write_to(&one, |_| {})
        .expect("a dump is written");
    tests::run(
        Command::new(env!("CARGO_BIN_EXE_bench_ingest"))
            .args(["--runs", "2", "--python", "no-such-python", "--dump"])
            .arg(&many)
            .arg("--single-frame")
            .arg(&one)
            .arg("--json")
            .arg(&json),
    )
    .succeeded();
    let report = std::fs::read(&json).expect("the report");
    let report: serde_json::Value = serde_json::from_slice(&report).expect("JSON");
    assert_eq!(report["text_bytes"], contents.text_bytes);
    assert_eq!(report["dataset"]["games"], contents.games);
    assert_eq!(report["dataset"]["labels"], contents.labels);
    let rows = report["contenders"].as_array().expect("rows");
    for (name, input) in [
        ("ingest build", "dump"),
        ("zstd -dc", "dump"),
        ("ingest build", "single frame"),
        ("zstd -dc", "single frame"),
    ] {
        let row = rows
            .iter()
            .find(|row| row["name"] == name && row["input"] == input)
            .unwrap_or_else(|| panic!("no row for {name} on {input}"));
        assert_eq!(row["runs"].as_array().map(Vec::len), Some(2));
        assert!(row["peak_bytes"].as_u64() > Some(1 << 20), "{row}");
    }
}
