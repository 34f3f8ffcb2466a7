//! Recovery of `ingest annotate`: failing engines, killed runs, foreign outputs, sources and disks
//! that end too early.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use tests::annotated::{
    SLICE, SPECIAL, annotate, bare, command, compare, fake, fake_eval, folder, games, plies,
    report, special, unannotated,
};
use tests::server::BreakingServer;
use tests::{Said, limited, program, run, sample, text_of};

/// The engine crashes in every tenth search, which is then repeated.
#[test]
fn an_engine_that_crashes_is_restarted() {
    let (_folder, source, out) = folder(&(unannotated(20) + SPECIAL));
    let more = ["--processes", "2", "--json"];
    let found = report(annotate(&[&source], &fake("crash-every=10"), &out, &more));
    compare(&(unannotated(20) + &special()), &text_of(&out), fake_eval);
    assert!(found["crashes"].as_u64() > Some(50), "{found}");
    assert_eq!(found["unanswered"], 0);
}

/// Searches queued ahead of the crash are repeated too.
#[test]
fn resends_queued_positions_after_a_crash() {
    for ahead in ["2", "7", "1000"] {
        let (_folder, source, out) = folder(&(unannotated(20) + SPECIAL));
        let more = ["--processes", "2", "--ahead", ahead, "--json"];
        let found = report(annotate(&[&source], &fake("crash-every=10"), &out, &more));
        let source = unannotated(20) + &special();
        compare(&source, &text_of(&out), |game, command, turn| {
            fake_eval(game, &bare(game, command), turn)
        });
        assert!(found["crashes"].as_u64() > Some(50), "{found}");
        assert_eq!(found["unanswered"], 0);
    }
}

/// An engine that fails on one position repeatedly costs only that evaluation; late answers are
/// ignored.
#[test]
fn skips_only_the_position_on_which_the_engine_fails() {
    for (fault, counter) in [
        ("crash=3", "crashes"),
        ("hang=3", "timeouts"),
        ("late=3", "timeouts"),
        ("garbage=3", "bad_answers"),
    ] {
        let (_folder, source, out) = folder(&(unannotated(2) + &special()));
        let more = ["--processes", "4", "--timeout", "2", "--json"];
        let engine = fake(&format!("{fault} chatty"));
        let found = report(annotate(&[&source], &engine, &out, &more));
        // Two games, the Chess960 game, the FEN game, and the mate's third ply.
        assert_eq!(
            (&found["unanswered"], &found[counter]),
            (&5.into(), &10.into()),
            "{fault}"
        );
        let source = unannotated(2) + &special();
        compare(&source, &text_of(&out), |game, command, turn| {
            fake_eval(game, command, turn).filter(|_| plies(command) != 3)
        });
    }
}

#[test]
fn stops_on_a_broken_engine_and_resumes_with_another() {
    let (_folder, source, out) = folder(&unannotated(30));
    let broken = fake("crash-every=1");
    let words = ["failed on 100 positions", "same command"];
    annotate(&[&source], &broken, &out, &[]).failed(1, &words);
    assert!(!out.exists());
    annotate(&[&source], &fake(""), &out, &[]).succeeded();
    compare(&unannotated(30), &text_of(&out), fake_eval);
}

/// Returns a pseudo-random number (a linear congruential generator).
fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    *seed >> 33
}

