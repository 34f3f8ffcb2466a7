//! `ingest build` and `ingest stats` over real processes and the samples.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use datasets::{Dataset, Record, Split};
use serde_json::Value;
use tests::{build, program, run, sample, stats};

const JUNE: &str = "dump_2026-06_annotated500.pgn.zst";
const BLITZ: &str = "rebuilt_2026-06_blitz676.pgn.zst";
const OLD: &str = "dump_2013-02_rewritten2551.pgn.zst";

fn records(dataset: &Path, split: Split) -> Vec<Record> {
    let dataset = Dataset::open(dataset).unwrap();
    let blocks: Vec<_> = dataset.blocks(split).unwrap().map(Result::unwrap).collect();
    blocks.concat()
}

/// Everything that must be equal in equal datasets.
fn contents(dataset: &Path) -> (Vec<Record>, Vec<Record>, Value) {
    let mut stats = stats(dataset);
    let object = stats.as_object_mut().unwrap();
    // The folder's size depends on when RocksDB tidies its own files.
    object.remove("bytes_on_disk");
    object.remove("bytes_per_position");
    (
        records(dataset, Split::Train),
        records(dataset, Split::Validation),
        stats,
    )
}

#[test]
fn counters_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("a.dataset");
    build(&[&sample(JUNE), &sample(OLD)], &dataset).succeeded();
    let stats = stats(&dataset);
    let count = |name: &str| stats[name].as_u64().unwrap();
    // 500 and 2,551 games, 33,607 and 1,004 comments: datasets/samples/README.md.
    assert_eq!(count("games"), 3051);
    assert_eq!(count("games_annotated"), 515);
    assert_eq!(stats["skipped"]["unannotated"], 3051 - 515);
    assert_eq!(
        count("labels") + stats["skipped"]["finished_position"].as_u64().unwrap(),
        34_611
    );
    assert_eq!(
        count("labels"),
        count("positions_train")
            + count("positions_validation")
            + count("seen_on_both_sides")
            + count("duplicates_merged")
    );
    assert_eq!(
        records(&dataset, Split::Train).len() as u64,
        count("positions_train")
    );
    assert_eq!(
        records(&dataset, Split::Validation).len() as u64,
        count("positions_validation")
    );
}

#[test]
fn no_position_is_on_both_sides_and_none_twice() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("a.dataset");
    build(&[&sample(JUNE), &sample(BLITZ)], &dataset).succeeded();
    let mut seen = std::collections::HashSet::new();
    for split in [Split::Train, Split::Validation] {
        for record in records(&dataset, split) {
            assert!(seen.insert(record.epd()), "{record:?}");
        }
    }
    assert!(seen.len() > 70_000);
}

#[test]
fn the_order_of_sources_and_repeats_make_no_difference() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    build(
        &[&sample(JUNE), &sample(BLITZ), &sample(OLD)],
        &path("once"),
    )
    .succeeded();
    build(&[&sample(OLD)], &path("pieces")).succeeded();
    build(&[&sample(BLITZ)], &path("pieces")).succeeded();
    let again = build(
        &[&sample(BLITZ), &sample(JUNE), &sample(OLD)],
        &path("pieces"),
    )
    .succeeded();
    assert!(
        again.err.contains("already in the dataset"),
        "{}",
        again.err
    );
    assert_eq!(contents(&path("once")), contents(&path("pieces")));
}

#[test]
fn every_compression_and_standard_input_give_the_same_records() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let text = zstd::decode_all(std::fs::File::open(sample(JUNE)).unwrap()).unwrap();
    std::fs::write(path("plain.pgn"), &text).unwrap();
    // One frame instead of the sample's seven, and no extension that would tell.
    std::fs::write(path("single"), zstd::encode_all(&text[..], 3).unwrap()).unwrap();
    for (tool, file) in [("gzip", "games.pgn.gz"), ("bzip2", "games.pgn.bz2")] {
        let packed = std::process::Command::new(tool)
            .arg("-c")
            .arg(path("plain.pgn"))
            .output();
        std::fs::write(path(file), packed.unwrap().stdout).unwrap();
    }
    build(&[&sample(JUNE)], &path("expected")).succeeded();
    let expected = (
        records(&path("expected"), Split::Train),
        records(&path("expected"), Split::Validation),
    );
    for file in ["plain.pgn", "single", "games.pgn.gz", "games.pgn.bz2"] {
        let dataset = path(&format!("{file}.dataset"));
        build(&[&path(file)], &dataset).succeeded();
        let found = (
            records(&dataset, Split::Train),
            records(&dataset, Split::Validation),
        );
        assert!(found == expected, "{file}");
    }
    let mut command = program("ingest");
    command
        .args(["build", "-", "--out"])
        .arg(path("piped"))
        .stdin(Stdio::piped());
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&text).unwrap();
    assert!(child.wait().unwrap().success());
    let found = (
        records(&path("piped"), Split::Train),
        records(&path("piped"), Split::Validation),
    );
    assert!(found == expected, "standard input");
}

