//! Parts of a source, annotated apart and joined, give the same file as annotating the whole.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tests::annotated::{SPECIAL, unannotated};
use tests::exit::{DAMAGED, MISSING, REFUSED, USAGE};
use tests::pzstd::framed;
use tests::server::BreakingServer;
use tests::{Said, program, real_dumps, run, sample, text_of};

const OCTOBER: &str = "dump_2021-10_first499.pgn.zst";

/// Returns an `ingest annotate` command that evaluates by material alone.
fn command(source: &Path, out: &Path, more: &[&str]) -> Command {
    let mut command = program("ingest");
    command.arg("annotate").arg(source).arg("--out").arg(out);
    command.args(["--net", "material", "--nodes", "1", "--hash", "1"]);
    command.args(more);
    command
}

fn annotate(source: &Path, out: &Path, more: &[&str]) -> Said {
    run(&mut command(source, out, more))
}

/// Annotates all parts of a source separately.
fn parts(source: &Path, folder: &Path, number: usize, more: &[&str]) -> Vec<PathBuf> {
    let annotated = (1..=number).map(|part| {
        let out = folder.join(format!("{part} of {number}.pgn.zst"));
        let part = format!("{part}/{number}");
        let more = [more, &["--part", &part]].concat();
        annotate(source, &out, &more).succeeded();
        out
    });
    annotated.collect()
}

fn join(parts: &[PathBuf], out: &Path) -> Said {
    let mut command = program("ingest");
    run(command.arg("join").args(parts).arg("--out").arg(out))
}

fn json_of(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}.json", path.display()))
}

fn record(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(json_of(path)).unwrap()).unwrap()
}

/// Asserts that both files, and their records of settings and counts, are equal.
fn assert_equal(joined: &Path, whole: &Path, what: &str) {
    assert!(
        fs::read(joined).unwrap() == fs::read(whole).unwrap(),
        "{what}"
    );
    let [mut joined, mut whole] = [record(joined), record(whole)];
    for record in [&mut joined, &mut whole] {
        record["done"]["source_sha256"].take();
    }
    assert_eq!(joined, whole, "{what}");
}

fn october() -> Vec<u8> {
    (text_of(&sample(OCTOBER)) + SPECIAL).into_bytes()
}

/// Size of the text of a frame: many games span two frames.
const FRAME_BYTES: usize = 100_000;

/// Few positions, for tests about the games.
const FEW: &[&str] = &["--every", "40"];

#[test]
fn parts_are_joined_to_the_whole_in_any_order() {
    let text = october();
    let one = zstd::encode_all(&text[..], 1).unwrap();
    for (what, bytes, more) in [
        ("frames", framed(&text, FRAME_BYTES), &[][..]),
        ("text", text.clone(), FEW),
        ("a frame", one, FEW),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let source = path("games");
        fs::write(&source, bytes).unwrap();
        annotate(&source, &path("whole.pgn.zst"), more).succeeded();
        annotate(&source, &path("whole.pgn"), more).succeeded();
        for number in [1, 2, 3, 9] {
            let mut parts = parts(&source, folder.path(), number, more);
            let games = |part: &PathBuf| record(part)["done"]["tally"]["games"].as_u64();
            let games: Vec<u64> = parts.iter().filter_map(games).collect();
            assert_eq!(games.iter().sum::<u64>(), 504, "{games:?}");
            if what == "a frame" {
                assert!(games[1..].iter().all(|&games| games == 0), "{games:?}");
            } else {
                assert!(games.iter().all(|&games| games > 20), "{games:?}");
            }
            let joined = path(&format!("joined {number}.pgn.zst"));
            let said = join(&parts, &joined).succeeded();
            assert!(said.out.contains("504 games"), "{}", said.out);
            let what = format!("{what}, {number} parts");
            assert_equal(&joined, &path("whole.pgn.zst"), &what);
            // The result counts as annotated in one run.
            let again = annotate(&source, &joined, more).succeeded();
            assert!(again.err.contains("finished before"), "{}", again.err);
            join(&parts, &joined).succeeded();
            parts.rotate_left(number / 2);
            parts.swap(0, number - 1);
            let plain = path(&format!("joined {number}.pgn"));
            join(&parts, &plain).succeeded();
            assert_equal(&plain, &path("whole.pgn"), &what);
        }
    }
}

