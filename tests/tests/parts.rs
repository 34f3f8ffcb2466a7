//! Parts of dumps, and whole datasets, built apart and merged, give the dataset of one build.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use datasets::{Dataset, Manifest};
use tests::dump::Dump;
use tests::exit::{DAMAGED, MISSING, REFUSED, USAGE};
use tests::pzstd::framed;
use tests::server::BreakingServer;
use tests::{
    Said, both_sides, build, contents, merge, merging, program, real_dumps, run, sample, stats,
    text_of,
};

const JUNE: &str = "dump_2026-06_annotated500.pgn.zst";
const OCTOBER: &str = "dump_2021-10_first499.pgn.zst";
const OLD: &str = "dump_2013-02_rewritten2551.pgn.zst";
const BLITZ: &str = "rebuilt_2026-06_blitz676.pgn.zst";

/// Bytes read to detect a format.
const PIECE_BYTES: u64 = 1 << 20;

/// Granularity of part boundaries in bytes.
const LEAF_BYTES: u64 = 1 << 14;

fn build_part(source: &Path, part: &str, dataset: &Path) -> Said {
    run(program("ingest")
        .arg("build")
        .arg(source)
        .args(["--part", part, "--out"])
        .arg(dataset))
}

/// Builds all parts of a source separately; calls `look` with each part's result.
fn build_parts<const N: usize>(
    source: &Path,
    folder: &Path,
    mut look: impl FnMut(usize, &Path, Said),
) -> [PathBuf; N] {
    std::array::from_fn(|index| {
        let part = index + 1;
        let dataset = folder.join(format!("part {part}"));
        let said = build_part(source, &format!("{part}/{N}"), &dataset);
        look(part, &dataset, said);
        dataset
    })
}

/// Returns the manifest of a dataset.
fn manifest(dataset: &Path) -> Manifest {
    Dataset::open(dataset).unwrap().manifest().clone()
}

fn assert_equal(dataset: &Path, whole: &Path, what: &str) {
    assert_eq!(manifest(dataset), manifest(whole), "{what}");
    assert!(contents(dataset) == contents(whole), "{what}");
}

/// Compresses a sample in small frames, so that many games span two of them.
fn write_framed(name: &str, to: &Path) {
    let text = text_of(&sample(name));
    fs::write(to, framed(text.as_bytes(), 100_000)).unwrap();
}

#[test]
fn parts_of_a_dump_merge_to_the_dump() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let source = path("games.pgn.zst");
    write_framed(JUNE, &source);
    build(&[&source], &path("whole")).succeeded();
    let mut games = Vec::new();
    let parts: [PathBuf; 3] = build_parts(&source, folder.path(), |_, dataset, said| {
        let said = said.succeeded();
        assert!(said.out.contains("other parts are missing"), "{}", said.out);
        games.push(stats(dataset)["games"].as_u64().unwrap());
    });
    assert_eq!(games.iter().sum::<u64>(), 500);
    assert!(games.iter().all(|&games| games > 100), "{games:?}");
    let said = merge(&[2, 0, 1].map(|i| parts[i].clone()), &path("merged")).succeeded();
    assert!(!said.out.contains("missing"), "{}", said.out);
    assert_equal(&path("merged"), &path("whole"), "three parts");

    // A repeated part, or the source after all its parts, changes nothing.
    for command in [merging(&parts[1..2], &path("merged")), {
        let mut command = program("ingest");
        command
            .arg("build")
            .arg(&source)
            .arg("--out")
            .arg(path("merged"));
        command
    }] {
        let said = run(&mut { command }).succeeded();
        assert!(said.err.contains("already"), "{}", said.err);
        assert_equal(&path("merged"), &path("whole"), "again");
    }
    // The whole file may also follow some of its parts.
    build(&[&source], &parts[0]).succeeded();
    assert_eq!(stats(&parts[0])["games"], 500);
    assert!(both_sides(&parts[0]) == both_sides(&path("whole")));
    // Parts from different numbers of parts do not fit.
    let words = ["games.pgn.zst", "overlap", "one number of parts"];
    build_part(&source, "1/2", &parts[1]).failed(REFUSED, &words);
    build_part(&source, "1/2", &path("half")).succeeded();
    let mixed = [parts[1].clone(), path("half")];
    merge(&mixed, &path("mixed")).failed(REFUSED, &words);
    assert!(!path("mixed").exists());
    let before = contents(&parts[1]);
    merge(&[path("half")], &parts[1]).failed(REFUSED, &words);
    assert!(contents(&parts[1]) == before);
}

