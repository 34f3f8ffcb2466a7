//! What `ingest build` does to the folder that it is given: it uses none that
//! holds something else, and takes away only what it made itself.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tests::server::BreakingServer;
use tests::{Said, build, contents, program, run, sample, skip, stats};

const JUNE: &str = "dump_2026-06_annotated500.pgn.zst";
const OLD: &str = "dump_2013-02_rewritten2551.pgn.zst";

const UNREADABLE: i32 = 3;
const DAMAGED: i32 = 4;
const DATASET_REFUSED: i32 = 5;
const UNWRITABLE: i32 = 7;

/// Everything in a folder: what each path is, and what is in it.
fn tree(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        let what = if metadata.is_symlink() {
            format!("a link to {}", fs::read_link(&path).unwrap().display())
        } else if metadata.is_dir() {
            found.extend(tree(&path));
            "a folder".to_string()
        } else {
            let mut hasher = DefaultHasher::new();
            fs::read(&path).unwrap().hash(&mut hasher);
            format!("{} bytes {:x}", metadata.len(), hasher.finish())
        };
        found.insert(path, what);
    }
    found
}

/// `ingest build - --out FOLDER`, of nothing at all.
fn build_of_nothing(out: &Path) -> Said {
    let mut command = program("ingest");
    command.args(["build", "-", "--out"]).arg(out);
    run(command.stdin(Stdio::null()))
}

/// Nothing may change in the folder, whatever is to be built in it.
fn assert_refused(folder: &Path, out: &Path, word: &str) {
    let before = tree(folder);
    let server = BreakingServer::start(Vec::new(), 0);
    server.set_missing(true);
    for said in [
        build_of_nothing(out),
        build(&[Path::new(&server.url)], out),
        build(&[&sample(JUNE)], out),
    ] {
        said.failed(DATASET_REFUSED, &[&out.to_string_lossy(), word]);
        assert_eq!(tree(folder), before);
    }
}

/// `~/games` with one file in it, by all names that are near to those of a
/// dataset's own files.
#[test]
fn a_folder_that_holds_something_else_stays_as_it_is() {
    for name in [
        "LOGS/a.txt",
        "LOG/a.txt",
        "LOG",
        "LOGS",
        "LOG.old.1/nested/deeper/a.txt",
        "LOCKED",
        "LOCK",
        "IDENTITY.txt",
        "IDENTITY",
        "MANIFEST-of-the-party.txt",
        "MANIFEST-000001",
        "OPTIONS-for-dinner",
        "CURRENT",
        "CURRENT/a.txt",
        "notes.dbtmp",
        "000004.log",
        "000009.sst",
        "spill/runs",
        "spill/Train-0.sst",
        "kibitz-unfinished/a.txt",
        "kibitz-unfinished",
        "kibitz-unfinished.txt",
        ".hidden",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "precious").unwrap();
        let first = name.split('/').next().unwrap();
        assert_refused(folder.path(), folder.path(), first);
    }
}

/// Another program's RocksDB is opened by nobody but that program.
#[test]
fn another_programs_database_stays_as_it_is() {
    for families in [&[][..], &["meta"], &["meta", "train.0"]] {
        let folder = tempfile::tempdir().unwrap();
        let mut options = rocksdb::Options::default();
        options.create_if_missing(true);
        options.create_missing_column_families(true);
        let db = rocksdb::DB::open_cf(&options, folder.path(), families).unwrap();
        db.put("key", "value").unwrap();
        for family in families {
            let family = db.cf_handle(family).unwrap();
            db.put_cf(family, "key", "value").unwrap();
        }
        drop(db);
        assert_refused(folder.path(), folder.path(), "not a Kibitz dataset");
    }
}

