//! The benchmarks run and count correctly; timings are not checked.

use std::process::Command;

use serde_json::Value;
use tests::dump::{Dump, Frames};
use tests::{build, program, run, sample, skip};

#[test]
fn the_benchmark_runs_on_a_small_dump() {
    if Command::new("zstd").arg("--version").output().is_err() {
        skip("zstd is not installed");
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
    assert!(
        report["moves"]["labels"].as_u64() > contents.labels.into(),
        "{report}"
    );
    let counted = Command::new("valgrind").arg("--version").output().is_ok();
    if !counted {
        skip("valgrind is not installed, no instructions are counted");
    }
    let rows = report["contenders"].as_array().expect("rows");
    for (name, input) in [
        ("ingest build", "dump"),
        ("build --moves", "dump"),
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
        if counted {
            let per_byte = row["instructions_per_byte"].as_f64();
            assert!(
                per_byte.is_some_and(|count| (1.0..1000.0).contains(&count)),
                "{row}"
            );
        }
    }
}

#[test]
fn the_trainer_measures_its_reader_and_its_device() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dataset = folder.path().join("d");
    build(&[&sample("dump_2021-10_first499.pgn.zst")], &dataset).succeeded();
    let bench = || {
        let mut trainer = program("trainer");
        let settings = ["--device", "cpu", "--batch", "100", "--seconds", "0.05"];
        trainer.arg("bench").args(settings).arg("--json");
        trainer
    };
    let alone = run(&mut bench()).succeeded();
    let alone: Value = serde_json::from_str(&alone.out).expect("JSON");
    let whole = run(bench().arg("--data").arg(&dataset)).succeeded();
    let whole: Value = serde_json::from_str(&whole.out).expect("JSON");
    for (report, both) in [(&alone, false), (&whole, true)] {
        assert_eq!(report["device"], "cpu");
        assert_eq!(report["batch"], 100);
        let rates = &report["samples_per_second"];
        for (name, there) in [
            ("reader", both),
            ("upload", true),
            ("device", true),
            ("both", both),
        ] {
            assert_eq!(
                rates[name].as_f64().is_some_and(|rate| rate > 0.0),
                there,
                "{rates}"
            );
        }
    }
    let empty = folder.path().join("no dataset");
    run(bench().arg("--data").arg(empty)).failed(3, &["no dataset"]);
}
