//! Exit codes, shared by all programs.

use std::process;

/// Exit code of a program (docs/exit-codes.md); after a signal, 128 plus the signal number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// Success.
    Done = 0,
    /// Any failure without a code below.
    Other = 1,
    /// Wrong usage of the command line.
    Usage = 2,
    /// A file or program is missing or unreadable.
    Missing = 3,
    /// A file is damaged or of the wrong kind.
    Damaged = 4,
    /// The output exists already, or was made with other settings.
    Refused = 5,
    /// The net has another layout, is damaged, or does not fit the engine's integers.
    Net = 6,
    /// An output cannot be written.
    Write = 7,
    /// The device is missing or failed.
    NoDevice = 8,
    /// Training diverged.
    Diverged = 9,
    /// The SPRT of a match accepted H0.
    AcceptedH0 = 10,
    /// The SPRT of a match is undecided after all games.
    Undecided = 11,
    /// Stopped by SIGHUP.
    Hangup = 129,
    /// Stopped by SIGINT.
    Interrupted = 130,
    /// Stopped by SIGTERM.
    Terminated = 143,
}

impl ExitCode {
    /// Returns the exit code with this number, `None` if there is none.
    pub fn of(number: u8) -> Option<ExitCode> {
        use ExitCode::*;
        let all = [
            Done,
            Other,
            Usage,
            Missing,
            Damaged,
            Refused,
            Net,
            Write,
            NoDevice,
            Diverged,
            AcceptedH0,
            Undecided,
            Hangup,
            Interrupted,
            Terminated,
        ];
        all.into_iter().find(|&code| code as u8 == number)
    }
}

impl From<ExitCode> for process::ExitCode {
    fn from(code: ExitCode) -> process::ExitCode {
        process::ExitCode::from(code as u8)
    }
}