#[test]
fn links_are_followed_and_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("target")).unwrap();
    symlink("target", path("link")).unwrap();
    let before = tree(folder.path());
    build_of_nothing(&path("link")).failed(DAMAGED, &["empty"]);
    assert_eq!(tree(folder.path()), before);
    build(&[&sample(JUNE)], &path("link")).succeeded();
    assert_eq!(stats(&path("target"))["games"], 500);
    assert!(fs::symlink_metadata(path("link")).unwrap().is_symlink());

    // To a folder of something else, to nothing, to a file; and in the folder.
    fs::create_dir(path("games")).unwrap();
    fs::write(path("games/a.pgn"), "precious").unwrap();
    symlink("games", path("to games")).unwrap();
    symlink("nothing", path("to nothing")).unwrap();
    symlink("games/a.pgn", path("to a file")).unwrap();
    fs::create_dir(path("links")).unwrap();
    symlink("../games/a.pgn", path("links/LOG")).unwrap();
    assert_refused(folder.path(), &path("to games"), "a.pgn");
    assert_refused(folder.path(), &path("to nothing"), "not a folder");
    assert_refused(folder.path(), &path("to a file"), "not a folder");
    assert_refused(folder.path(), &path("games/a.pgn"), "not a folder");
    assert_refused(folder.path(), &path("links"), "LOG");
}

/// Within a dataset too, nothing is followed that a build has not made.
#[test]
fn links_in_a_dataset_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    build(&[&sample(OLD)], &path("dataset")).succeeded();
    fs::create_dir(path("precious")).unwrap();
    fs::write(path("precious/runs"), "precious").unwrap();
    fs::write(path("precious/Train-0.sst"), "precious").unwrap();
    let before = tree(&path("precious"));
    symlink("../precious", path("dataset/spill")).unwrap();
    let words = ["dataset/spill/runs", "not a folder made by a build"];
    build(&[&sample(JUNE)], &path("dataset")).failed(UNWRITABLE, &words);
    fs::remove_file(path("dataset/spill")).unwrap();
    fs::create_dir(path("dataset/spill")).unwrap();
    symlink("../../precious/runs", path("dataset/spill/runs")).unwrap();
    let words = ["dataset/spill/runs", "not a file made by a build"];
    build(&[&sample(JUNE)], &path("dataset")).failed(UNWRITABLE, &words);
    assert_eq!(tree(&path("precious")), before);
    fs::remove_file(path("dataset/spill/runs")).unwrap();
    build(&[&sample(JUNE)], &path("dataset")).succeeded();
    assert_eq!(tree(&path("precious")), before);
}

/// What is put into a dataset's folders is not a build's to remove.
#[test]
fn files_of_others_in_a_dataset_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    build(&[&sample(OLD)], &path("dataset")).succeeded();
    for file in ["notes.txt", "spill/notes.txt", "spill/more/notes.txt"] {
        let file = path("dataset").join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "precious").unwrap();
    }
    build(&[&sample(JUNE)], &path("dataset")).succeeded();
    for file in ["notes.txt", "spill/notes.txt", "spill/more/notes.txt"] {
        assert_eq!(fs::read(path("dataset").join(file)).unwrap(), b"precious");
    }
    assert_eq!(stats(&path("dataset"))["games"], 3051);
}

#[test]
fn a_build_that_comes_to_nothing_leaves_things_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("empty")).unwrap();
    let before = tree(folder.path());
    let server = BreakingServer::start(Vec::new(), 0);
    server.set_missing(true);
    for out in ["empty", "new", "new/in/new", "new/../other"] {
        build_of_nothing(&path(out)).failed(DAMAGED, &["empty"]);
        assert_eq!(tree(folder.path()), before, "{out}");
        let url = Path::new(&server.url);
        build(&[url], &path(out)).failed(UNREADABLE, &["404"]);
        assert_eq!(tree(folder.path()), before, "{out}");
    }
}

