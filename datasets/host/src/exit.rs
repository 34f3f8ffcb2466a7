//! How a program of Kibitz ends.

use std::process;

/// How a program ends. The numbers are those of all programs of Kibitz
/// (docs/exit-codes.md); after a signal it is 128 and the signal's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// All was done.
    Done = 0,
    /// Another failure than those below.
    Other = 1,
    /// The command line is wrong.
    Usage = 2,
    /// A file or program is missing or cannot be read.
    Missing = 3,
    /// A file is damaged, or not what it should be.
    Damaged = 4,
    /// The output is refused: it is there already, or made otherwise.
    Refused = 5,
    /// The net is refused.
    Net = 6,
    /// An output cannot be written.
    Write = 7,
    /// There is no such device, or it failed.
    NoDevice = 8,
    /// Training diverged.
    Diverged = 9,
    /// The test of a match accepted H0.
    AcceptedH0 = 10,
    /// The test of a match is undecided after all games.
    Undecided = 11,
    /// SIGHUP asked to stop.
    Hangup = 129,
    /// SIGINT asked to stop.
    Interrupted = 130,
    /// SIGTERM asked to stop.
    Terminated = 143,
}

impl ExitCode {
    /// The one with this number.
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
