//! `ingest` under an account that may have few threads: it works with those it
//! gets.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use tests::{Said, program, run, sample, skip, stats};

const SAMPLE: &str = "dump_2026-06_annotated500.pgn.zst";

/// A folder with the programs in it that any account may write to; `None` where
/// this account cannot run a program under another.
fn folder() -> Option<TempDir> {
    let folder = tempfile::tempdir().unwrap();
    if fs::metadata(folder.path()).unwrap().uid() != 0 {
        skip("only root may run ingest under another account");
        return None;
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    // By another process: a child that another test begins meanwhile would
    // inherit what this one has open to write, and no such file is executed.
    let copied = Command::new("install")
        .args(["-m", "755"])
        .args(["ingest", "fake_engine"].map(|name| program(name).get_program().to_owned()))
        .arg(folder.path())
        .status();
    assert!(copied.unwrap().success());
    let source = fs::read(sample(SAMPLE)).unwrap();
    // More games than are on their way at once.
    fs::write(folder.path().join("x.pgn.zst"), source.repeat(4)).unwrap();
    Some(folder)
}

/// Runs `ingest` in the folder, under an account of its own with so many
/// threads. One that still runs after two minutes hangs.
fn limited(folder: &Path, account: u32, threads: u32, arguments: &[&str]) -> Said {
    let script = format!("ulimit -u {threads} && exec timeout -s KILL 120 ./ingest \"$@\"");
    let mut command = Command::new("bash");
    command.args(["-c", &script, "bash"]).args(arguments);
    command.current_dir(folder).uid(account).gid(account);
    run(command.env("RAYON_NUM_THREADS", "16"))
}

#[test]
fn a_build_goes_on_with_the_threads_it_gets() {
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
fn annotating_goes_on_with_the_threads_it_gets() {
    let Some(folder) = folder() else { return };
    // The games have evaluations: no engine is asked for any.
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
