//! An engine process under test.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::thread;

use crate::referee;

/// Commands that start an endless search.
pub const BUSY: &str = "position startpos\ngo infinite";

/// A running engine.
pub struct Uci {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Uci {
    pub fn start() -> Uci {
        Uci::spawn(&mut Command::new(env!("CARGO_BIN_EXE_engine")))
    }

    /// Starts the engine by a command.
    pub fn spawn(command: &mut Command) -> Uci {
        let mut child = command
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

    pub fn send(&mut self, lines: &str) {
        writeln!(self.input, "{lines}").unwrap();
    }

    /// Returns the lines up to and including the first one that starts with `start`.
    pub fn until(&mut self, start: &str) -> Vec<String> {
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

    /// Waits for `readyok`; only lines of a running search may come before it.
    pub fn ready(&mut self) {
        self.send("isready");
        loop {
            let lines = self.until("");
            match lines[0].as_str() {
                "readyok" => return,
                // Line of a running search.
                line => assert!(line.starts_with("info depth "), "{line}"),
            }
        }
    }

    /// Reads up to the next `bestmove` and judges every line. Returns the last reported best move,
    /// and the move played.
    pub fn judged(&mut self, position: &str) -> (String, String) {
        let position = referee::position(position).unwrap();
        let lines = self.until("bestmove ");
        let (answer, infos) = lines.split_last().unwrap();
        referee::judge_best_move(&position, answer).unwrap();
        for line in infos {
            referee::judge_info(&position, line).unwrap();
        }
        let best = answer.split(' ').nth(1).unwrap();
        let first = infos.iter().rfind(|line| field(line, "multipv") == "1");
        let first = first.expect("a line before the answer");
        (field(first, "pv").to_string(), best.to_string())
    }

    /// Returns the mapped memory of the process in KiB, swapped or not.
    #[cfg(target_os = "linux")]
    pub fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let kibibytes = |name| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let number = line.and_then(|rest| rest.split_ascii_whitespace().next());
            number.map_or(0, |number| number.parse::<u64>().unwrap())
        };
        kibibytes("VmRSS:") + kibibytes("VmSwap:")
    }

    /// Returns the move of the next `bestmove`.
    pub fn best_move(&mut self) -> String {
        let lines = self.until("bestmove ");
        let words: Vec<&str> = lines.last().unwrap().split(' ').collect();
        words[1].to_string()
    }

    /// Sends one line; asserts that the answer is an `info string` containing `reason`.
    pub fn refused(&mut self, line: &str, reason: &str) {
        self.send(line);
        self.send("isready");
        let answer = self.until("readyok");
        assert!(
            answer[0].starts_with("info string") && answer[0].contains(reason),
            "{line}: {answer:?}"
        );
    }

    /// Closes the input and asserts success. Returns the remaining output.
    pub fn close(mut self) -> String {
        drop(self.input);
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success());
        rest
    }
}

/// Runs the engine on a complete input.
pub fn run_with(input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_engine"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = thread::spawn(move || {
        // The program may exit before reading everything.
        let _ = pipe.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// Returns the word after `name` in an `info` line.
pub fn field<'a>(line: &'a str, name: &str) -> &'a str {
    let mut words = line.split(' ').skip_while(|&word| word != name);
    words.nth(1).unwrap_or_else(|| panic!("no {name}: {line}"))
}