/// Evaluations depend only on the engine's earlier searches in the same game, not on the number of
/// processes or on interruptions.
#[test]
fn a_killed_run_goes_on_to_the_same_file() {
    let (folder, source, out) = folder(&(unannotated(300) + SPECIAL));
    let whole = folder.path().join("whole.pgn.zst");
    let one = ["--processes", "1"];
    annotate(&[&source], &fake("memory"), &whole, &one).succeeded();
    let (mut seed, mut resumed) = (1, 0);
    let engine = fake("memory delay=1");
    let part = PathBuf::from(format!("{}.part", out.display()));
    let size = || std::fs::metadata(&part).map_or(0, |part| part.len());
    while resumed < 3 {
        if out.exists() {
            // Start over if a run finishes before its kill.
            std::fs::remove_file(&out).unwrap();
            std::fs::remove_file(format!("{}.json", out.display())).unwrap();
        }
        let mut process = command(&[&source], &engine, &out, &["--processes", "3"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Kill at a random moment before or after the next frame.
        let (before, wait) = (size(), !random(&mut seed).is_multiple_of(3));
        while wait && size() <= before && process.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(1));
        }
        sleep(Duration::from_millis(random(&mut seed) % 300));
        process.kill().unwrap();
        let said = Said::from(process.wait_with_output().unwrap());
        resumed += u32::from(said.err.contains("going on after"));
    }
    let more = ["--processes", "2", "--json"];
    let found = report(annotate(&[&source], &fake("memory"), &out, &more));
    assert_eq!(std::fs::read(&whole).unwrap(), std::fs::read(&out).unwrap());
    assert_eq!(found["games"], 305);
    let record = |path: &Path| -> Value {
        let bytes = std::fs::read(format!("{}.json", path.display())).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    };
    assert_eq!(record(&whole), record(&out));
}

/// Plain text resumes like frames: after kills and with a torn end, but not if damaged or begun
/// compressed.
#[test]
fn resumes_plain_text_to_the_same_file() {
    let (folder, source, _) = folder(&unannotated(300));
    let (out, whole) = (
        folder.path().join("out.pgn"),
        folder.path().join("whole.pgn"),
    );
    let [part, json] = [".part", ".json"].map(|end| format!("{}{end}", out.display()));
    annotate(&[&source], &fake("memory"), &whole, &[]).succeeded();
    let whole = std::fs::read_to_string(&whole).unwrap();
    let size = || std::fs::metadata(&part).map_or(0, |part| part.len());
    for _ in 0..3 {
        let engine = fake("memory delay=1");
        let mut command = command(&[&source], &engine, &out, &["--processes", "2"]);
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        let (mut process, before) = (command.spawn().unwrap(), size());
        while size() <= before && process.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(1));
        }
        process.kill().unwrap();
        process.wait().unwrap();
        assert!(!out.exists() && whole.starts_with(&std::fs::read_to_string(&part).unwrap()));
    }
    let begun = std::fs::read(&part).unwrap();
    let record = std::fs::read_to_string(&json).unwrap();
    let mut damaged = begun.clone();
    damaged[1000] ^= 1;
    std::fs::write(&part, damaged).unwrap();
    annotate(&[&source], &fake("memory"), &out, &[]).failed(
        5,
        &["out.pgn.part", "not those that were written", "remove both"],
    );
    // Earlier versions compressed a file of this name.
    let compressed = record.replace("\"compressed\": false", "\"compressed\": true");
    assert_ne!(record, compressed);
    std::fs::write(&json, compressed).unwrap();
    annotate(&[&source], &fake("memory"), &out, &[])
        .failed(5, &["other settings (compressed true, now false)"]);
    std::fs::write(&json, record).unwrap();
    std::fs::write(&part, [&begun[..], b"torn"].concat()).unwrap();
    let said = annotate(&[&source], &fake("memory"), &out, &[]).succeeded();
    assert!(said.err.contains("going on after"), "{}", said.err);
    assert_eq!(std::fs::read_to_string(&out).unwrap(), whole);
}

/// Records of earlier versions have neither the output's digest nor its form.
#[test]
fn resumes_outputs_of_earlier_versions() {
    let (folder, source, out) = folder(&unannotated(200));
    let whole = folder.path().join("whole.pgn.zst");
    annotate(&[&source], &fake(""), &whole, &[]).succeeded();
    begin(&source, &out);
    let json = format!("{}.json", out.display());
    let mut record: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    assert!(
        record["made_by"]
            .as_object_mut()
            .unwrap()
            .remove("compressed")
            .is_some()
    );
    assert!(
        record["done"]
            .as_object_mut()
            .unwrap()
            .remove("sha256")
            .is_some()
    );
    std::fs::write(&json, record.to_string()).unwrap();
    let said = annotate(&[&source], &fake(""), &out, &[]).succeeded();
    assert!(said.err.contains("going on after"), "{}", said.err);
    assert_eq!(std::fs::read(&whole).unwrap(), std::fs::read(&out).unwrap());
}

