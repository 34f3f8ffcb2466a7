//! How a program of Kibitz ends.

use std::process;

/// How a program ends. The numbers are those of all programs of Kibitz
/// (docs/exit-codes.md); a signal that ended one gives 128 and its number besides.
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
    /// The test of a match accepted H0.
    AcceptedH0 = 10,
    /// The test of a match is undecided after all games.
    Undecided = 11,
}

impl From<ExitCode> for process::ExitCode {
    fn from(code: ExitCode) -> process::ExitCode {
        process::ExitCode::from(code as u8)
    }
}
