//! `ingest` under an account with a limit on threads.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use tests::{Said, program, run, sample, skip, stats};

const SAMPLE: &str = "dump_2026-06_annotated500.pgn.zst";

/// Creates a folder with the programs that any account may write to. Returns `None` if this account
/// cannot run programs under another one.
fn folder() -> Option<TempDir> {
    let folder = tempfile::tempdir().unwrap();
    if fs::metadata(folder.path()).unwrap().uid() != 0 {
        skip("only root may run ingest under another account");
        return None;
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    // Copy in another process: a child of a parallel test would inherit the open file descriptor,
    // and a file open for writing cannot be executed.
    let copied = Command::new("install")
        .args(["-m", "755"])
        .args(["ingest", "fake_engine"].map(|name| program(name).get_program().to_owned()))
        .arg(folder.path())
        .status();
    assert!(copied.unwrap().success());
    let source = fs::read(sample(SAMPLE)).unwrap();
    // More games than are in flight at once.
    fs::write(folder.path().join("x.pgn.zst"), source.repeat(4)).unwrap();
    Some(folder)
}

/// Runs `ingest` in the folder under another account with at most `threads` threads. A run of more
/// than two minutes is killed.
fn limited(folder: &Path, account: u32, threads: u32, arguments: &[&str]) -> Said {
    let script = format!("ulimit -u {threads} && exec timeout -s KILL 120 ./ingest \"$@\"");
    let mut command = Command::new("bash");
    command.args(["-c", &script, "bash"]).args(arguments);
    command.current_dir(folder).uid(account).gid(account);
    run(command.env("RAYON_NUM_THREADS", "16"))
}

#[test]
fn builds_with_fewer_threads() {
    let Some(folder) = folder() else { return };
    let build = ["build", "x.pgn.zst", "--out", "d"];
    limited(folder.path(), 54_322, 30, &build).succeeded();
    let all = folder.path().join("all");
    run(program("ingest")
        .arg("build")
        .arg(folder.path().join("x.pgn.zst"))
        .arg("--out")
        .arg(&all))
    .succeeded();
    let positions = |dataset: &Path| stats(dataset)["positions"].clone();
    assert_eq!(positions(&folder.path().join("d")), positions(&all));
}

#[test]
fn annotates_with_fewer_threads() {
    let Some(folder) = folder() else { return };
    // The games have evaluations: the engine is never asked.
    let annotate = [
        "annotate",
        "x.pgn.zst",
        "--out",
        "out.pgn",
        "--engine",
        "./fake_engine",
        "--nodes",
        "1",
        "--processes",
        "16",
    ];
    limited(folder.path(), 54_323, 10, &annotate).succeeded();
}
