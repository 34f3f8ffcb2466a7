//! A dataset cut into shards: read, shuffled and trained on as before.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use datasets::{Dataset, Manifest, Record, Split};
use tests::dump::Dump;
use tests::training::TrainingFolder;
use tests::{Said, build, contents, copy, merge, program, run, sample};

const JUNE: &str = "dump_2026-06_annotated500.pgn.zst";
const OCTOBER: &str = "dump_2021-10_first499.pgn.zst";

const MISSING: i32 = 3;
const REFUSED: i32 = 5;

fn shard(dataset: &Path, number: &str, out: &Path) -> Said {
    let mut command = program("ingest");
    command.arg("shard").arg(dataset).args(["--number", number]);
    run(command.arg("--out").arg(out))
}

/// The manifest, without what tells how often something was added.
fn manifest(dataset: &Dataset) -> Manifest {
    Manifest {
        generation: 0,
        ..dataset.manifest().clone()
    }
}

/// All that can be read of both is equal: what they say of themselves, blocks, and
/// groups in the order of an epoch.
fn assert_equal(sharded: &Path, whole: &Path, what: &str) {
    assert!(contents(sharded) == contents(whole), "{what}");
    let [sharded, whole] = [sharded, whole].map(|path| Dataset::open(path).unwrap());
    assert_eq!(manifest(&sharded), manifest(&whole), "{what}");
    for split in [Split::Train, Split::Validation] {
        for (seed, epoch) in [(1, 1), (1, 2), (7, 1)] {
            let order = |dataset: &Dataset| {
                let order = dataset.shuffled(split, seed, epoch).unwrap();
                let lens = (0..order.groups()).map(|group| order.group_len(group));
                let lens: Vec<usize> = lens.collect();
                let groups: Vec<Vec<Record>> = order.map(Result::unwrap).collect();
                (lens, groups)
            };
            assert!(order(&sharded) == order(&whole), "{what}, epoch {epoch}");
        }
    }
}

/// Games for some thirty blocks.
fn dump(path: &Path) {
    Dump::annotated(3_000).write_to(path, |_| {}).unwrap();
}

#[test]
fn shards_are_read_as_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    dump(&path("games"));
    build(&[&path("games")], &path("whole")).succeeded();
    // A second generation.
    build(&[&sample(JUNE)], &path("whole")).succeeded();
    let whole = Dataset::open(&path("whole")).unwrap();
    assert!(
        whole.len(Split::Train) > 60_000,
        "{}",
        whole.len(Split::Train)
    );
    drop(whole);
    for number in ["1", "2", "5", "40"] {
        let shards = path(&format!("{number} shards"));
        shard(&path("whole"), number, &shards).succeeded();
        let names = fs::read_dir(&shards).unwrap().count();
        assert_eq!(names.to_string(), number);
        assert_equal(&shards, &path("whole"), number);
        // Once more changes nothing.
        shard(&path("whole"), number, &shards).succeeded();
        assert_equal(&shards, &path("whole"), number);
    }
    // Shards are cut again, exported and merged as the whole is.
    shard(&path("5 shards"), "3", &path("again")).succeeded();
    assert_equal(&path("again"), &path("whole"), "again");
    build(&[&sample(OCTOBER)], &path("october")).succeeded();
    for (from, to) in [("5 shards", "from shards"), ("whole", "from whole")] {
        merge(&[path(from), path("october")], &path(to)).succeeded();
    }
    assert_equal(&path("from shards"), &path("from whole"), "merged");
}