/// Cuts at every position of a game: before, in or after its tags.
#[test]
fn a_part_may_begin_at_any_byte_of_a_game() {
    let game = "[Site \"y\"]\n[Event \"x\"]\n\n1. e4 *\n\n";
    let mut cut_at = HashSet::new();
    for shift in 0..=game.len() / 2 {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let first = game.replace("*", &format!("{{{}}} *", "x".repeat(shift)));
        // Parts of a small source are cut between leaves of its digest.
        cut_at.extend([1 << 14, 2 << 14].map(|cut| (cut - first.len()) % game.len()));
        fs::write(path("games"), first + &game.repeat(1300)).unwrap();
        annotate(&path("games"), &path("whole.pgn"), &[]).succeeded();
        let parts = parts(&path("games"), folder.path(), 3, &[]);
        join(&parts, &path("joined.pgn")).succeeded();
        let what = format!("shifted by {shift}");
        assert_equal(&path("joined.pgn"), &path("whole.pgn"), &what);
    }
    assert_eq!(cut_at.len(), game.len());
}

#[test]
fn parts_of_real_dumps_are_joined_to_the_dump() {
    for source in real_dumps() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        annotate(&source, &path("whole.pgn.zst"), FEW).succeeded();
        let parts = parts(&source, folder.path(), 4, FEW);
        join(&parts, &path("joined.pgn.zst")).succeeded();
        let what = source.to_string_lossy();
        assert_equal(&path("joined.pgn.zst"), &path("whole.pgn.zst"), &what);
    }
}

#[test]
fn parts_are_read_by_range_from_a_url() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let bytes = framed(&october(), FRAME_BYTES);
    fs::write(path("games"), &bytes).unwrap();
    annotate(&path("games"), &path("whole.pgn.zst"), FEW).succeeded();
    let server = BreakingServer::start(bytes.clone(), bytes.len() / 5);
    let parts = parts(Path::new(&server.url), folder.path(), 3, FEW);
    join(&parts, &path("joined.pgn.zst")).succeeded();
    assert_equal(&path("joined.pgn.zst"), &path("whole.pgn.zst"), "URL");
    // After a lost connection the same command resumes.
    server.set_rest_missing(true);
    let (url, out) = (Path::new(&server.url), path("lost.pgn.zst"));
    let more = [FEW, &["--part", "2/3"]].concat();
    annotate(url, &out, &more).failed(MISSING, &["same command"]);
    server.set_rest_missing(false);
    annotate(url, &out, &more).succeeded();
    assert_equal(&out, &parts[1], "gone on with");
}

/// A killed part resumes to the same file.
#[test]
fn a_killed_part_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let source = path("games");
    fs::write(&source, framed(&october().repeat(2), FRAME_BYTES)).unwrap();
    let more = ["--part", "2/3", "--processes", "1"];
    annotate(&source, &path("whole.pgn.zst"), &more).succeeded();
    let out = path("out.pgn.zst");
    let part = PathBuf::from(format!("{}.part", out.display()));
    let size = || fs::metadata(&part).map_or(0, |part| part.len());
    let mut resumed = 0;
    // At least two resumed runs are killed, and the last of them does not finish.
    while resumed < 2 || out.exists() {
        // Start over if a run finishes before its kill.
        if out.exists() {
            fs::remove_file(&out).unwrap();
            fs::remove_file(json_of(&out)).unwrap();
        }
        let mut command = command(&source, &out, &more);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let (mut process, before) = (command.spawn().unwrap(), size());
        while size() <= before && process.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        process.kill().unwrap();
        let said = Said::from(process.wait_with_output().unwrap());
        resumed += usize::from(said.err.contains("going on after"));
    }
    // Other settings do not resume it.
    annotate(&source, &out, &["--part", "1/3"]).failed(REFUSED, &["other settings (part"]);
    annotate(&source, &out, &[]).failed(REFUSED, &["other settings (part"]);
    annotate(&source, &out, &more).succeeded();
    assert_equal(&out, &path("whole.pgn.zst"), "killed");
}