/// What comes into a folder while a build is at work stays, and the folder
/// with it.
#[test]
fn what_comes_in_meanwhile_stays() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("dataset");
    let mut command = program("ingest");
    command.args(["build", "-", "--out"]).arg(&out);
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    while !out.join("spill/runs").exists() {
        sleep(Duration::from_millis(5));
    }
    for name in ["LOGS", "my.log", "spill/notes.txt"] {
        fs::write(out.join(name), "precious").unwrap();
    }
    drop(child.stdin.take());
    Said::from(child.wait_with_output().unwrap()).failed(DAMAGED, &["empty"]);
    let found: Vec<PathBuf> = tree(&out).into_keys().collect();
    let expected = ["LOGS", "my.log", "spill", "spill/notes.txt"].map(|name| out.join(name));
    assert_eq!(found, expected);
}

/// The same command, as somebody who may not write everywhere. `None` if there
/// is no way to be that.
fn unprivileged(command: &Command) -> Option<Command> {
    let readonly = tempfile::tempdir().unwrap();
    fs::set_permissions(readonly.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let may_write = |mkdir: &mut Command| {
        let probe = readonly.path().join("probe");
        run(mkdir.arg(&probe)).code == Some(0) && fs::remove_dir(probe).is_ok()
    };
    let mut plain = Command::new(command.get_program());
    plain.args(command.get_args());
    if !may_write(&mut Command::new("mkdir")) {
        return Some(plain);
    }
    // Root, but for what lets it write everywhere.
    let without = ["--bounding-set=-dac_override,-dac_read_search", "--"];
    let mut limited = Command::new("setpriv");
    if run(limited.args(without).arg("true")).code != Some(0) {
        skip("folders without write permission: root, and setpriv does not work");
        return None;
    }
    let mut mkdir = Command::new("setpriv");
    assert!(!may_write(mkdir.args(without).arg("mkdir")));
    let mut limited = Command::new("setpriv");
    limited.args(without).arg(command.get_program());
    limited.args(command.get_args());
    Some(limited)
}

#[test]
fn a_folder_without_write_permission_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    build(&[&sample(OLD)], &path("dataset")).succeeded();
    fs::create_dir(path("readonly")).unwrap();
    let before = tree(folder.path());
    for name in ["readonly", "dataset"] {
        fs::set_permissions(path(name), fs::Permissions::from_mode(0o555)).unwrap();
    }
    for (out, word) in [
        ("readonly", "readonly: "),
        ("readonly/new", "readonly/new: "),
        ("readonly/new/in/new", "readonly/new/in/new: "),
    ] {
        let mut command = program("ingest");
        command.arg("build").arg(sample(JUNE)).arg("--out");
        let Some(mut command) = unprivileged(command.arg(path(out))) else {
            return;
        };
        let said = run(&mut command).failed(UNWRITABLE, &[word, "Permission denied"]);
        assert!(!said.err.contains("make room"), "{}", said.err);
        assert_eq!(tree(folder.path()), before, "{out}");
    }
    let mut command = program("ingest");
    command.arg("build").arg(sample(JUNE)).arg("--out");
    let command = unprivileged(command.arg(path("dataset")));
    let said = run(&mut command.unwrap()).failed(UNREADABLE, &["dataset: ", "Permission denied"]);
    assert!(!said.err.contains("not a Kibitz dataset"), "{}", said.err);
    assert_eq!(tree(folder.path()), before);
}

/// Kills builds at moments of their start, again and again on the same folder.
/// Whatever they left, the same command makes the dataset.
#[test]
fn kill_9_while_a_build_starts_changes_nothing() {
    const KILLS: u32 = 60;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let source = sample(OLD);
    let begin = |out: &Path| {
        let mut command = program("ingest");
        command.args(["build", "-", "--out"]).arg(out);
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        command.stderr(Stdio::null()).spawn().unwrap()
    };
    build(&[&source], &path("clean")).succeeded();
    // How long a start takes.
    let started = Instant::now();
    let mut child = begin(&path("first"));
    while !path("first/spill/runs").exists() {
        sleep(Duration::from_micros(100));
    }
    let longest = started.elapsed();
    child.kill().unwrap();
    child.wait().unwrap();
    let mut states = BTreeMap::new();
    for kill in 0..KILLS {
        let out = path(&format!("{}", kill / 4));
        let mut child = begin(&out);
        sleep(longest.mul_f64(f64::from(kill * 37 % KILLS) / f64::from(KILLS)));
        child.kill().unwrap();
        child.wait().unwrap();
        let state = match out.is_dir() {
            false => "no folder",
            true if !out.join("kibitz-unfinished").exists() => "no marker",
            true if !out.join("CURRENT").exists() => "no database",
            true if !out.join("spill/runs").exists() => "a database",
            true => "all",
        };
        *states.entry(state).or_insert(0) += 1;
        if kill % 4 == 3 {
            build(&[&source], &out).succeeded();
            assert!(contents(&out) == contents(&path("clean")), "{states:?}");
            assert!(!out.join("kibitz-unfinished").exists());
        }
    }
    println!("killed within {longest:?}: {states:?}");
    // And one that then comes to nothing leaves nothing.
    build_of_nothing(&path("first")).failed(DAMAGED, &["empty"]);
    assert!(tree(&path("first")).is_empty());
}