/// The net is the same, byte for byte, and so is what is measured.
#[test]
fn training_on_shards_is_training_on_the_whole() {
    let folder = TrainingFolder::new(JUNE);
    let (whole, shards) = (folder.path("d"), folder.path("shards"));
    shard(&whole, "3", &shards).succeeded();
    let nets = [("d", "whole"), ("shards", "sharded")].map(|(data, net)| {
        let net = format!("{net}.safetensors");
        let settings = "--device cpu --hidden 16,8,8 --epochs 2 --batch 512 --seed 3";
        let mut arguments = vec!["fit", "--data", data, "--out", &net];
        arguments.extend(settings.split(' '));
        folder.run(&arguments).succeeded();
        let eval = ["eval", "--model", &net, "--data", data];
        let figures = folder.run(&eval).succeeded().out;
        let (_, figures) = figures.split_once('\n').unwrap();
        (fs::read(folder.path(&net)).unwrap(), figures.to_string())
    });
    let [whole, sharded] = nets;
    assert_eq!(whole.1, sharded.1);
    assert!(whole.0 == sharded.0);
}

#[test]
fn what_is_not_all_of_one_dataset_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    build(&[&sample(JUNE)], &path("june")).succeeded();
    build(&[&sample(OCTOBER)], &path("october")).succeeded();
    shard(&path("june"), "3", &path("shards")).succeeded();
    shard(&path("october"), "3", &path("others")).succeeded();
    shard(&path("june"), "2", &path("two")).succeeded();
    let stats = |dataset: &Path| run(program("ingest").arg("stats").arg(dataset));
    let refused = |dataset: &Path, words: &[&str]| {
        stats(dataset).failed(REFUSED, words);
    };
    let second = path("shards/2.dataset");
    refused(&second, &["2.dataset: shard 2/3", "all shards"]);
    build(&[&sample(OCTOBER)], &second).failed(REFUSED, &["2.dataset: shard 2/3"]);
    build(&[&sample(OCTOBER)], &path("shards")).failed(REFUSED, &["shards", "not empty"]);

    fs::rename(&second, path("aside")).unwrap();
    refused(&path("shards"), &["shards: shards are missing: 2/3"]);
    for (other, words) in [
        (
            "others/2.dataset",
            "2.dataset: shard of another dataset than",
        ),
        ("shards/1.dataset", "2.dataset: shard 1/3, but"),
        ("two/2.dataset", "2.dataset: shard 2/2, but"),
        ("october", "2.dataset: a dataset, not a shard"),
    ] {
        copy(&path(other), &second);
        refused(&path("shards"), &[words]);
        // Nor is it written over.
        let words = ["2.dataset: holds something else", "another --out"];
        shard(&path("june"), "3", &path("shards")).failed(REFUSED, &words);
        fs::remove_dir_all(&second).unwrap();
    }
    let words = ["holds something else", "another --out"];
    shard(&path("june"), "2", &path("shards")).failed(REFUSED, &words);
    shard(&path("june"), "2", &path("october")).failed(REFUSED, &["october"]);
    shard(&path("none"), "2", &path("out")).failed(MISSING, &["none"]);
    // What is missing is made again.
    shard(&path("june"), "3", &path("shards")).succeeded();
    assert_equal(&path("shards"), &path("june"), "made again");
    // Links do as well.
    fs::rename(&second, path("elsewhere")).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(path("elsewhere"), &second).unwrap();
        assert_equal(&path("shards"), &path("june"), "a link");
    }
}

/// The same command goes on after a kill.
#[test]
fn killed_sharding_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    dump(&path("games"));
    build(&[&path("games")], &path("whole")).succeeded();
    let mut killed = 0;
    for delay in (0..).map(|step| Duration::from_millis(5 + 20 * step)) {
        let mut command = program("ingest");
        command.arg("shard").arg(path("whole"));
        command.args(["--number", "4", "--out"]).arg(path("shards"));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        thread::sleep(delay);
        let ended = child.try_wait().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        if let Some(status) = ended {
            assert!(status.success());
            break;
        }
        killed += 1;
    }
    assert!(killed > 1, "{killed}");
    assert_equal(&path("shards"), &path("whole"), "killed");
    for number in 1..=4 {
        let spill = path("shards").join(format!("{number}.dataset/spill"));
        assert!(!spill.exists());
    }
}
