//! Tests against real processes: shell scripts that speak more or less UCI.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use uci_client::{
    Answer, EngineError, EngineProcess, Identity, Notice, Setup, StartError, UciScore,
};

/// Longer than any step takes, even on a busy machine, unless it hangs.
const LONG: Duration = Duration::from_secs(300);
/// Longest wait for an answer that never comes.
const SHORT: Duration = Duration::from_millis(200);
static GOING_ON: AtomicBool = AtomicBool::new(false);

/// Returns a shell script as an engine.
fn shell(script: &str) -> Setup {
    Setup {
        program: "sh".into(),
        arguments: vec!["-c".to_string(), script.to_string()],
        ..Setup::default()
    }
}

/// Returns an engine that runs `hello` at `uci`, and `go` at `go`.
fn engine(hello: &str, go: &str) -> Setup {
    shell(&format!(
        "while read -r line; do case \"$line\" in\n\
         uci) {hello}; echo uciok;; isready) echo readyok;; quit) exit;; go*) {go};;\n\
         setoption*) echo \"info string heard $line\";;\nesac; done"
    ))
}

fn start(setup: &Setup) -> Result<EngineProcess, StartError> {
    EngineProcess::start(setup, &GOING_ON, &mut |_| {})
}

fn play(engine: &mut EngineProcess, patience: Duration) -> Result<Answer, EngineError> {
    engine.position("position startpos", &GOING_ON)?;
    engine.go("go depth 1", patience, &GOING_ON)
}