#[test]
fn refuses_parts_that_do_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (source, other) = (path("games"), path("other"));
    let games = unannotated(100);
    for (path, text) in [(&source, &games), (&other, &SPECIAL.repeat(300))] {
        fs::write(path, framed(text.as_bytes(), 10_000)).unwrap();
    }
    let out = path("out.pgn.zst");
    let refused = |parts: &[PathBuf], words: &[&str]| {
        join(parts, &out).failed(REFUSED, words);
        assert_eq!((out.exists(), json_of(&out).exists()), (false, false));
    };
    let good = parts(&source, folder.path(), 3, &[]);
    let with = |part: PathBuf| [good[0].clone(), part, good[2].clone()];
    let made = |source: &Path, name: &str, more: &[&str]| {
        let out = path(name);
        annotate(source, &out, more).succeeded();
        out
    };
    refused(
        &good[..1],
        &["1 of 3.pgn.zst is part 1/3", "missing: 2/3, 3/3"],
    );
    refused(&with(good[0].clone()), &["part 1/3", "each part once"]);
    let two = made(&source, "two.pgn.zst", &["--part", "2/2"]);
    let words = ["two.pgn.zst: part 2/2", "1 of 3.pgn.zst is part 1/3"];
    refused(&with(two), &words);
    let words = [
        "every.pgn.zst: made with other settings",
        "1 of 3",
        "every 1, now 2",
    ];
    let every = made(&source, "every.pgn.zst", &["--part", "2/3", "--every", "2"]);
    refused(&with(every), &words);
    let foreign = made(&other, "foreign.pgn.zst", &["--part", "2/3"]);
    refused(&with(foreign), &["foreign.pgn.zst: part of another source"]);
    let whole = made(&source, "whole.pgn.zst", &[]);
    refused(&with(whole), &["whole.pgn.zst", "--part"]);
    join(&with(path("none.pgn.zst")), &out).failed(MISSING, &["none.pgn.zst"]);

    // Files changed since, or without their record.
    let changed = path("changed.pgn.zst");
    fs::copy(&good[1], &changed).unwrap();
    refused(
        &with(changed.clone()),
        &["changed.pgn.zst", "changed.pgn.zst.json is missing"],
    );
    fs::copy(json_of(&good[1]), json_of(&changed)).unwrap();
    let bytes = fs::read(&changed).unwrap();
    fs::write(&changed, &bytes[..bytes.len() - 1]).unwrap();
    refused(&with(changed.clone()), &["changed.pgn.zst", "bytes"]);
    let mut other_byte = bytes.clone();
    other_byte[bytes.len() / 2] ^= 1;
    fs::write(&changed, other_byte).unwrap();
    refused(
        &with(changed.clone()),
        &["changed.pgn.zst", "not those that were written"],
    );
    // A source that changed between its parts.
    let mut record = record(&good[1]);
    record["done"]["part"]["frames"]["start"] = 99.into();
    fs::write(&changed, bytes).unwrap();
    fs::write(json_of(&changed), record.to_string()).unwrap();
    refused(&with(changed), &["does not fit", "read the source whole"]);

    // An output that exists or was begun.
    fs::write(&out, "mine").unwrap();
    join(&good, &out).failed(REFUSED, &["out.pgn.zst", "exists already"]);
    assert_eq!(fs::read(&out).unwrap(), b"mine");

    annotate(&source, &path("none.pgn"), &["--part", "4/3"]).failed(USAGE, &[]);
    let mut both = command(&source, &path("none.pgn"), &["--part", "1/3"]);
    let said = run(both.arg(&other));
    assert!(said.code == Some(USAGE) && said.err.contains("--part takes one source"));
    fs::write(path("games.pgn"), games).unwrap();
    let mut gzip = Command::new("gzip");
    let packed = gzip.arg("-c").arg(path("games.pgn")).output().unwrap();
    fs::write(path("packed"), packed.stdout).unwrap();
    let said = annotate(&path("packed"), &path("none.pgn"), &["--part", "1/3"]);
    said.failed(USAGE, &["packed", "gzip"]);
    assert!(!path("none.pgn").exists() && !path("none.pgn.part").exists());
}

/// Damage stops only the part that contains it.
#[test]
fn reports_a_damaged_part() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut bytes = framed(&october(), FRAME_BYTES);
    let end = bytes.len() - 2000;
    bytes[end..end + 9].fill(0x55);
    fs::write(path("games"), bytes).unwrap();
    annotate(&path("games"), &path("1.pgn.zst"), &["--part", "1/2"]).succeeded();
    let said = annotate(&path("games"), &path("2.pgn.zst"), &["--part", "2/2"]);
    said.failed(DAMAGED, &["games"]);
    join(&[path("1.pgn.zst"), path("2.pgn.zst")], &path("out.pgn")).failed(MISSING, &["2.pgn.zst"]);
}
