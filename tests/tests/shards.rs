//! Sharded datasets: read, shuffled and trained on like whole ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use datasets::{Dataset, Manifest, Record, Split};
use serde_json::Value;
use tests::dump::Dump;
use tests::exit::{MISSING, REFUSED, USAGE};
use tests::training::TrainingFolder;
use tests::{Said, build, contents, copy, merge, merging, program, run, sample, shard, sharding};

const JUNE: &str = "dump_2026-06_annotated500.pgn.zst";
const OCTOBER: &str = "dump_2021-10_first499.pgn.zst";

/// Runs `ingest merge DATASETS --shard I/N --out DIR`.
fn merge_shard(datasets: &[PathBuf], shard: &str, out: &Path) -> Said {
    run(merging(datasets, out).args(["--shard", shard]))
}

/// Makes all shards of a merge.
fn merge_shards(datasets: &[PathBuf], number: u32, out: &Path) {
    for shard in (1..=number).rev() {
        merge_shard(datasets, &format!("{shard}/{number}"), out).succeeded();
    }
}

/// Everything that equal datasets share.
struct Whole {
    records_and_stats: ([Vec<Record>; 2], Value),
    /// The manifest without its generation, which counts additions.
    manifest: Manifest,
    epochs: Vec<Epoch>,
}

/// Lengths of the groups of an epoch, and the groups in order.
type Epoch = (Vec<usize>, Vec<Vec<Record>>);

/// Reads some epochs of both splits.
fn epochs(dataset: &Dataset) -> Vec<Epoch> {
    let epoch = |(split, (seed, epoch))| {
        let order = dataset.shuffled(split, seed, epoch).unwrap();
        let lens = (0..order.groups()).map(|group| order.group_len(group));
        let lens: Vec<usize> = lens.collect();
        let groups: Vec<Vec<Record>> = order.map(Result::unwrap).collect();
        (lens, groups)
    };
    let splits = [Split::Train, Split::Validation];
    let seeds = splits.map(|split| [(1, 1), (1, 2), (7, 1)].map(|seed| (split, seed)));
    seeds.into_iter().flatten().map(epoch).collect()
}

impl Whole {
    fn read(path: &Path) -> Whole {
        let dataset = Dataset::open(path).unwrap();
        let manifest = Manifest {
            generation: 0,
            ..dataset.manifest().clone()
        };
        Whole {
            records_and_stats: contents(path),
            manifest,
            epochs: epochs(&dataset),
        }
    }

    /// Asserts that shards equal this dataset: stats, manifests, blocks, and groups in the order of
    /// an epoch.
    fn assert_equals(&self, sharded: &Path, what: &str) {
        let sharded = Whole::read(sharded);
        assert!(
            sharded.records_and_stats == self.records_and_stats,
            "{what}"
        );
        assert_eq!(sharded.manifest, self.manifest, "{what}");
        assert!(sharded.epochs == self.epochs, "{what}, an epoch");
    }
}

/// Asserts that both datasets are equal.
fn assert_equal(sharded: &Path, whole: &Path, what: &str) {
    Whole::read(whole).assert_equals(sharded, what);
}

/// Dataset of a dump that fills some thirty blocks. Tests only read it.
static GAMES: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [dump, dataset] = ["shards.pgn.zst", "shards.dataset"].map(|name| folder.join(name));
    let _ = fs::remove_dir_all(&dataset);
    Dump::annotated(3_000).write_to(&dump, |_| {}).unwrap();
    build(&[&dump], &dataset).succeeded();
    dataset
});

#[test]
fn shards_are_read_as_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    copy(&GAMES, &path("whole"));
    // A second generation.
    build(&[&sample(JUNE)], &path("whole")).succeeded();
    let whole = Dataset::open(&path("whole")).unwrap();
    assert!(
        whole.len(Split::Train) > 60_000,
        "{}",
        whole.len(Split::Train)
    );
    drop(whole);
    let whole = Whole::read(&path("whole"));
    for number in ["1", "2", "5", "40"] {
        let shards = path(&format!("{number} shards"));
        shard(&path("whole"), number, &shards).succeeded();
        let names = fs::read_dir(&shards).unwrap().count();
        assert_eq!(names.to_string(), number);
        whole.assert_equals(&shards, number);
    }
    // A repeated command changes nothing.
    shard(&path("whole"), "5", &path("5 shards")).succeeded();
    whole.assert_equals(&path("5 shards"), "5, repeated");
    // Shards can be sharded again and merged like the whole.
    shard(&path("5 shards"), "3", &path("again")).succeeded();
    whole.assert_equals(&path("again"), "again");
    build(&[&sample(OCTOBER)], &path("october")).succeeded();
    for (from, to) in [("5 shards", "from shards"), ("whole", "from whole")] {
        merge(&[path(from), path("october")], &path(to)).succeeded();
    }
    assert_equal(&path("from shards"), &path("from whole"), "merged");
}

