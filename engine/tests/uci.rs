//! The program over real pipes.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A search that is still busy when it is interrupted.
const BUSY: &str = "position startpos\ngo infinite";

struct Uci {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Uci {
    fn start() -> Uci {
        let mut child = Command::new(env!("CARGO_BIN_EXE_engine"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Uci {
            child,
            input,
            output,
        }
    }

    fn send(&mut self, lines: &str) {
        writeln!(self.input, "{lines}").unwrap();
    }

    /// Lines up to and including the first one that starts so.
    fn until(&mut self, start: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            assert_ne!(
                self.output.read_line(&mut line).unwrap(),
                0,
                "ended before {start:?}: {lines:?}"
            );
            lines.push(line.trim_end().to_string());
            if line.starts_with(start) {
                return lines;
            }
        }
    }

    fn bestmove(&mut self) -> String {
        let lines = self.until("bestmove");
        lines.last().unwrap()["bestmove ".len()..].to_string()
    }

    /// Sends one line; the answer must be an `info string` with this in it.
    fn refused(&mut self, line: &str, reason: &str) {
        self.send(line);
        self.send("isready");
        let answer = self.until("readyok");
        assert!(
            answer[0].starts_with("info string") && answer[0].contains(reason),
            "{line}: {answer:?}"
        );
    }

    /// Closes the input; the program must end well. Returns what it still says.
    fn close(mut self) -> String {
        drop(self.input);
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success());
        rest
    }
}

fn run_with(input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_engine"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // The program may end before it has read all.
        let _ = pipe.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

#[test]
fn handshake_and_options() {
    let mut uci = Uci::start();
    uci.send("uci");
    let answer = uci.until("uciok");
    assert!(answer[0].starts_with("id name Kibitz"));
    for option in [
        "option name Hash type spin default 16 min 1 max 4096",
        "option name Clear Hash type button",
        "option name EvalFile type string default <embedded>",
        "option name Evaluation type combo default network var network var material",
        "option name UCI_Chess960 type check default false",
        "option name Move Overhead type spin default 20 min 0 max 5000",
    ] {
        assert!(answer.iter().any(|line| line == option), "{option}");
    }
    uci.send("setoption name Hash value 1\nsetoption name Clear Hash\nucinewgame\nisready");
    assert_eq!(uci.until("readyok"), ["readyok"]);
    uci.send("setoption name Evaluation value material\nposition fen 4k3/8/8/8/8/8/8/3QK3 w - -\ngo depth 1");
    let answer = uci.until("bestmove");
    assert!(answer[0].contains("score cp 900"), "{answer:?}");
    assert_eq!(uci.close(), "");
}

#[test]
fn info_lines_have_every_field() {
    let mut uci = Uci::start();
    uci.send("position startpos moves e2e4 e7e5\ngo depth 4");
    let lines = uci.until("bestmove");
    assert_eq!(lines.len(), 5, "one line an iteration: {lines:?}");
    for (line, depth) in lines.iter().zip(1..=4) {
        let words: Vec<&str> = line.split(' ').collect();
        let keys = [
            "info", "depth", "seldepth", "score", "cp", "nodes", "nps", "time", "hashfull", "pv",
        ];
        let found: Vec<&str> = words
            .iter()
            .copied()
            .filter(|word| keys.contains(word))
            .collect();
        assert_eq!(found, keys, "{line}");
        assert_eq!(words[2], depth.to_string());
    }
    let pv = lines[3].split(" pv ").nth(1).unwrap();
    assert!(
        lines[4].ends_with(pv.split(' ').next().unwrap()),
        "{lines:?}"
    );
}

#[test]
fn every_kind_of_go_gives_a_move() {
    let mut uci = Uci::start();
    for go in [
        "go depth 3",
        "go nodes 1000",
        "go movetime 50",
        "go wtime 500 btime 500",
        "go wtime 500 btime 500 winc 10 binc 10 movestogo 5",
        "go wtime 1 btime 1",
        "go wtime -100 btime -100",
        "go depth 0",
        "go nodes 0",
        "go movetime 0",
        "go depth 2 ponder searchmoves e2e4",
    ] {
        uci.send(&format!("position startpos moves d2d4\n{go}"));
        let start = Instant::now();
        assert_eq!(uci.bestmove().len(), 4, "{go}");
        assert!(start.elapsed() < Duration::from_secs(2), "{go}");
    }
}

#[test]
fn no_legal_move_is_0000() {
    let mut uci = Uci::start();
    for fen in [
        "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
        "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1",
    ] {
        uci.send(&format!("position fen {fen}\ngo depth 5"));
        assert_eq!(uci.bestmove(), "0000");
    }
    uci.send("go infinite\nstop");
    assert_eq!(uci.bestmove(), "0000");
}

#[test]
fn castling_is_written_as_the_gui_wants_it() {
    let mut uci = Uci::start();
    // Castling gives check and attacks the rook; nothing else wins it.
    let fen = "position fen 3k4/8/8/8/8/8/1r6/R3K3 w Q - 0 1";
    uci.send(&format!(
        "setoption name Evaluation value material\n{fen}\ngo depth 3"
    ));
    assert_eq!(uci.bestmove(), "e1c1");
    uci.send(&format!(
        "setoption name UCI_Chess960 value true\n{fen}\ngo depth 3"
    ));
    assert_eq!(uci.bestmove(), "e1a1");
    for (castling, spelling) in [("Q", "e1c1"), ("A", "e1a1")] {
        let fen = format!("position fen 3k4/8/8/8/8/8/1r6/R3K3 w {castling} - 0 1");
        uci.send(&format!("{fen} moves {spelling} d8e8\ngo depth 1"));
        let lines = uci.until("bestmove");
        assert!(
            lines.iter().all(|line| !line.contains("string")),
            "{lines:?}"
        );
    }
}

#[test]
fn stop_answers_at_once() {
    let mut uci = Uci::start();
    uci.send(BUSY);
    std::thread::sleep(Duration::from_millis(200));
    uci.send("isready");
    uci.until("readyok");
    let start = Instant::now();
    uci.send("stop");
    assert_eq!(uci.bestmove().len(), 4);
    // A search that does not look at the flag would go on for ever; on a busy
    // machine the answer may have to wait for its turn.
    assert!(
        start.elapsed() < Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );
    // At once after `go`, and where nothing is left to search.
    uci.send("go infinite\nstop");
    assert_eq!(uci.bestmove().len(), 4);
    uci.send("position fen 6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1\ngo infinite");
    uci.until("info depth 1 ");
    std::thread::sleep(Duration::from_millis(100));
    uci.send("isready");
    assert!(
        !uci.until("readyok")
            .iter()
            .any(|line| line.starts_with("bestmove"))
    );
    uci.send("stop");
    assert_eq!(uci.bestmove(), "e1e8");
}

#[test]
fn movetime_is_kept() {
    let mut uci = Uci::start();
    uci.send("position startpos");
    for millis in [100, 300] {
        let start = Instant::now();
        uci.send(&format!("go movetime {millis}"));
        uci.bestmove();
        assert!(
            start.elapsed() <= Duration::from_millis(millis + 1000),
            "{:?}",
            start.elapsed()
        );
    }
}

#[test]
fn bad_lines_are_named_and_survived() {
    let mut uci = Uci::start();
    uci.refused("xyzzy", "unknown command");
    uci.refused("position", "startpos");
    uci.refused("position fen", "four fields");
    uci.refused("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "legal position");
    uci.refused(
        "position fen 8/8/8/8/8/8/4k3/4K3 w - - 0 1",
        "legal position",
    );
    uci.refused("position startpos moves e2e4 e2e4", "illegal");
    uci.refused("position startpos moves \u{265e}g1f3", "not a move");
    uci.refused("go depth x", "number");
    uci.refused("setoption name Hash value 99999999999", "1 to 4096");
    uci.refused("setoption name Colour value blue", "unknown option");
    uci.refused("setoption name EvalFile value /no/such/net", "/no/such/net");
    uci.refused(
        &format!(
            "setoption name EvalFile value {}",
            env!("CARGO_BIN_EXE_engine")
        ),
        "not a safetensors",
    );
    uci.refused(&"go ".repeat(1 << 20), "ignored");
    uci.send("go depth 2");
    assert_eq!(uci.bestmove().len(), 4, "the last good position stands");
}

#[test]
fn bytes_that_are_no_text_are_survived() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut input: Vec<u8> = (0..200_000).map(|_| random.u8(..)).collect();
    input.extend(b"\n\0\0\nuci\r\nposition startpos\r\ngo depth 1\r\n");
    let output = run_with(&input);
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("uciok\n") && text.contains("\nbestmove "));
    assert!(output.stderr.is_empty());
}

#[test]
fn another_network_can_be_loaded_and_put_back() {
    use models::{Metadata, Network, Shape};
    let network = Network::random(Shape::DEFAULT, 5);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a net.safetensors");
    std::fs::write(
        &path,
        network.to_bytes(&Metadata::new(Shape::DEFAULT, "test")),
    )
    .unwrap();
    let mut uci = Uci::start();
    let mut score = |setting: &str| {
        uci.send(&format!(
            "setoption name EvalFile value {setting}\nposition startpos\ngo depth 1"
        ));
        let lines = uci.until("bestmove");
        lines[0].split(" nodes ").next().unwrap().to_string()
    };
    let embedded = score("<embedded>");
    let other = score(&path.display().to_string());
    assert_ne!(embedded, other);
    assert_eq!(
        score("/no/such/net").split(' ').nth(1),
        Some("string"),
        "refused"
    );
    assert_eq!(score("<embedded>"), embedded);
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
        assert!(start.elapsed() < Duration::from_secs(1));
    }
    // A deep search does not hold `quit` up either.
    let output = run_with(b"position startpos\ngo depth 99\nquit\n");
    assert!(output.status.success());
}
