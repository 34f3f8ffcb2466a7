//! `ingest build` uses no folder with other contents, and removes only what it made.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tests::exit::{CANNOT_WRITE, DAMAGED, MISSING, REFUSED};
use tests::server::BreakingServer;
use tests::{Said, build, contents, program, run, sample, skip, stats};

const JUNE: &str = "dump_2026-06_annotated500.pgn.zst";
const OLD: &str = "dump_2013-02_rewritten2551.pgn.zst";

/// Returns every path in a folder with its kind and a hash of its contents.
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

/// Runs `ingest build - --out FOLDER` on empty input.
fn build_of_nothing(out: &Path) -> Said {
    let mut command = program("ingest");
    command.args(["build", "-", "--out"]).arg(out);
    run(command.stdin(Stdio::null()))
}

/// Asserts that builds are refused and leave the folder unchanged.
fn assert_refused(folder: &Path, out: &Path, word: &str) {
    let before = tree(folder);
    let server = BreakingServer::start(Vec::new(), 0);
    server.set_missing(true);
    for said in [
        build_of_nothing(out),
        build(&[Path::new(&server.url)], out),
        build(&[&sample(JUNE)], out),
    ] {
        said.failed(REFUSED, &[&out.to_string_lossy(), word]);
        assert_eq!(tree(folder), before);
    }
}

/// Folders with one foreign file, whose name resembles those of a dataset.
#[test]
fn leaves_folders_with_other_files_unchanged() {
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

/// A RocksDB of another program is not opened.
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

    // Links to another folder, to nothing and to a file, and a link inside the folder.
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

/// Foreign links inside a dataset are not followed either.
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
    build(&[&sample(JUNE)], &path("dataset")).failed(CANNOT_WRITE, &words);
    fs::remove_file(path("dataset/spill")).unwrap();
    fs::create_dir(path("dataset/spill")).unwrap();
    symlink("../../precious/runs", path("dataset/spill/runs")).unwrap();
    let words = ["dataset/spill/runs", "not a file made by a build"];
    build(&[&sample(JUNE)], &path("dataset")).failed(CANNOT_WRITE, &words);
    assert_eq!(tree(&path("precious")), before);
    fs::remove_file(path("dataset/spill/runs")).unwrap();
    build(&[&sample(JUNE)], &path("dataset")).succeeded();
    assert_eq!(tree(&path("precious")), before);
}

/// Foreign files inside a dataset's folders are not removed.
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
fn a_failed_build_leaves_no_files() {
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
        build(&[url], &path(out)).failed(MISSING, &["404"]);
        assert_eq!(tree(folder.path()), before, "{out}");
    }
}

/// Files added to the folder during a build stay, and so does the folder.
#[test]
fn keeps_files_added_during_a_build() {
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

/// Returns the command as a user without write access everywhere; `None` if that is impossible.
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
    // Root without the capabilities that bypass permissions.
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
        let said = run(&mut command).failed(CANNOT_WRITE, &[word, "Permission denied"]);
        assert!(!said.err.contains("make room"), "{}", said.err);
        assert_eq!(tree(folder.path()), before, "{out}");
    }
    let mut command = program("ingest");
    command.arg("build").arg(sample(JUNE)).arg("--out");
    let command = unprivileged(command.arg(path("dataset")));
    let said = run(&mut command.unwrap()).failed(MISSING, &["dataset: ", "Permission denied"]);
    assert!(!said.err.contains("not a Kibitz dataset"), "{}", said.err);
    assert_eq!(tree(folder.path()), before);
}

/// Kills builds during their start, repeatedly on the same folder. Afterwards the same command
/// makes the dataset.
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
    // Duration of a start.
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
    // A failed build then leaves no files.
    build_of_nothing(&path("first")).failed(DAMAGED, &["empty"]);
    assert!(tree(&path("first")).is_empty());
}

/// Each file that the start of a build makes may be the last before a kill.
#[test]
fn resumes_from_every_state_of_a_killed_start() {
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
    // An empty RocksDB beside the marker.
    let out = path("database");
    fs::create_dir(&out).unwrap();
    fs::File::create(out.join("kibitz-unfinished")).unwrap();
    let mut options = rocksdb::Options::default();
    options.create_if_missing(true);
    drop(rocksdb::DB::open(&options, &out).unwrap());
    build(&[&source], &out).succeeded();
    assert!(contents(&out) == expected);
    // Killed between sealing and the removal of the marker.
    fs::File::create(out.join("kibitz-unfinished")).unwrap();
    build(&[&source], &out).succeeded();
    assert!(contents(&out) == expected);
    assert!(!out.join("kibitz-unfinished").exists());
    fs::File::create(out.join("kibitz-unfinished")).unwrap();
    build_of_nothing(&out).failed(DAMAGED, &["empty"]);
    assert!(contents(&out) == expected);
}

/// Unfinished builds of earlier versions have no marker.
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
    // Without the marker the folder's origin is uncertain: it stays.
    build_of_nothing(&path("a")).failed(DAMAGED, &["empty"]);
    assert!(path("a/CURRENT").exists());
    build(&[&sample(JUNE)], &path("a")).succeeded();
    build(&[&sample(JUNE)], &path("b")).succeeded();
    assert!(contents(&path("a")) == contents(&path("b")));
}
