//! `ingest copy`: datasets are copied to S3 and back completely, or not at all.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tests::objects::{S3Server, StallingProxy};
use tests::{both_sides, build, contents, merge, run, sample, shard};

const JUNE: &str = "dump_2026-06_annotated500.pgn.zst";
const OLD: &str = "dump_2013-02_rewritten2551.pgn.zst";

const USAGE: i32 = 2;
const MISSING: i32 = 3;
const REFUSED: i32 = 5;

/// Copies with `--json`; returns the number of files, and of those already there.
fn copied(server: &S3Server, from: &str, to: &str) -> [u64; 2] {
    let said = server.run(&["copy", from, to, "--json"]).succeeded();
    let report: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(report["to"], to);
    ["files", "files_there"].map(|name| report[name].as_u64().unwrap())
}

/// Returns the sorted names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
#[ignore = "of tests/rare.sh"]
fn a_dataset_goes_to_s3_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let text = |name: &str| path(name).to_str().unwrap().to_string();
    build(&[&sample(JUNE)], &path("d")).succeeded();
    let Some(server) = S3Server::start(&[]) else {
        return;
    };
    let url = "s3://games/sets of é+/june";
    let [files, there] = copied(&server, &text("d"), url);
    assert!(files > 4 && there == 0, "{files}, {there}");
    fs::create_dir(path("back")).unwrap();
    assert_eq!(copied(&server, url, &text("back/")), [files, 0]);
    assert!(contents(&path("back")) == contents(&path("d")));
    assert!(!names(&path("back")).contains(&"kibitz-dataset.json".to_string()));
    assert_eq!(names(folder.path()), ["back", "d"]);

    // A repeated copy changes nothing, wherever the same dataset was built.
    assert_eq!(copied(&server, url, &text("back")), [files, files]);
    build(&[&sample(JUNE)], &path("again")).succeeded();
    assert_eq!(copied(&server, &text("again"), url), [files, files]);

    // The copy can be built on and merged like any dataset.
    build(&[&sample(OLD)], &path("old")).succeeded();
    let merged = path("merged");
    merge(&[path("back"), path("old")], &merged).succeeded();
    build(&[&sample(OLD)], &path("back")).succeeded();
    assert!(both_sides(&merged) == both_sides(&path("back")));

    // Another dataset does not replace it on either side.
    let another = ["another dataset is there already"];
    let refused = |from: &str, to: &str| server.run(&["copy", from, to]).failed(REFUSED, &another);
    refused(&text("old"), url);
    refused(url, &text("old"));
    assert_eq!(copied(&server, &text("again"), url), [files, files]);
}

#[test]
#[ignore = "of tests/rare.sh"]
fn shards_are_copied_together_and_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let text = |name: &str| path(name).to_str().unwrap().to_string();
    build(&[&sample(JUNE)], &path("whole")).succeeded();
    shard(&path("whole"), "2", &path("shards")).succeeded();
    let Some(server) = S3Server::start(&[]) else {
        return;
    };
    copied(&server, &text("shards"), "s3://games/shards");
    copied(&server, "s3://games/shards", &text("back"));
    assert_eq!(names(&path("back")), ["1.dataset", "2.dataset"]);
    assert!(both_sides(&path("back")) == both_sides(&path("whole")));
    for shard in ["1.dataset", "2.dataset"] {
        let url = format!("s3://games/apart/{shard}");
        copied(&server, &text(&format!("shards/{shard}")), &url);
        copied(&server, &url, &text(&format!("apart/{shard}")));
    }
    assert!(both_sides(&path("apart")) == both_sides(&path("whole")));
}

/// Starts a copy through a proxy and kills it once the proxy stalls.
fn kill_on_the_way(server: &S3Server, from: &str, to: &str, most: u64) {
    let proxy = StallingProxy::start(&server.endpoint, most);
    let mut command = server.command(&["copy", from, to]);
    command.env("AWS_ENDPOINT_URL", &proxy.endpoint);
    let mut copying = command.stderr(Stdio::null()).spawn().unwrap();
    while !proxy.has_stalled() {
        assert!(copying.try_wait().unwrap().is_none(), "it ended before");
        thread::sleep(Duration::from_millis(10));
    }
    // Give other connections time to finish.
    thread::sleep(Duration::from_millis(300));
    assert!(copying.try_wait().unwrap().is_none(), "it ended before");
    copying.kill().unwrap();
    copying.wait().unwrap();
}