#[test]
fn parts_of_real_dumps_merge_to_the_dump() {
    for source in real_dumps() {
        let folder = tempfile::tempdir().unwrap();
        let whole = folder.path().join("whole");
        build(&[&source], &whole).succeeded();
        let parts: [PathBuf; 4] = build_parts(&source, folder.path(), |_, _, said| {
            said.succeeded();
        });
        let merged = folder.path().join("merged");
        merge(&parts, &merged).succeeded();
        assert_equal(&merged, &whole, &source.to_string_lossy());
    }
}

#[test]
fn parts_are_read_by_range_from_a_url() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let source = path("games");
    write_framed(JUNE, &source);
    let bytes = fs::read(&source).unwrap();
    let plain = zstd::decode_all(&bytes[..]).unwrap();
    for (name, bytes) in [("frames", bytes), ("text", plain)] {
        fs::write(&source, &bytes).unwrap();
        let whole = path(&format!("{name} whole"));
        build(&[&source], &whole).succeeded();
        let server = BreakingServer::start(bytes.clone(), bytes.len() / 5);
        let url = Path::new(&server.url);
        let parts = [1, 2, 3].map(|part| {
            let dataset = path(&format!("{name} {part}"));
            server.take_starts();
            build_part(url, &format!("{part}/3"), &dataset).succeeded();
            // Bytes before a part are not read, except the beginning of the file.
            let first = PIECE_BYTES.max(bytes.len() as u64 / 5);
            let cut = (part - 1) * bytes.len() as u64 / 3;
            let starts = server.take_starts();
            let before = |&start: &u64| start > first && start + LEAF_BYTES < cut;
            assert!(
                !starts.iter().any(before),
                "{part}: {starts:?} of {}",
                bytes.len()
            );
            assert!(starts.len() > 2, "{starts:?}");
            dataset
        });
        let merged = path(&format!("{name} merged"));
        merge(&parts, &merged).succeeded();
        assert_equal(&merged, &whole, name);
    }
    // After a lost connection the same command resumes.
    let bytes = fs::read(&source).unwrap();
    let server = BreakingServer::start(bytes.clone(), bytes.len() / 5);
    server.set_rest_missing(true);
    let dataset = path("lost");
    let url = Path::new(&server.url);
    build_part(url, "2/3", &dataset).failed(MISSING, &["run the same command again"]);
    server.set_rest_missing(false);
    build_part(url, "2/3", &dataset).succeeded();
    assert_equal(&dataset, &path("text 2"), "goes on");
}

#[test]
fn refuses_sources_without_parts_and_keeps_one_frame_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let text = text_of(&sample(JUNE));
    fs::write(path("games.pgn"), &text).unwrap();
    for tool in ["gzip", "bzip2"] {
        let packed = Command::new(tool).arg("-c").arg(path("games.pgn")).output();
        fs::write(path(tool), packed.unwrap().stdout).unwrap();
        let said = build_part(&path(tool), "2/3", &path("none"));
        said.failed(USAGE, &[tool, "beginning", "pzstd"]);
        assert!(!path("none").exists());
    }
    let mut piped = program("ingest");
    piped
        .args(["build", "-", "--part", "1/2", "--out"])
        .arg(path("none"));
    piped.stdin(fs::File::open(sample(JUNE)).unwrap());
    run(&mut piped).failed(USAGE, &["ingest: -: cannot be read in parts", "pipe"]);
    assert!(!path("none").exists());
    build_part(&sample(JUNE), "3/2", &path("none")).failed(USAGE, &[]);

    let single = path("single.pgn.zst");
    fs::write(&single, zstd::encode_all(text.as_bytes(), 3).unwrap()).unwrap();
    build(&[&single], &path("whole")).succeeded();
    let parts: [PathBuf; 2] = build_parts(&single, folder.path(), |part, _, said| {
        let said = said.succeeded();
        assert_eq!(said.err.contains("empty"), part == 2, "{}", said.err);
    });
    assert_eq!(stats(&parts[1])["games"], 0);
    merge(&parts, &path("merged")).succeeded();
    assert_equal(&path("merged"), &path("whole"), "one frame");
}

