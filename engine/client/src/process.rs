//! Child processes that are always ended, and line input from them.

use std::ffi::OsStr;
use std::io::{self, BufRead, Read};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Longest line in bytes; longer ones are not UCI and are skipped.
const LINE_BYTES: u64 = 1 << 16;

/// Interval at which to check whether a process has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A process and its children. Dropping it ends them all.
pub(crate) struct Process {
    child: Child,
    /// Time it has to end by itself when dropped.
    pub grace: Duration,
}

impl Process {
    /// Starts a program. Returns the pipes to its input and from its output.
    ///
    /// # Errors
    /// The system's errors.
    pub fn start(
        program: &OsStr,
        arguments: &[String],
    ) -> io::Result<(Process, ChildStdin, ChildStdout)> {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        // A separate process group: Ctrl-C reaches only this process, which then ends the group,
        // children included.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let missing = || io::Error::other("a pipe is missing");
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = child.stdout.take().ok_or_else(missing)?;
        let process = Process {
            child,
            grace: Duration::ZERO,
        };
        Ok((process, input, output))
    }

    /// Returns whether the process has ended. It stays a zombie, so that its group id is not
    /// reused.
    #[cfg(unix)]
    fn has_ended(&mut self) -> bool {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // An error means that no process is left to wait for.
        !matches!(
            waitid(WaitId::Pid(Pid::from_child(&self.child)), options),
            Ok(None)
        )
    }

    #[cfg(not(unix))]
    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Kills the rest of the group. Errors mean that it is empty.
    fn kill(&mut self) {
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal, kill_process_group};
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        }
        let _ = self.child.kill();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let asked = Instant::now();
        while !self.has_ended() && asked.elapsed() < self.grace {
            thread::sleep(POLL_INTERVAL);
        }
        self.kill();
        // Does not block: the process has been killed.
        let _ = self.child.wait();
    }
}

/// Reads a line. Returns false at the end. A line that is too long is read as an empty one.
///
/// # Errors
/// The system's errors.
pub(crate) fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let read = input.by_ref().take(LINE_BYTES).read_until(b'\n', line)?;
    if read as u64 == LINE_BYTES && !line.ends_with(b"\n") {
        line.clear();
        input.skip_until(b'\n')?;
    }
    Ok(read > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlong_lines_are_read_as_empty() {
        let long = "x".repeat(LINE_BYTES as usize - 1);
        let text = format!("{long}\n{long}x\n{long}xbestmove e2e4\nb\n\nc");
        let (mut input, mut line, mut lengths) = (text.as_bytes(), Vec::new(), Vec::new());
        while read_line(&mut input, &mut line).unwrap() {
            lengths.push(line.len());
        }
        assert_eq!(lengths, [LINE_BYTES as usize, 0, 0, 2, 1, 1]);
    }
}
