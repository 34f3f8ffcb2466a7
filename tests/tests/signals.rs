//! Stop requests: Ctrl-C, a scheduler or `docker stop`, a closed terminal, and readers that leave.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use test_support::send_signal;
use tests::annotated::{annotate, command, fake, folder, unannotated};
use tests::dump::Dump;
use tests::{Said, build, contents, program, sample};

const JUNE: &str = "dump_2026-06_annotated500.pgn.zst";

/// Signals that ask to stop, with the exit codes of programs that did.
const SIGNALS: [(&str, i32); 3] = [("INT", 130), ("TERM", 143), ("HUP", 129)];

/// Dump with more labels than one spilled run.
static DUMP: LazyLock<PathBuf> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("signals.pgn.zst");
    Dump::annotated(4_000).write_to(&path, |_| {}).unwrap();
    path
});

fn start(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(Stdio::piped()).spawn().unwrap()
}

fn wait_until(child: &mut Child, holds: impl Fn() -> bool) {
    while !holds() && child.try_wait().unwrap().is_none() {
        sleep(Duration::from_millis(1));
    }
}

/// Waits until a program catches a signal, which would end it without a word before. Linux alone
/// tells; elsewhere this returns at once.
fn wait_for_handler(signal: &str, child: &mut Child) {
    if !cfg!(target_os = "linux") {
        return;
    }
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let code = SIGNALS.iter().find(|(name, _)| *name == signal).unwrap().1;
    let bit = 1 << (code - 128 - 1);
    wait_until(child, || {
        let status = fs::read_to_string(&status).unwrap_or_default();
        let mut caught = status
            .lines()
            .filter_map(|line| line.strip_prefix("SigCgt:"));
        caught.any(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & bit != 0)
    });
}

/// Sends a signal and waits for the end, with standard input still open.
fn stop(signal: &str, mut child: Child) -> Said {
    wait_for_handler(signal, &mut child);
    send_signal(signal, &child);
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        // Without the signal it would wait for ever.
        assert!(started.elapsed() < Duration::from_secs(300), "still runs");
        sleep(Duration::from_millis(5));
    }
    // Open until now: the source has not ended.
    drop(child.stdin.take());
    child.wait_with_output().unwrap().into()
}

/// Returns the command `ingest build - --out DATASET`.
fn building(dataset: &Path) -> Command {
    let mut command = program("ingest");
    command.args(["build", "-", "--out"]).arg(dataset);
    command
}

/// The pipe stays open, after no bytes or some.
#[test]
fn a_build_that_waits_for_its_source_stops_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let bytes = fs::read(sample(JUNE)).unwrap();
    build(&[&sample(JUNE)], &path("clean")).succeeded();
    for (signal, code) in SIGNALS {
        let dataset = path(signal);
        for share in [0, bytes.len() / 2] {
            let mut child = start(&mut building(&dataset));
            let input = child.stdin.as_mut().unwrap();
            input.write_all(&bytes[..share]).unwrap();
            wait_until(&mut child, || dataset.join("spill/runs").exists());
            stop(signal, child).failed(code, &["stopped", "same command again"]);
            assert!(datasets::Dataset::open(&dataset).is_err(), "it was sealed");
        }
        build(&[&sample(JUNE)], &dataset).succeeded();
        assert!(contents(&dataset) == contents(&path("clean")), "{signal}");
    }
}

/// Stops in the middle of a source, and of sealing.
#[test]
fn a_build_at_work_stops_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    build(&[&DUMP], &path("clean")).succeeded();
    let expected = contents(&path("clean"));
    for (signal, code) in SIGNALS {
        for moment in ["runs", "Train-0.sst"] {
            let dataset = path(&format!("{signal} {moment}"));
            let mut command = program("ingest");
            command.arg("build").arg(&*DUMP).arg("--out").arg(&dataset);
            let mut child = start(&mut command);
            let size = |path: PathBuf| fs::metadata(path).map_or(0, |file| file.len());
            wait_until(&mut child, || size(dataset.join("spill").join(moment)) > 0);
            let said = stop(signal, child);
            // The build may have ended before the signal.
            if said.code != Some(0) {
                said.failed(code, &["stopped", "same command again"]);
                assert!(datasets::Dataset::open(&dataset).is_err(), "it was sealed");
            }
            build(&[&DUMP], &dataset).succeeded();
            assert!(contents(&dataset) == expected, "{signal} {moment}");
            assert!(!dataset.join("spill").exists());
        }
    }
}