/// Damage in a part is reported by its build and kept by the merge.
#[test]
fn damaged_parts_merge_to_the_damaged_dump() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let source = path("games.pgn.zst");
    write_framed(OLD, &source);
    let mut bytes = fs::read(&source).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 9].fill(0x55);
    bytes.truncate(bytes.len() - 99);
    fs::write(&source, bytes).unwrap();
    build(&[&source], &path("whole")).failed(DAMAGED, &["games.pgn.zst"]);
    let mut damaged = 0;
    let parts: [PathBuf; 5] = build_parts(&source, folder.path(), |_, _, said| {
        damaged += usize::from(said.code == Some(DAMAGED));
    });
    assert_eq!(damaged, 2);
    merge(&parts, &path("merged")).succeeded();
    assert_equal(&path("merged"), &path("whole"), "damaged");
}

/// The repaired file has the size and beginning of the damaged one.
#[test]
fn a_part_of_a_mended_file_is_built() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let source = path("games.pgn.zst");
    let good = fs::read(sample(JUNE)).unwrap();
    let mut bad = good.clone();
    bad[100_000..100_064]
        .iter_mut()
        .for_each(|byte| *byte ^= 0xFF);
    fs::write(&source, &bad).unwrap();
    let part = path("part 1");
    // Damage is reported each time.
    build_part(&source, "1/2", &part).failed(DAMAGED, &["games.pgn.zst"]);
    build_part(&source, "1/2", &part).failed(DAMAGED, &["games.pgn.zst"]);
    assert_eq!(manifest(&part).sources.len(), 1);
    fs::write(&source, &good).unwrap();
    let said = build_part(&source, "1/2", &part).succeeded();
    assert!(!said.err.contains("already"), "{}", said.err);
    assert!(
        said.out.contains("as long and begins alike"),
        "{}",
        said.out
    );
    let said = build_part(&source, "1/2", &part).succeeded();
    assert!(said.err.contains("already"), "{}", said.err);
    build_part(&source, "2/2", &path("part 2")).succeeded();
    let merged = path("merged");
    merge(&[part, path("part 2")], &merged).succeeded();
    build(&[&source], &path("whole")).succeeded();
    assert!(both_sides(&merged) == both_sides(&path("whole")));
    assert_eq!(manifest(&merged).sources.len(), 2);
    let sources = &manifest(&path("whole")).sources;
    assert!(manifest(&merged).sources.contains(&sources[0]));
}

#[test]
fn a_file_with_two_names_gives_one_manifest_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let names = ["a.pgn.zst", "b.pgn.zst"].map(path);
    for name in &names {
        fs::copy(sample(JUNE), name).unwrap();
    }
    let [a, b] = &names;
    build(&[a, b], &path("a b")).succeeded();
    build(&[b, a], &path("b a")).succeeded();
    for (first, then) in [(a, b), (b, a)] {
        let dataset = path("one by one");
        build(&[first], &dataset).succeeded();
        let said = build(&[then], &dataset).succeeded();
        assert!(said.err.contains("already"), "{}", said.err);
        assert_equal(&dataset, &path("a b"), "one by one");
        fs::remove_dir_all(dataset).unwrap();
    }
    build(&[b], &path("b")).succeeded();
    build(&[a], &path("a")).succeeded();
    merge(&[path("b"), path("a")], &path("merged")).succeeded();
    merge(&[path("a")], &path("b")).succeeded();
    for dataset in ["b a", "merged", "b"] {
        assert_equal(&path(dataset), &path("a b"), dataset);
    }
}

