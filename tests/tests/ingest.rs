//! `ingest build` and `ingest stats` over real processes and the samples.

use datasets::{Dataset, Record, Split};
use serde_json::Value;
use tests::{build, contents, program, records, run, sample, stats};

const JUNE: &str = "dump_2026-06_annotated500.pgn.zst";
const BLITZ: &str = "rebuilt_2026-06_blitz676.pgn.zst";
const OLD: &str = "dump_2013-02_rewritten2551.pgn.zst";

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
fn prints_results_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let text = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let printed = |arguments: &[&str]| -> Value {
        let said = run(program("ingest").args(arguments).arg("--json")).succeeded();
        serde_json::from_str(&said.out).unwrap()
    };
    let (june, a, b) = (sample(JUNE), text("a.dataset"), text("b.dataset"));
    let built = printed(&["build", june.to_str().unwrap(), "--out", &a]);
    let merged = printed(&["merge", &a, "--out", &b]);
    for (printed, out) in [(built, &a), (merged, &b)] {
        let stats = stats(out.as_ref());
        let printed = printed.as_object().unwrap();
        assert_eq!(printed["out"], **out);
        assert!(printed["labels"].as_u64() > Some(30_000));
        for (name, value) in printed.iter().filter(|(name, _)| *name != "out") {
            assert_eq!(*value, stats[name], "{name}");
        }
    }
    let shards = text("shards");
    let cut = printed(&["shard", &a, "--number", "2", "--out", &shards]);
    let names = [1, 2].map(|number| format!("{shards}/{number}.dataset"));
    assert_eq!(cut, serde_json::json!({ "shards": names }));
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
    let mut lens = Vec::new();
    for seed in 0..8 {
        let shuffled = dataset.shuffled(Split::Train, seed, 0).unwrap();
        for group in 0..shuffled.groups() {
            let len = shuffled.group(group).unwrap().len();
            assert_eq!(shuffled.group_len(group), len, "seed {seed}, group {group}");
            lens.push(len);
        }
    }
    lens.sort_unstable();
    lens.dedup();
    assert!(
        lens.len() > 1,
        "the short block was never elsewhere: {lens:?}"
    );
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