#[test]
#[ignore = "of tests/rare.sh"]
fn a_copy_that_is_killed_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let text = |name: &str| path(name).to_str().unwrap().to_string();
    build(&[&sample(JUNE)], &path("whole")).succeeded();
    shard(&path("whole"), "8", &path("shards")).succeeded();
    let Some(server) = S3Server::start(&[]) else {
        return;
    };
    let url = "s3://games/june";
    let half = folder_bytes(&path("shards")) / 2;
    kill_on_the_way(&server, &text("shards"), url, half);
    let half_there = ["s3://games/june", "no dataset, or not all of one"];
    let back = text("back");
    server
        .run(&["copy", url, &back])
        .failed(MISSING, &half_there);
    assert!(!path("back").exists() && !path("back.part").exists());
    let [files, there] = copied(&server, &text("shards"), url);
    assert!(0 < there && there < files, "{there} of {files}");

    kill_on_the_way(&server, url, &back, half);
    assert!(!path("back").exists());
    // Only the same copy may use the partial folder.
    copied(&server, &text("whole"), "s3://games/whole");
    let other = ["an unfinished copy of another dataset is there already"];
    server
        .run(&["copy", "s3://games/whole", &back])
        .failed(REFUSED, &other);
    let [files, there] = copied(&server, url, &back);
    assert!(0 < there && there < files, "{there} of {files}");
    assert!(!path("back.part").exists());
    assert!(both_sides(&path("back")) == both_sides(&path("whole")));
}

fn folder_bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let bytes = |entry: fs::DirEntry| match entry.metadata().unwrap() {
        metadata if metadata.is_dir() => folder_bytes(&entry.path()),
        metadata => metadata.len(),
    };
    entries.map(bytes).sum()
}

#[test]
#[ignore = "of tests/rare.sh"]
fn a_damaged_copy_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let text = |name: &str| path(name).to_str().unwrap().to_string();
    build(&[&sample(OLD)], &path("d")).succeeded();
    let Some(mut server) = S3Server::start(&[]) else {
        return;
    };
    copied(&server, &text("d"), "s3://games/d");
    server.damage("d/CURRENT");
    let words = ["s3://games/d/CURRENT", "not the bytes"];
    let copy = ["copy", "s3://games/d", &text("back")];
    server.run(&copy).failed(REFUSED, &words);
    assert!(!path("back").exists());
    server.damage("d/kibitz-dataset.json");
    let words = ["s3://games/d/kibitz-dataset.json", "corrupt"];
    server.run(&copy).failed(REFUSED, &words);
}

#[test]
#[ignore = "of tests/rare.sh"]
fn reports_impossible_copies() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    let text = |name: &str| path(name).to_str().unwrap().to_string();
    build(&[&sample(OLD)], &path("d")).succeeded();
    fs::create_dir(path("mine")).unwrap();
    fs::write(path("mine/notes"), "notes").unwrap();
    let Some(server) = S3Server::start(&[]) else {
        return;
    };
    let (d, url) = (text("d"), "s3://games/d");
    let copy = |from: &str, to: &str| server.command(&["copy", from, to]);
    let failed = |command: &mut Command, code: i32, words: &[&str]| {
        run(command).failed(code, words);
    };
    let nowhere = "s3://nowhere/d";
    let no_bucket = ["s3://nowhere/d", "NoSuchBucket", "make the bucket"];
    failed(&mut copy(&d, nowhere), MISSING, &no_bucket);
    failed(&mut copy(nowhere, &text("new")), MISSING, &no_bucket);
    let mut wrong = copy(&d, url);
    let words = ["s3://games/d", "403", "check AWS_ACCESS_KEY_ID"];
    failed(wrong.env("AWS_SECRET_ACCESS_KEY", "wrong"), MISSING, &words);
    let mut closed = copy(&d, url);
    closed.env("AWS_ENDPOINT_URL", "http://127.0.0.1:9");
    failed(&mut closed, MISSING, &["s3://games/d", "refused"]);
    failed(&mut copy(&text("none"), url), MISSING, &["none"]);
    failed(
        &mut copy(&text("mine"), url),
        REFUSED,
        &["not a Kibitz dataset"],
    );
    let not_there = ["s3://games/d", "no dataset"];
    failed(&mut copy(url, &text("new")), MISSING, &not_there);
    failed(
        &mut copy("s3://", &text("new")),
        MISSING,
        &["s3://BUCKET/KEY"],
    );
    failed(&mut copy(&d, &text("new")), USAGE, &[]);
    failed(&mut copy(url, "s3://games/e"), USAGE, &[]);
    copied(&server, &d, url);
    let in_the_way = ["something else is there already"];
    failed(&mut copy(url, &text("mine")), REFUSED, &in_the_way);
    assert_eq!(names(&path("mine")), ["notes"]);
    assert_eq!(names(folder.path()), ["d", "mine"]);

    // Commands that need a folder name `ingest copy`.
    let june = sample(JUNE);
    for arguments in [
        &["stats", url][..],
        &["merge", url, "--out", &text("new")],
        &["build", june.to_str().unwrap(), "--out", url],
        &["merge", &d, "--out", url],
        &["shard", &d, "--number", "2", "--out", url],
    ] {
        let mut command = server.command(arguments);
        command.current_dir(folder.path());
        failed(&mut command, USAGE, &["s3://games/d", "ingest copy"]);
    }
    assert_eq!(names(folder.path()), ["d", "mine"]);
}