/// Stops with an engine at work, with a hanging engine, and with a silent source.
#[test]
fn annotating_stops_at_once_and_goes_on() {
    let (folder, source, _) = folder(&unannotated(300));
    let path = |name: &str| folder.path().join(name);
    // Some positions, so that each frame is soon written.
    let some = ["--every", "4"];
    annotate(&[&source], &fake(""), &path("whole.pgn.zst"), &some).succeeded();
    let whole = fs::read(path("whole.pgn.zst")).unwrap();
    for (signal, code) in SIGNALS {
        let out = path(&format!("{signal}.pgn.zst"));
        let part = PathBuf::from(format!("{}.part", out.display()));
        for engine in ["delay=1", "hang=3", "delay=1"] {
            let mut child = start(&mut command(&[&source], &fake(engine), &out, &some));
            let before = fs::metadata(&part).map_or(0, |part| part.len());
            if engine == "hang=3" {
                sleep(Duration::from_millis(500));
            } else {
                let size = || fs::metadata(&part).map_or(0, |part| part.len());
                wait_until(&mut child, || size() > before);
            }
            stop(signal, child).failed(code, &["stopped", "same command again"]);
            assert!(!out.exists());
        }
        annotate(&[&source], &fake(""), &out, &some).succeeded();
        assert!(fs::read(&out).unwrap() == whole, "{signal}");
        // Neither the source nor the engine has sent anything yet.
        let out = path(&format!("{signal} none.pgn.zst"));
        for engine in [fake(""), "cat".to_string()] {
            let child = start(&mut command(&[Path::new("-")], &engine, &out, &[]));
            stop(signal, child).failed(code, &["stopped"]);
            assert!(!out.exists() && !part.exists());
        }
    }
}

#[test]
fn an_export_that_is_stopped_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    build(&[&DUMP], &path("dataset")).succeeded();
    for (signal, code) in SIGNALS {
        let said = loop {
            fs::write(path("out"), "before").unwrap();
            let mut command = program("ingest");
            command.arg("export").arg(path("dataset"));
            command.args(["--force", "--format", "text", "--out"]);
            command.arg(path("out"));
            let mut child = start(&mut command);
            wait_until(&mut child, || path("out.tmp").exists());
            let said = stop(signal, child);
            // Try again if the export ended before the signal.
            if said.code != Some(0) {
                break said;
            }
        };
        said.failed(code, &["stopped"]);
        assert!(!path("out.tmp").exists());
        assert_eq!(fs::read(path("out")).unwrap(), b"before");
    }
}

/// Runs a command after the reader of its standard error has left.
fn unread(command: &Command) -> Said {
    // The command starts only once the reader has left.
    let mut shell = Command::new("sh");
    shell.args(["-c", "read _; exec \"$@\"", "sh"]);
    shell.arg(command.get_program()).args(command.get_args());
    let mut child = start(&mut shell);
    drop(child.stderr.take());
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    child.wait_with_output().unwrap().into()
}

/// Closed standard error, as in `ingest build ... 2>&1 | head` or after closing a terminal.
#[test]
fn survives_a_closed_standard_error() {
    let (folder, source, out) = folder(&unannotated(2));
    let path = |name: &str| folder.path().join(name);
    let ingest = |arguments: &[&str]| {
        let mut command = program("ingest");
        command.args(arguments).current_dir(folder.path());
        command
    };
    let june = sample(JUNE);
    let june = june.to_str().unwrap();
    let dataset = path("dataset");
    let dataset = dataset.to_str().unwrap();
    unread(&ingest(&["build", june, june, "--out", dataset])).succeeded();
    let exported = path("out.txt");
    let to_file = exported.to_str().unwrap();
    for to in ["-", to_file] {
        unread(&ingest(&[
            "export", dataset, "--force", "--format", "text", "--out", to,
        ]))
        .succeeded();
    }
    unread(&ingest(&["stats", dataset])).succeeded();
    unread(&command(&[&source], &fake(""), &out, &[])).succeeded();
    for (arguments, code) in [
        (&["stats", "/none"][..], 3),
        (&["build", "/none", "--out", "/none"], 3),
        (&["build"], 2),
    ] {
        assert_eq!(unread(&ingest(arguments)).code, Some(code));
    }
}