/// Shards of a merge are read as the merged dataset, with the same blocks in the same order, though
/// stored in other blocks. They can be sharded again and merged.
#[test]
fn shards_of_a_merge_are_read_as_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    build(&[&sample(JUNE)], &path("b")).succeeded();
    build(&[&sample(JUNE), &sample(OCTOBER)], &path("c")).succeeded();
    let datasets = [GAMES.clone(), path("b"), path("c")];
    merge(&datasets, &path("whole")).succeeded();
    let whole = Whole::read(&path("whole"));
    for number in [1, 5, 40] {
        let shards = path(&format!("{number} shards"));
        merge_shards(&datasets, number, &shards);
        whole.assert_equals(&shards, &format!("{number}"));
        shard(&shards, "3", &path(&format!("{number} again"))).succeeded();
        let again = path(&format!("{number} again"));
        whole.assert_equals(&again, &format!("{number}, cut again"));
    }
    // Another order of datasets, repeated, changes nothing.
    let mut others = datasets.clone();
    others.reverse();
    merge_shard(&others, "2/5", &path("5 shards")).succeeded();
    whole.assert_equals(&path("5 shards"), "again");
    // Shards of shards, and empty shards.
    merge_shards(&[path("5 shards")], 7, &path("7 shards"));
    whole.assert_equals(&path("7 shards"), "shards of shards");
    Dump::annotated(1).write_to(&path("few"), |_| {}).unwrap();
    build(&[&path("few")], &path("d")).succeeded();
    merge_shards(&[path("d")], 40, &path("few shards"));
    assert_equal(&path("few shards"), &path("d"), "shards without a position");
    for (from, to) in [("40 shards", "from shards"), ("whole", "from whole")] {
        merge(&[path(from), path("d")], &path(to)).succeeded();
    }
    assert_equal(&path("from shards"), &path("from whole"), "merged");
}

#[test]
fn shards_of_a_merge_do_not_mix_with_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    build(&[&sample(JUNE)], &path("june")).succeeded();
    build(&[&sample(OCTOBER)], &path("october")).succeeded();
    let both = ["june", "october"].map(path);
    merge(&both, &path("whole")).succeeded();
    let shards = path("shards");
    for part in ["1/3", "3/3"] {
        merge_shard(&both, part, &shards).succeeded();
    }
    let stats = |dataset: &Path| run(program("ingest").arg("stats").arg(dataset));
    stats(&shards).failed(REFUSED, &["shards: shards are missing: 2/3"]);
    stats(&shards.join("1.dataset")).failed(REFUSED, &["1.dataset: shard 1/3", "all shards"]);

    // A shard of other datasets, and one sharded from the same dataset.
    let words = ["1.dataset: holds something else", "another --out"];
    merge_shard(&both[..1], "2/3", &shards).failed(REFUSED, &words);
    merge_shard(&both, "2/4", &shards).failed(REFUSED, &words);
    merge_shard(&both[..1], "2/3", &path("of one")).succeeded();
    copy(&path("of one/2.dataset"), &shards.join("2.dataset"));
    let words = ["2.dataset: shard of another dataset than"];
    stats(&shards).failed(REFUSED, &words);
    let words = ["2.dataset: holds something else", "another --out"];
    merge_shard(&both, "2/3", &shards).failed(REFUSED, &words);
    shard(&path("whole"), "3", &path("cut")).succeeded();
    fs::remove_dir_all(shards.join("2.dataset")).unwrap();
    copy(&path("cut/2.dataset"), &shards.join("2.dataset"));
    stats(&shards).failed(REFUSED, &["2.dataset: shard of another dataset than"]);
    fs::remove_dir_all(shards.join("2.dataset")).unwrap();
    merge_shard(&both, "2/3", &shards).succeeded();
    assert_equal(&shards, &path("whole"), "made again");

    // Killed after sealing: the marker of an unfinished build is left.
    fs::write(shards.join("2.dataset/kibitz-unfinished"), "").unwrap();
    merge_shard(&both, "2/3", &shards).succeeded();
    assert_equal(&shards, &path("whole"), "with a marker left");

    merge_shard(&both, "1/3", &path("june")).failed(REFUSED, &["june", "not empty"]);
    merge_shard(&both, "4/3", &path("none")).failed(USAGE, &[]);
    let mut capped = program("ingest");
    capped
        .arg("build")
        .arg(sample(JUNE))
        .args(["--max-positions", "99"]);
    run(capped.arg("--out").arg(path("capped"))).succeeded();
    let words = ["capped: made with --max-positions", "ingest shard"];
    merge_shard(&[path("capped")], "1/3", &path("none")).failed(REFUSED, &words);
    assert!(!path("none").exists());
}