fn fails(setup: &Setup) -> String {
    let error = start(setup).err().expect("it does not start");
    match std::error::Error::source(&error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// Returns the processes with the ids that a script has written into a file, one a line.
fn pids(file: &Path, count: usize) -> Vec<PathBuf> {
    let begun = Instant::now();
    loop {
        let text = fs::read_to_string(file).unwrap_or_default();
        if text.lines().count() == count && text.ends_with('\n') {
            let process = |pid: &str| Path::new("/proc").join(pid);
            return text.lines().map(process).collect();
        }
        assert!(begun.elapsed() < LONG, "{text:?}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until the process is gone. An orphan may stay a zombie until it is reaped; our child may
/// not.
fn assert_gone(process: &Path, ours: bool) {
    let begun = Instant::now();
    while let Ok(stat) = fs::read_to_string(process.join("stat")) {
        if !ours && stat.contains(") Z ") {
            return;
        }
        assert!(begun.elapsed() < LONG, "{stat}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_engine_is_set_up_and_answers() {
    let mut setup = engine(
        "echo id name Toy 1; echo option name Hash type spin default 1 min 1 max 9; \
         echo option name Clear Hash type button; \
         echo option name UCI_Chess960 type check default false",
        "echo info depth 3 score cp 21 nodes 500 pv e2e4; echo bestmove e2e4 ponder e7e5",
    );
    let pair = |name: &str, value: &str| (name.to_string(), value.to_string());
    setup.defaults = vec![pair("Threads", "1"), pair("hash", "2")];
    setup.options = vec![pair("Hash", "9"), pair("clear hash", "")];
    let mut said = Vec::new();
    let mut notice = |notice: Notice| said.push(notice.to_string());
    let mut engine = EngineProcess::start(&setup, &GOING_ON, &mut notice).unwrap();
    let heard = |command: &str| format!("Toy 1: info string heard setoption name {command}");
    assert_eq!(
        said,
        [
            heard("Hash value 2"),
            heard("Hash value 9"),
            heard("Clear Hash")
        ]
    );
    assert_eq!(engine.name(), "Toy 1");
    assert!(engine.plays_chess960() && !engine.has_option("Threads"));
    engine.new_game(true);
    let answer = play(&mut engine, LONG).unwrap();
    assert_eq!((&*answer.best, answer.info.nodes), ("e2e4", Some(500)));
    assert_eq!(answer.info.exact(), Some(UciScore::Centipawns(21)));
}

/// The location of files and the contents of logs do not count.
#[test]
fn identity_covers_files_name_and_defaults() {
    const SCRIPT: &str = "while read -r line; do case \"$line\" in\n\
        uci) echo id name Toy 1; echo option name EvalFile type string default own.net\n\
        echo option name Log File type string default\n\
        echo option name Ponder type check default false; echo uciok;;\n\
        isready) echo readyok;; esac; done\n";
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let identity = |folder: &Path| {
        let path = |name: &str| folder.join(name).display().to_string();
        let pair = |name: &str, file: &str| (name.to_string(), path(file));
        let setup = Setup {
            program: "sh".into(),
            arguments: vec![path("toy.sh"), format!("--book={}", path("book"))],
            options: vec![pair("evalfile", "net"), pair("Log File", "log")],
            ..Setup::default()
        };
        let engine = start(&setup).unwrap();
        Identity::of(&setup, &engine).unwrap()
    };
    let [one, other] = [&folders[0], &folders[1]].map(|folder| {
        for (name, text) in [("toy.sh", SCRIPT), ("net", "net"), ("book", "book")] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder.path()
    });
    let first = identity(one);
    let named: Vec<&str> = first.digests.iter().map(|(what, _)| &**what).collect();
    let expected = [
        "program",
        "argument 1",
        "argument 2",
        "option EvalFile",
        "options",
    ];
    assert_eq!((&*first.name, &*named), ("Toy 1", &expected[..]));
    fs::write(one.join("log"), "what it did").unwrap();
    assert_eq!(identity(one), first);
    assert_eq!(identity(other), first);
    for (file, text, what) in [
        ("net", "another", "option EvalFile"),
        ("book", "another", "argument 2"),
        ("toy.sh", &*SCRIPT.replace("own.net", "new.net"), "options"),
        ("toy.sh", &format!("{SCRIPT}# changed\n"), "argument 1"),
    ] {
        let before = fs::read(other.join(file)).unwrap();
        fs::write(other.join(file), text).unwrap();
        let changed = identity(other);
        let mut pairs = changed.digests.iter().zip(&first.digests);
        assert!(
            pairs.any(|(now, before)| now.0 == what && now != before),
            "{changed}"
        );
        assert_ne!(changed.to_string(), first.to_string());
        fs::write(other.join(file), before).unwrap();
    }
    let renamed = SCRIPT.replace("Toy 1", "Toy 2");
    fs::write(other.join("toy.sh"), renamed).unwrap();
    assert_eq!(identity(other).name, "Toy 2");
}

/// A bare name is searched like the system does.
#[test]
fn a_program_in_path_is_identified_by_its_file() {
    let script = "read -r line; echo uciok; read -r line; echo readyok; read -r line";
    let program = |program: &str| {
        let setup = Setup {
            program: program.into(),
            ..shell(script)
        };
        let engine = start(&setup).unwrap();
        Identity::of(&setup, &engine).unwrap().digests
    };
    assert_eq!(program("sh"), program("/bin/sh"));
}

#[test]
fn start_errors_name_their_cause() {
    let missing = Setup {
        program: "/none/engine".into(),
        ..Setup::default()
    };
    let message = fails(&missing);
    assert!(
        message.contains("/none/engine") && message.contains("No such file"),
        "{message}"
    );
    let message = fails(&shell("exit 3"));
    assert!(
        message.contains("not a UCI engine: it ended before `uciok`"),
        "{message}"
    );
    let message = fails(&shell("read -r line; echo uciok; read -r line; exit 3"));
    assert!(message.contains("it ended before `readyok`"), "{message}");
    let with = |name: &str, value: &str| {
        let mut setup = engine("echo option name Hash type spin default 1 min 1 max 9", ":");
        setup.options = vec![(name.to_string(), value.to_string())];
        fails(&setup)
    };
    let message = with("Hsah", "1");
    assert!(
        message.contains("no option \"Hsah\"; it has: Hash"),
        "{message}"
    );
    let message = with("hash", "10");
    assert!(
        message.contains("\"10\"") && message.contains("from 1 to 9"),
        "{message}"
    );
}

/// Programs that are not engines, and print nothing or endlessly.
#[test]
fn a_hung_start_is_reported_and_times_out() {
    let waits = [
        "cat",
        "exec sleep 1000",
        "exec yes",
        "exec yes option name x type string",
    ];
    let waits = waits.map(|script| {
        thread::spawn(move || {
            let mut notices = Vec::new();
            let mut notice = |notice: Notice| notices.push(notice.to_string());
            let error = EngineProcess::start(&shell(script), &GOING_ON, &mut notice).err();
            (error.expect("no engine").to_string(), notices)
        })
    });
    for wait in waits {
        let (error, notices) = wait.join().unwrap();
        assert!(error.contains("no `uciok` came within 10 s"), "{error}");
        assert_eq!(
            notices,
            ["waiting for `uciok` from \"sh\", for 9 s at most"]
        );
    }
}

/// An answer that arrived in time counts even if this process was delayed: the wait before the
/// first notice is over when the answer is read.
#[test]
fn late_answers_count_for_the_next_wait() {
    let late = engine("echo info string x; sleep 1.2; echo id name Late", ":");
    let mut notice = |notice| {
        if matches!(notice, Notice::Said { .. }) {
            thread::sleep(Duration::from_secs(2));
        }
    };
    let late = EngineProcess::start(&late, &GOING_ON, &mut notice).unwrap();
    assert_eq!(late.name(), "Late");
}

#[test]
fn setting_stop_cancels_a_wait() {
    let stop = AtomicBool::new(false);
    let mut notice = |_| stop.store(true, Ordering::Relaxed);
    let started = EngineProcess::start(&shell("exec sleep 1000"), &stop, &mut notice);
    assert!(matches!(started.err(), Some(StartError::Cancelled)));
    let folder = tempfile::tempdir().unwrap();
    for go in ["exec sleep 1000", "exec yes info string x"] {
        let file = folder.path().join(go);
        stop.store(false, Ordering::Relaxed);
        let go = format!("echo $$ >'{}'; {go}", file.display());
        let mut engine = start(&engine(":", &go)).unwrap();
        engine.position("position startpos", &stop).unwrap();
        let searches = thread::scope(|scope| {
            let searches = scope.spawn(|| {
                let searches = pids(&file, 1);
                stop.store(true, Ordering::Relaxed);
                searches
            });
            let answer = engine.go("go infinite", LONG, &stop);
            assert_eq!(answer.unwrap_err(), EngineError::Cancelled);
            searches.join().unwrap()
        });
        drop(engine);
        assert_gone(&searches[0], true);
    }
}

#[test]
fn binary_and_endless_lines_are_survived() {
    let hello = "printf 'id name Stra\\337e\\n'";
    let go = "printf 'info string \\377\\000\\n\\n\\r\\n'; \
              head -c 3000000 /dev/zero | tr '\\0' x; echo bestmove a1a1; echo bestmove e2e4";
    let mut toy = start(&engine(hello, go)).unwrap();
    assert_eq!(toy.name(), "Stra\u{fffd}e");
    assert_eq!(play(&mut toy, LONG).unwrap().best, "e2e4");
    let mut toy = start(&engine(":", "exec tr '\\0' x </dev/zero")).unwrap();
    assert_eq!(play(&mut toy, SHORT).unwrap_err(), EngineError::TimedOut);
}

#[test]
fn a_flooding_engine_times_out() {
    for line in ["bestmove", "readyok", "info string x", "info depth 1", ""] {
        let mut toy = start(&engine(":", &format!("exec yes '{line}'"))).unwrap();
        if line == "bestmove" {
            assert_eq!(play(&mut toy, LONG).unwrap().best, "");
        } else {
            let first = play(&mut toy, SHORT);
            assert_eq!(first.unwrap_err(), EngineError::TimedOut, "{line}");
        }
    }
}

/// Late and repeated output belongs to no search.
#[test]
fn answers_match_their_searches() {
    let twice = "n=$((n + 1)); echo info score cp $n; echo bestmove $n; \
                 echo info score cp 99; echo bestmove 99; echo info score cp 98";
    let mut toy = start(&engine(":", twice)).unwrap();
    for number in 1..20 {
        let answer = play(&mut toy, LONG).unwrap();
        assert_eq!(answer.best, number.to_string());
        assert_eq!(answer.info.exact(), Some(UciScore::Centipawns(number)));
    }
    let ahead = "n=$((n + 1)); echo bestmove $n";
    let mut toy = start(&engine(":", ahead)).unwrap();
    for _ in 0..3 {
        toy.ask("position startpos", "go depth 1");
    }
    for number in 1..=3 {
        let answer = toy.answer(LONG, &GOING_ON).unwrap();
        assert_eq!(answer.best, number.to_string());
    }
}

#[test]
fn a_long_search_can_be_stopped() {
    // Answers only after `stop`.
    let patient = "read -r line; case $line in stop) echo bestmove a1a1;; esac";
    let mut toy = start(&engine(":", patient)).unwrap();
    for _ in 0..2 {
        assert_eq!(play(&mut toy, SHORT).unwrap_err(), EngineError::TimedOut);
        toy.stop(LONG, &GOING_ON).unwrap();
        // No search is running now.
        toy.stop(Duration::ZERO, &GOING_ON).unwrap();
    }
    let mut deaf = start(&engine(":", "sleep 1000")).unwrap();
    assert_eq!(play(&mut deaf, SHORT).unwrap_err(), EngineError::TimedOut);
    assert_eq!(
        deaf.stop(SHORT, &GOING_ON).unwrap_err(),
        EngineError::TimedOut
    );
}

#[test]
fn an_engine_that_ends_or_closes_its_output_is_noticed() {
    for go in ["exit 1", "exec >&-; sleep 1000", "kill -9 $$"] {
        let mut toy = start(&engine(":", go)).unwrap();
        assert_eq!(
            play(&mut toy, LONG).unwrap_err(),
            EngineError::Ended,
            "{go}"
        );
        assert_eq!(
            toy.ready(&GOING_ON).unwrap_err(),
            EngineError::Ended,
            "{go}"
        );
    }
}

/// A pipe holds 64 KiB; writing more must not block.
#[test]
fn an_engine_that_does_not_read_cannot_block() {
    let mut toy = start(&engine(":", "exec sleep 1000")).unwrap();
    assert_eq!(play(&mut toy, SHORT).unwrap_err(), EngineError::TimedOut);
    let long = format!("position startpos moves{}", " e2e4".repeat(100_000));
    toy.ask(&long, "go depth 1");
    assert_eq!(
        toy.answer(SHORT, &GOING_ON).unwrap_err(),
        EngineError::TimedOut
    );
}

#[test]
fn an_engine_is_asked_to_quit() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("said");
    let script = format!(
        "while read -r line; do echo \"$line\" >>{}; case \"$line\" in\n\
         uci) echo uciok;; isready) echo readyok;; esac; done; echo end >>{0}",
        file.display()
    );
    drop(start(&shell(&script)).unwrap());
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "uci\nisready\nquit\nend\n"
    );
}

/// Some engines save what they learned and report it: a closed output would kill them.
#[test]
fn an_engine_may_speak_until_it_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("saved");
    let script = format!(
        "while read -r line; do case \"$line\" in\n\
         uci) echo uciok;; isready) echo readyok;;\n\
         quit) sleep 0.1; for i in 1 2 3; do echo info string saving; done\n\
         echo all >{}; exit;; esac; done",
        file.display()
    );
    drop(start(&shell(&script)).unwrap());
    assert_eq!(fs::read_to_string(&file).unwrap(), "all\n");
}

/// Covers an engine that does not exit by itself, and one that is the child of a script.
#[test]
fn no_process_is_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let stubborn = format!(
        "trap '' TERM HUP INT; sleep 1000 & echo $$ >>{0}; echo $! >>{0}\n\
         while read -r line; do case \"$line\" in\n\
         uci) echo uciok;; isready) echo readyok;; go*) sleep 1000;;\n\
         quit) while :; do sleep 1; done;; esac; done",
        file.display()
    );
    for failed in [false, true] {
        let _ = fs::remove_file(&file);
        let mut toy = start(&shell(&stubborn)).unwrap();
        let processes = pids(&file, 2);
        if failed {
            assert_eq!(play(&mut toy, SHORT).unwrap_err(), EngineError::TimedOut);
        }
        drop(toy);
        assert_gone(&processes[0], true);
        assert_gone(&processes[1], false);
    }
    // The started process exits at once, its child does not.
    let _ = fs::remove_file(&file);
    let wrapper = format!("sleep 1000 & echo $! >>{}; exit", file.display());
    let message = fails(&shell(&wrapper));
    assert!(
        message.contains("no `uciok`") || message.contains("it ended"),
        "{message}"
    );
    assert_gone(&pids(&file, 1)[0], false);
}