#[test]
fn a_shuffled_epoch_has_every_record_once_in_an_order_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dataset");
    build(&[&sample(JUNE), &sample(BLITZ)], &path).succeeded();
    let dataset = Dataset::open(&path).unwrap();
    let epoch = |seed, epoch| -> Vec<Record> {
        let shuffled = dataset.shuffled(Split::Train, seed, epoch).unwrap();
        shuffled.map(Result::unwrap).collect::<Vec<_>>().concat()
    };
    let first = epoch(1, 0);
    assert_eq!(first, epoch(1, 0), "the same seed and epoch");
    assert_ne!(first, epoch(1, 1), "another epoch");
    assert_ne!(first, epoch(2, 0), "another seed");
    let sorted = |mut records: Vec<Record>| {
        records.sort();
        records
    };
    assert_eq!(sorted(first), sorted(records(&path, Split::Train)));
}

fn copy(from: &Path, to: &Path) {
    let copied = std::process::Command::new("cp")
        .arg("-r")
        .arg(from)
        .arg(to)
        .status();
    assert!(copied.unwrap().success());
}

/// Kills builds at moments spread over the time that a build takes, onto a
/// dataset that was there and onto none. Each time the dataset is as it was
/// before, or as it is after, and the same command ends the work.
#[test]
fn kill_9_at_any_moment_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (base, whole, fresh) = (path("base"), path("whole"), path("fresh"));
    let added = [&sample(JUNE), &sample(BLITZ)].map(|source| source.to_path_buf());
    let added: Vec<&Path> = added.iter().map(|source| source.as_path()).collect();
    build(&[&sample(OLD)], &base).succeeded();
    copy(&base, &whole);
    let started = Instant::now();
    build(&added, &whole).succeeded();
    let full_time = started.elapsed();
    build(&added, &fresh).succeeded();
    let (before, after, alone) = (contents(&base), contents(&whole), contents(&fresh));

    let (mut done, mut sealing) = (0, 0);
    let trials = 24;
    for trial in 0..trials {
        let killed = path(&format!("killed-{trial}"));
        let (onto_base, delay) = (trial % 2 == 0, full_time * trial * 5 / (trials * 4));
        if onto_base {
            copy(&base, &killed);
        }
        let mut command = program("ingest");
        command.arg("build").args(&added).arg("--out").arg(&killed);
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(delay);
        child.kill().unwrap();
        child.wait().unwrap();
        let spill = std::fs::read_dir(killed.join("spill"));
        let mut spilled = spill
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path());
        sealing += u32::from(spilled.any(|file| file.extension().is_some_and(|e| e == "sst")));
        let end = if onto_base { &after } else { &alone };
        if onto_base || Dataset::open(&killed).is_ok() {
            let now = contents(&killed);
            assert!(
                now == *end || onto_base && now == before,
                "killed after {delay:?}"
            );
            done += u32::from(now == *end);
        }
        build(&added, &killed).succeeded();
        assert!(
            contents(&killed) == *end,
            "killed after {delay:?}, then run again"
        );
    }
    println!("of {trials} builds {sealing} were killed while sealing, {done} had ended");
    assert!(done < trials, "no build was killed before its end");
}

#[test]
fn stats_draws_a_picture_and_prints_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    build(&[&sample(JUNE)], &path("a.dataset")).succeeded();
    let mut command = program("ingest");
    command
        .arg("stats")
        .arg(path("a.dataset"))
        .arg("--plot")
        .arg(path("a.svg"));
    let said = run(&mut command).succeeded();
    for word in ["games", "500", "validation", "opening", JUNE] {
        assert!(said.out.contains(word), "{word}: {}", said.out);
    }
    let svg = std::fs::read_to_string(path("a.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("Evaluations, White") && svg.contains("<rect"));
}