/// The net is equal byte for byte, and so are its figures.
#[test]
fn training_on_shards_is_training_on_the_whole() {
    let folder = TrainingFolder::new(JUNE);
    let (whole, shards) = (folder.path("d"), folder.path("shards"));
    shard(&whole, "3", &shards).succeeded();
    merge_shards(std::slice::from_ref(&whole), 3, &folder.path("merged"));
    let data = [("d", "whole"), ("shards", "sharded"), ("merged", "merged")];
    let nets = data.map(|(data, net)| {
        let net = format!("{net}.safetensors");
        let settings = "--device cpu --hidden 16,8,8 --epochs 2 --batch 512 --seed 3";
        let mut arguments = vec!["fit", "--data", data, "--out", &net];
        arguments.extend(settings.split(' '));
        folder.run(&arguments).succeeded();
        let eval = ["eval", "--net", &net, "--data", data];
        let figures = folder.run(&eval).succeeded().out;
        let (_, figures) = figures.split_once('\n').unwrap();
        (fs::read(folder.path(&net)).unwrap(), figures.to_string())
    });
    let [whole, sharded, merged] = nets;
    for other in [sharded, merged] {
        assert_eq!(whole.1, other.1);
        assert!(whole.0 == other.0);
    }
}

#[test]
fn refuses_folders_that_are_not_one_whole_dataset() {
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
        // Foreign shards are not overwritten either.
        let words = ["2.dataset: holds something else", "another --out"];
        shard(&path("june"), "3", &path("shards")).failed(REFUSED, &words);
        fs::remove_dir_all(&second).unwrap();
    }
    let words = ["holds something else", "another --out"];
    shard(&path("june"), "2", &path("shards")).failed(REFUSED, &words);
    shard(&path("june"), "2", &path("october")).failed(REFUSED, &["october"]);
    shard(&path("none"), "2", &path("out")).failed(MISSING, &["none"]);
    // A missing shard is made again.
    shard(&path("june"), "3", &path("shards")).succeeded();
    assert_equal(&path("shards"), &path("june"), "made again");
    // Links to shards work too.
    fs::rename(&second, path("elsewhere")).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(path("elsewhere"), &second).unwrap();
        assert_equal(&path("shards"), &path("june"), "a link");
    }
}

/// A killed shard is repeated by the same command while another shard is being made.
#[test]
fn a_killed_merge_of_a_shard_is_begun_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    Dump::annotated(12_000)
        .write_to(&path("games"), |_| {})
        .unwrap();
    build(&[&path("games")], &path("whole")).succeeded();
    let datasets = [path("whole")];
    let start = |shard: &str| {
        let mut command = merging(&datasets, &path("shards"));
        command.args(["--shard", shard]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    let mut first = start("1/2");
    for step in 1..=5 {
        let mut child = start("2/2");
        thread::sleep(Duration::from_millis(8 * step));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(first.wait().unwrap().success());
    assert!(start("2/2").wait().unwrap().success());
    assert_equal(&path("shards"), &path("whole"), "killed");
    assert!(!path("shards/2.dataset/spill").exists());
}

/// Sharding resumes with the same command after a kill.
#[test]
fn killed_sharding_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut killed = 0;
    for delay in (0..).map(|step| Duration::from_millis(5 + 20 * step)) {
        let mut command = sharding(&GAMES, "4", &path("shards"));
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
    assert_equal(&path("shards"), &GAMES, "killed");
    for number in 1..=4 {
        let spill = path("shards").join(format!("{number}.dataset/spill"));
        assert!(!spill.exists());
    }
}

/// JSON cannot hold such names; printing must not fail after the work.
#[cfg(unix)]
#[test]
fn prints_non_unicode_names_in_json() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = tempfile::tempdir().unwrap();
    let [dataset, shards] =
        [&b"\xff"[..], b"\xfe"].map(|name| folder.path().join(OsStr::from_bytes(name)));
    let mut building = program("ingest");
    building
        .arg("build")
        .arg(sample(JUNE))
        .args(["--json", "--out"]);
    let mut cutting = program("ingest");
    cutting.arg("shard").arg(&dataset);
    cutting
        .args(["--number", "2", "--json", "--out"])
        .arg(&shards);
    for command in [building.arg(&dataset), &mut cutting] {
        let said = run(command).succeeded();
        let json: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        assert!(json.to_string().contains('\u{fffd}'), "{}", said.out);
    }
}