/// Every file that the start of a build makes may be the last before it is
/// killed.
#[test]
fn whatever_a_killed_start_has_left_is_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let source = sample(OLD);
    build(&[&source], &path("clean")).succeeded();
    let expected = contents(&path("clean"));
    for (number, left) in [
        &["kibitz-unfinished"][..],
        &["kibitz-unfinished", "LOG", "LOCK"],
        &["kibitz-unfinished", "LOG", "LOCK", "000000.dbtmp"],
        &[
            "kibitz-unfinished",
            "LOG",
            "LOCK",
            "IDENTITY",
            "000000.dbtmp",
        ],
        &[
            "kibitz-unfinished",
            "LOG",
            "LOCK",
            "IDENTITY",
            "MANIFEST-000001",
        ],
        &[
            "kibitz-unfinished",
            "LOG",
            "LOCK",
            "IDENTITY",
            "MANIFEST-000001",
            "000001.dbtmp",
        ],
    ]
    .into_iter()
    .enumerate()
    {
        let out = path(&format!("{number}"));
        fs::create_dir(&out).unwrap();
        for name in left {
            fs::File::create(out.join(name)).unwrap();
        }
        build(&[&source], &out).succeeded();
        assert!(contents(&out) == expected, "{left:?}");
    }
    // A database without any of ours in it, beside the marker.
    let out = path("database");
    fs::create_dir(&out).unwrap();
    fs::File::create(out.join("kibitz-unfinished")).unwrap();
    let mut options = rocksdb::Options::default();
    options.create_if_missing(true);
    drop(rocksdb::DB::open(&options, &out).unwrap());
    build(&[&source], &out).succeeded();
    assert!(contents(&out) == expected);
    // Killed between sealing and the marker's removal.
    fs::File::create(out.join("kibitz-unfinished")).unwrap();
    build(&[&source], &out).succeeded();
    assert!(contents(&out) == expected);
    assert!(!out.join("kibitz-unfinished").exists());
    fs::File::create(out.join("kibitz-unfinished")).unwrap();
    build_of_nothing(&out).failed(DAMAGED, &["empty"]);
    assert!(contents(&out) == expected);
}

/// Builds that an earlier version has left unfinished have no marker.
#[test]
fn an_unfinished_build_without_a_marker_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut command = program("ingest");
    command.args(["build", "-", "--out"]).arg(path("a"));
    command.stdin(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let bytes = fs::read(sample(JUNE)).unwrap();
    let input = child.stdin.as_mut().unwrap();
    input.write_all(&bytes[..bytes.len() / 2]).unwrap();
    while !path("a/spill/runs").exists() {
        sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    fs::remove_file(path("a/kibitz-unfinished")).unwrap();
    // What it has in it is not known for certain, and stays.
    build_of_nothing(&path("a")).failed(DAMAGED, &["empty"]);
    assert!(path("a/CURRENT").exists());
    build(&[&sample(JUNE)], &path("a")).succeeded();
    build(&[&sample(JUNE)], &path("b")).succeeded();
    assert!(contents(&path("a")) == contents(&path("b")));
}