/// An empty source leaves no output.
#[test]
fn an_empty_source_leaves_nothing_behind() {
    let (folder, source, out) = folder("");
    let mut piped = command(&[Path::new("-")], &fake(""), &out, &[]);
    let said = run(piped.stdin(Stdio::null())).failed(4, &["standard input is empty"]);
    assert_eq!(said.err.matches("empty").count(), 1, "{}", said.err);
    annotate(&[&source], &fake(""), &out, &[]).failed(4, &["games.pgn: the file is empty"]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// Garbage after the last complete frame, as from a power cut.
#[test]
fn a_torn_end_is_cut_off_and_a_damaged_frame_is_refused() {
    let (_folder, source, out) = folder(&unannotated(150));
    let (part, json) = (
        format!("{}.part", out.display()),
        format!("{}.json", out.display()),
    );
    annotate(&[&source], &fake(""), &out, &[]).succeeded();
    let whole = std::fs::read(&out).unwrap();
    // Restores the state just before the end of the run.
    let back = |bytes: &[u8]| {
        std::fs::remove_file(&out).unwrap();
        std::fs::write(&part, bytes).unwrap();
    };
    back(&[&whole[..], b"torn"].concat());
    annotate(&[&source], &fake(""), &out, &[]).succeeded();
    assert_eq!(std::fs::read(&out).unwrap(), whole);
    let mut damaged = whole.clone();
    let near_the_end = whole.len() - 20;
    damaged[near_the_end] ^= 1;
    back(&damaged);
    annotate(&[&source], &fake(""), &out, &[]).failed(5, &["out.pgn.zst.part", "remove both"]);
    std::fs::write(&part, &whole[..whole.len() - 1]).unwrap();
    annotate(&[&source], &fake(""), &out, &[]).failed(5, &["out.pgn.zst.part", "remove both"]);
    std::fs::remove_file(&json).unwrap();
    annotate(&[&source], &fake(""), &out, &[]).failed(5, &["no record"]);
    std::fs::remove_file(&part).unwrap();
    annotate(&[&source], &fake(""), &out, &[]).succeeded();
    assert_eq!(std::fs::read(&out).unwrap(), whole);
}

#[test]
fn an_output_of_other_settings_or_games_is_refused() {
    let (folder, source, out) = folder(&unannotated(200));
    let cut = folder.path().join("cut.pgn.zst");
    begin(&source, &out);
    annotate(&[&source], &fake(""), &out, &["--option", "Hash=2"])
        .failed(5, &["out.pgn.zst", "other settings", "Hash"]);
    annotate(&[&source], &fake(""), &out, &["--replace"]).failed(5, &["other settings"]);
    let text = unannotated(200).replacen("[White \"", "[White \"x", 1);
    std::fs::write(&cut, text).unwrap();
    annotate(&[&cut], &fake(""), &out, &[]).failed(5, &["out.pgn.zst", "other games"]);
    std::fs::write(&cut, SPECIAL).unwrap();
    annotate(&[&cut], &fake(""), &out, &[]).failed(5, &["out.pgn.zst", "other games"]);
    // Additional games at the end do not make a source different.
    std::fs::write(&cut, unannotated(210)).unwrap();
    annotate(&[&cut], &fake(""), &out, &[]).succeeded();
    compare(&unannotated(210), &text_of(&out), fake_eval);
    // A finished output is not changed.
    let before = std::fs::read(&out).unwrap();
    let again = annotate(&[&source], &fake(""), &out, &[]).succeeded();
    assert!(again.err.contains("finished before"), "{}", again.err);
    assert!(again.err.contains("not compared"), "{}", again.err);
    annotate(&[&source], &fake(""), &out, &["--replace"]).failed(5, &["other settings"]);
    assert_eq!(std::fs::read(&out).unwrap(), before);
    let other = folder.path().join("other.pgn.zst");
    std::fs::write(&other, "mine").unwrap();
    annotate(&[&source], &fake(""), &other, &[]).failed(5, &["other.pgn.zst", "exists already"]);
    assert_eq!(std::fs::read(&other).unwrap(), b"mine");
}

/// Neither a replaced program nor replaced engine files resume an output.
#[test]
fn an_output_of_another_engine_is_refused() {
    let (folder, source, out) = folder(&unannotated(20));
    let [engine, weights] = ["engine", "weights"].map(|name| folder.path().join(name));
    std::fs::copy(program("fake_engine").get_program(), &engine).unwrap();
    std::fs::write(&weights, "one").unwrap();
    let line = format!("{} weights={}", engine.display(), weights.display());
    let annotate = || annotate(&[&source], &line, &out, &[]);
    annotate().succeeded();
    let refused = || annotate().failed(5, &["out.pgn.zst", "other settings (engine \"Fake of SHA"]);
    std::fs::write(&weights, "two").unwrap();
    refused();
    std::fs::write(&weights, "one").unwrap();
    let mut program = std::fs::read(&engine).unwrap();
    let bytes = program.len();
    program.extend(b"another build");
    std::fs::write(&engine, &program).unwrap();
    refused();
    std::fs::write(&engine, &program[..bytes]).unwrap();
    let again = annotate().succeeded();
    assert!(again.err.contains("finished before"), "{}", again.err);
}

/// `--identify` prints the engine's identity as recorded.
#[test]
fn identify_prints_the_evaluator_and_writes_nothing() {
    let (folder, source, out) = folder(&unannotated(20));
    let known = annotate(&[&source], &fake(""), &out, &["--identify"]).succeeded();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let found = report(annotate(&[&source], &fake(""), &out, &["--json"]));
    assert_eq!(found["engine"], known.out.trim_end());
}

/// Begins an output and waits for its first frame. Returns the process, which holds the output.
/// The engines sleep most of the time: more of them write the frame sooner.
fn begin_and_hold(source: &Path, out: &Path, engines: &str) -> Child {
    let process = command(&[source], &fake("delay=1"), out, &["--processes", engines])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let part = format!("{}.part", out.display());
    let json = format!("{}.json", out.display());
    let written = || std::fs::metadata(&part).is_ok_and(|part| part.len() > 0);
    let counted =
        || std::fs::read_to_string(&json).is_ok_and(|json| !json.contains("\"bytes\": 0"));
    while !(written() && counted()) {
        sleep(Duration::from_millis(5));
    }
    process
}

fn begin(source: &Path, out: &Path) {
    let mut process = begin_and_hold(source, out, "8");
    process.kill().unwrap();
    process.wait().unwrap();
}

#[test]
fn a_second_process_on_the_same_output_is_refused() {
    let (_folder, source, out) = folder(&unannotated(300));
    let mut first = begin_and_hold(&source, &out, "2");
    annotate(&[&source], &fake(""), &out, &[]).failed(5, &["out.pgn.zst", "in use"]);
    first.kill().unwrap();
    first.wait().unwrap();
    annotate(&[&source], &fake(""), &out, &[]).succeeded();
    compare(&unannotated(300), &text_of(&out), fake_eval);
}

#[test]
fn an_output_that_is_a_link_stays_one() {
    let (folder, source, _) = folder(&unannotated(20));
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("there")).unwrap();
    let link = path("link.pgn.zst");
    std::os::unix::fs::symlink("there/out.pgn.zst", &link).unwrap();
    annotate(&[&source], &fake(""), &link, &[]).succeeded();
    assert!(link.is_symlink());
    compare(
        &unannotated(20),
        &text_of(&path("there/out.pgn.zst")),
        fake_eval,
    );
    let again = annotate(&[&source], &fake(""), &link, &[]).succeeded();
    assert!(again.err.contains("finished before"), "{}", again.err);
}

/// An unfinished output renamed by hand is refused, and can be resumed.
#[test]
fn an_unfinished_output_is_not_taken_for_a_finished_one() {
    let (folder, source, out) = folder(&unannotated(300));
    begin(&source, &out);
    let part = folder.path().join("out.pgn.zst.part");
    std::fs::rename(&part, &out).unwrap();
    let words = ["out.pgn.zst", "not finished", "out.pgn.zst.part"];
    annotate(&[&source], &fake(""), &out, &[]).failed(5, &words);
    std::fs::rename(&out, &part).unwrap();
    annotate(&[&source], &fake(""), &out, &[]).succeeded();
    compare(&unannotated(300), &text_of(&out), fake_eval);
}

/// Few positions, for tests about the games.
const FEW: &[&str] = &["--every", "10"];

#[test]
fn resumes_when_a_truncated_source_is_completed() {
    let (folder, _, out) = folder("");
    let (source, whole) = (
        folder.path().join("dump.pgn.zst"),
        folder.path().join("whole.pgn.zst"),
    );
    let bytes = std::fs::read(sample(SLICE)).unwrap();
    std::fs::write(&source, &bytes[..bytes.len() * 2 / 3]).unwrap();
    annotate(&[&source], &fake(""), &out, FEW).failed(4, &["dump.pgn.zst", "compressed byte"]);
    assert!(!out.exists());
    // Every complete game can be read.
    let part = PathBuf::from(format!("{}.part", out.display()));
    let kept = games(&text_of(&part)).len();
    assert!((200..499).contains(&kept), "{kept} games");
    std::fs::write(&source, &bytes).unwrap();
    annotate(&[&source], &fake(""), &out, FEW).succeeded();
    annotate(&[&source], &fake(""), &whole, FEW).succeeded();
    assert_eq!(std::fs::read(&out).unwrap(), std::fs::read(&whole).unwrap());
}

/// Games of a corrupt frame are not used, so that a sound copy of the source resumes the output.
#[test]
fn resumes_when_a_corrupt_source_is_repaired() {
    let (folder, source, out) = folder("");
    let whole = folder.path().join("whole.pgn.zst");
    let bytes = std::fs::read(sample(SLICE)).unwrap();
    let mut corrupt = bytes.clone();
    let middle = bytes.len() * 3 / 4;
    corrupt[middle..middle + 64].fill(0x55);
    std::fs::write(&source, corrupt).unwrap();
    annotate(&[&source], &fake(""), &out, FEW).failed(4, &["games.pgn", "compressed byte"]);
    std::fs::write(&source, &bytes).unwrap();
    let said = annotate(&[&source], &fake(""), &out, FEW).succeeded();
    assert!(said.err.contains("going on after"), "{}", said.err);
    annotate(&[&source], &fake(""), &whole, FEW).succeeded();
    assert_eq!(std::fs::read(&out).unwrap(), std::fs::read(&whole).unwrap());
}

/// A game that a lost connection may have cut short is not used, even with a result.
#[test]
fn resumes_after_a_lost_connection() {
    // More than the first 1 MiB, which is needed to open a source.
    let text = unannotated(300).repeat(3);
    let (_folder, source, out) = folder(&text);
    let most = text[..text.len() * 2 / 3].rfind(" 1-0\n").unwrap() + " 1-0".len();
    let server = BreakingServer::start(text.into_bytes(), most);
    let url = Path::new(&server.url);
    server.set_rest_missing(true);
    annotate(&[url], &fake(""), &out, FEW).failed(3, &[&server.url, "same command again"]);
    server.set_rest_missing(false);
    let said = annotate(&[url], &fake(""), &out, FEW).succeeded();
    assert!(said.err.contains("going on after"), "{}", said.err);
    let whole = source.with_file_name("whole.pgn.zst");
    annotate(&[&source], &fake(""), &whole, FEW).succeeded();
    assert_eq!(std::fs::read(&out).unwrap(), std::fs::read(&whole).unwrap());
}

/// Write error midway, as on a full disk.
#[test]
fn resumes_after_a_full_disk() {
    let (folder, _, out) = folder("");
    let whole = folder.path().join("whole.pgn.zst");
    let source = sample(SLICE);
    annotate(&[&source], &fake(""), &whole, &[]).succeeded();
    let ingest = command(&[&source], &fake(""), &out, &[]);
    run(&mut limited(&ingest, 100)).failed(7, &["out.pgn.zst.part", "cannot write"]);
    annotate(&[&source], &fake(""), &out, &[]).succeeded();
    assert_eq!(std::fs::read(&out).unwrap(), std::fs::read(&whole).unwrap());
}
