//! Commands, signals and end of input during a search.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use test_support::send_signal;

use crate::process::{BUSY, Uci, run_with};

/// Timeout of answers that might never come; a busy machine may delay one by seconds.
const LONG: Duration = Duration::from_secs(300);

#[test]
fn stop_is_answered_at_once() {
    let mut uci = Uci::start();
    uci.send(BUSY);
    thread::sleep(Duration::from_millis(200));
    uci.send("isready");
    uci.until("readyok");
    let start = Instant::now();
    uci.send("stop");
    assert_eq!(uci.best_move().len(), 4);
    // A search that ignores the flag would run forever.
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
    // Right after `go`, and with a finished search.
    uci.send("go infinite\nstop");
    assert_eq!(uci.best_move().len(), 4);
    uci.send("position fen 6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1\ngo infinite");
    uci.until("info depth 1 ");
    thread::sleep(Duration::from_millis(100));
    uci.send("isready");
    assert!(
        !uci.until("readyok")
            .iter()
            .any(|line| line.starts_with("bestmove"))
    );
    uci.send("stop");
    assert_eq!(uci.best_move(), "e1e8");
}

#[test]
fn respects_movetime() {
    let mut uci = Uci::start();
    uci.send("position startpos");
    for millis in [100, 300] {
        let start = Instant::now();
        uci.send(&format!("go movetime {millis}"));
        uci.best_move();
        // Neither cut short nor endless.
        assert!(start.elapsed() >= Duration::from_millis(millis / 2));
        assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
    }
}

#[test]
fn end_of_input_lets_a_bounded_search_finish() {
    let output = run_with(b"position startpos\ngo depth 4\n");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("info depth 4 ") && text.contains("bestmove "),
        "{text}"
    );
    assert!(output.status.success());
    let output = run_with(b"go depth 2\nposition startpos moves e2e4\ngo depth 3");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.matches("bestmove").count(), 2, "{text}");
    let output = run_with(b"");
    assert!(output.status.success() && output.stdout.is_empty());
}

#[test]
fn end_of_input_and_quit_break_an_endless_search() {
    for last in ["", "\nquit", "\nstop\nquit"] {
        let start = Instant::now();
        let output = run_with(format!("{BUSY}{last}\n").as_bytes());
        assert!(output.status.success());
        assert!(String::from_utf8_lossy(&output.stdout).contains("bestmove "));
        assert!(start.elapsed() < LONG);
    }
    // A deep search does not delay `quit` either.
    let output = run_with(b"position startpos\ngo depth 99\nquit\n");
    assert!(output.status.success());
}

/// Jobs queued behind a search do not block later commands.
#[test]
fn commands_are_handled_during_a_search() {
    let mut uci = Uci::start();
    uci.send("setoption name Threads value 2\nsetoption name Hash value 256\nisready");
    uci.until("readyok");
    uci.send("position startpos\ngo movetime 1000000");
    uci.send("position startpos moves e2e4\ngo movetime 1000000\nisready");
    let start = Instant::now();
    let lines = uci.until("readyok");
    assert!(lines.iter().all(|line| !line.starts_with("bestmove")));
    uci.send("setoption name Hash value 64\nucinewgame\nposition startpos moves e2e4");
    uci.send("stop");
    // Two answers: both searches were requested before.
    uci.best_move();
    uci.best_move();
    assert!(start.elapsed() < LONG);
    assert_eq!(uci.close(), "");
}

/// Options wait for the search, and `readyok` waits for the options.
#[test]
fn readyok_waits_for_options() {
    for search in ["go infinite", "go movetime 100000"] {
        let mut uci = Uci::start();
        uci.send(&format!("{search}\nisready"));
        let lines = uci.until("readyok");
        assert!(lines.iter().all(|line| !line.starts_with("bestmove")));
        uci.send("setoption name EvalFile value /no/such/net\nisready");
        // Received, but not answered yet.
        uci.until("info depth ");
        thread::sleep(Duration::from_millis(200));
        uci.send("stop");
        let lines = uci.until("readyok");
        let place = |start: &str| lines.iter().position(|line| line.starts_with(start));
        let (best, option) = (place("bestmove "), place("info string cannot read"));
        assert!(best.is_some() && best < option, "{lines:?}");
        assert_eq!(uci.close(), "");
    }
}

/// Without a GUI, a search of years must end.
#[test]
fn a_search_ends_when_the_gui_is_gone() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_engine"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"go depth 120\n").unwrap();
    // As when the GUI dies: both pipes close.
    drop(child.stdout.take());
    drop(input);
    assert!(ended(&mut child).expect("it ends").success());
}

#[cfg(unix)]
#[test]
fn signals_end_a_session_as_quit_does() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        for said in ["uci", "uci\ngo infinite", "uci\ngo movetime 100000"] {
            let mut child = Command::new(env!("CARGO_BIN_EXE_engine"))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut input = child.stdin.take().unwrap();
            writeln!(input, "{said}").unwrap();
            let mut output = BufReader::new(child.stdout.take().unwrap());
            let mut line = String::new();
            let last = if said == "uci" {
                "uciok"
            } else {
                "info depth 3 "
            };
            while !line.starts_with(last) {
                line.clear();
                assert_ne!(output.read_line(&mut line).unwrap(), 0);
            }
            send_signal(signal, &child);
            let mut rest = String::new();
            output.read_to_string(&mut rest).unwrap();
            let answers = rest.matches("bestmove ").count();
            assert_eq!(answers, usize::from(said != "uci"), "{signal}: {rest}");
            let status = ended(&mut child).expect("it ends");
            assert_eq!(status.code(), Some(code), "{signal}, {said}");
        }
    }
}

/// Returns the exit status; `None` if the program does not end within [`LONG`].
fn ended(child: &mut Child) -> Option<ExitStatus> {
    for _ in 0..LONG.as_secs() * 10 {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(100));
    }
    child.kill().unwrap();
    None
}

#[test]
fn pondering_lasts_until_ponderhit_or_stop() {
    let mut uci = Uci::start();
    // Searches far longer than the move time before the answer is due.
    uci.send("position startpos moves e2e4\ngo ponder movetime 1");
    uci.until("info depth 5 ");
    uci.send("isready");
    let lines = uci.until("readyok");
    assert!(lines.iter().all(|line| !line.starts_with("bestmove")));
    uci.send("ponderhit");
    uci.best_move();
    // Finished before `ponderhit`: the answer still waits.
    uci.send("go ponder depth 1");
    thread::sleep(Duration::from_millis(200));
    uci.send("isready");
    let lines = uci.until("readyok");
    assert!(lines.iter().all(|line| !line.starts_with("bestmove")));
    uci.send("ponderhit");
    uci.best_move();
    // The opponent played another move.
    uci.send("go ponder wtime 100000 btime 100000\nstop");
    uci.best_move();
    assert_eq!(uci.close(), "");
}

#[test]
fn a_second_search_waits_or_takes_over() {
    let mut uci = Uci::start();
    uci.send("go depth 4\nposition startpos moves e2e4\ngo depth 3");
    let first = uci.until("bestmove");
    assert!(
        first.iter().any(|line| line.contains("info depth 4 ")),
        "not cut short"
    );
    uci.until("bestmove");
    uci.send("go infinite\ngo depth 1");
    uci.until("bestmove");
    uci.until("bestmove");
    assert_eq!(uci.close(), "");
}