#[test]
fn datasets_merge_to_one_build_of_all_sources_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let sources = [JUNE, OCTOBER, OLD, BLITZ].map(sample);
    let all: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    build(&all, &path("whole")).succeeded();
    let apart: Vec<PathBuf> = sources
        .iter()
        .enumerate()
        .map(|(i, source)| {
            let dataset = path(&i.to_string());
            build(&[source], &dataset).succeeded();
            dataset
        })
        .collect();
    // Positions that one dataset trains on and another holds out are left out of validation, though
    // neither dataset has them on both sides.
    let both = |dataset: &Path| manifest(dataset).counts.seen_on_both_sides;
    let apart_both: u64 = apart.iter().map(|dataset| both(dataset)).sum();
    assert!(both(&path("whole")) > apart_both);
    for (i, order) in [[0, 1, 2, 3], [3, 1, 0, 2], [2, 3, 1, 0]]
        .iter()
        .enumerate()
    {
        let merged = path(&format!("merged {i}"));
        merge(&order.map(|i| apart[i].clone()), &merged).succeeded();
        assert_equal(&merged, &path("whole"), &format!("{order:?}"));
    }
    // Merge into an existing dataset.
    merge(&apart[1..], &apart[0]).succeeded();
    assert!(both_sides(&apart[0]) == both_sides(&path("whole")));
    assert_eq!(
        manifest(&apart[0]).fingerprint,
        manifest(&path("whole")).fingerprint
    );
}

#[test]
fn other_filters_and_versions_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    build(&[&sample(JUNE)], &path("june")).succeeded();
    let mut quiet = program("ingest");
    quiet
        .arg("build")
        .arg(sample(OCTOBER))
        .args(["--keep", "quiet"]);
    run(quiet.arg("--out").arg(path("october"))).succeeded();
    let both = [path("june"), path("october")];
    let words = ["october: made with other filters", "june", "quiet"];
    merge(&both, &path("out")).failed(REFUSED, &words);
    assert!(!path("out").exists());
    let words = ["october", "other filters", "quiet"];
    merge(&both[..1], &both[1]).failed(REFUSED, &words);
    merge(&[path("june"), path("nowhere")], &path("out")).failed(MISSING, &["nowhere"]);
    fs::create_dir(path("empty")).unwrap();
    merge(&[path("empty")], &path("out")).failed(REFUSED, &["empty", "not a Kibitz dataset"]);
}

/// A killed merge leaves its output unchanged, and the same command merges.
#[test]
fn a_killed_merge_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let source = path("games.pgn.zst");
    Dump::annotated(6_000).write_to(&source, |_| {}).unwrap();
    build(&[&source], &path("whole")).succeeded();
    let parts: [PathBuf; 3] = build_parts(&source, folder.path(), |_, _, said| {
        said.succeeded();
    });
    build(&[&sample(JUNE)], &path("before")).succeeded();
    let before = manifest(&path("before"));
    build(&[&sample(JUNE), &source], &path("both")).succeeded();
    for (out, whole) in [("new", "whole"), ("before", "both")] {
        let (out, whole) = (path(out), path(whole));
        let after = manifest(&whole).fingerprint;
        let mut killed = 0;
        for delay in (0..).map(|step| Duration::from_millis(10 + 15 * step)) {
            let mut command = merging(&parts, &out);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = command.spawn().unwrap();
            thread::sleep(delay);
            let ended = child.try_wait().unwrap();
            child.kill().unwrap();
            child.wait().unwrap();
            match Dataset::open(&out) {
                Ok(dataset) if dataset.fingerprint() == after => {}
                Ok(dataset) => assert_eq!(*dataset.manifest(), before),
                Err(_) => assert!(out == path("new")),
            }
            if let Some(status) = ended {
                assert!(status.success());
                break;
            }
            killed += 1;
        }
        assert!(killed > 3, "{killed}");
        merge(&parts, &out).succeeded();
        assert!(both_sides(&out) == both_sides(&whole));
        assert_eq!(manifest(&out).fingerprint, after);
        assert_eq!(manifest(&out).sources, manifest(&whole).sources);
        assert!(!out.join("spill").exists());
    }
}
