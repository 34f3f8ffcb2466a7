//! From an error to one line and an exit code.

use std::io;
use std::path::PathBuf;
use std::process;

use host::tell;
use models::NetError;
use thiserror::Error;
use uci_client::StartError;

use super::matches::games_file::GamesError;
use super::matches::openings::BookError;

/// How the program ends. The numbers are those of all programs of Kibitz, in
/// docs/exit-codes.md; a signal that ended it gives 128 and its number besides.
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

impl ExitCode {
    /// What each code but 10 and 11 means, where no command says otherwise.
    const MEANINGS: [(ExitCode, &str); 8] = [
        (ExitCode::Done, "done"),
        (ExitCode::Other, "another failure"),
        (ExitCode::Usage, "wrong usage"),
        (
            ExitCode::Missing,
            "a file or program is missing or unreadable",
        ),
        (ExitCode::Damaged, "a file is damaged"),
        (
            ExitCode::Refused,
            "--pgn is refused: it exists, was made otherwise, or is in use",
        ),
        (ExitCode::Net, "the net is refused"),
        (ExitCode::Write, "an output cannot be written"),
    ];

    /// The table of a command's help, with what the command says of its own.
    pub fn help(own: &[(ExitCode, &str)]) -> String {
        let general = ExitCode::MEANINGS.iter();
        let general = general.filter(|(code, _)| own.iter().all(|(other, _)| other != code));
        let mut lines: Vec<_> = general.chain(own).collect();
        lines.sort_by_key(|(code, _)| *code as u8);
        let line =
            |&&(code, meaning): &&(ExitCode, &str)| format!("  {:>3}  {meaning}\n", code as u8);
        let lines: String = lines.iter().map(line).collect();
        lines
            + "  130  interrupted with Ctrl-C (129 SIGHUP, 143 SIGTERM); the result so far is printed"
    }
}

impl From<ExitCode> for process::ExitCode {
    fn from(code: ExitCode) -> process::ExitCode {
        process::ExitCode::from(code as u8)
    }
}

/// What was to be done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// To read it.
    Read,
    /// To write it.
    Write,
}

/// A file named by the user could not be used; the source says why.
#[derive(Debug, Error)]
#[error("cannot {} {path:?}", match action { Action::Read => "read", Action::Write => "write" })]
pub struct FileError {
    /// What was tried.
    pub action: Action,
    /// The file as the user named it.
    pub path: PathBuf,
    #[source]
    pub(super) source: io::Error,
}

impl FileError {
    /// Turns what the system says into such an error.
    pub fn to(action: Action, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> FileError {
        let path = path.into();
        move |source| FileError {
            action,
            path,
            source,
        }
    }
}

/// A command line that is wrong in a way that only shows once it is read.
///
/// It ends the program as a wrong argument does.
pub fn usage(message: &str) -> anyhow::Error {
    use clap::error::ErrorKind;
    clap::Error::raw(ErrorKind::ValueValidation, format!("{message}\n")).into()
}

/// Tells the user of an error, in one line, and gives its exit code.
pub fn report(error: &anyhow::Error) -> process::ExitCode {
    if let Some(usage) = error.downcast_ref::<clap::Error>() {
        // Nobody may be there to read it.
        let _ = usage.print();
    } else {
        tell(format!("engine: {error:#}"));
    }
    exit_code(error).into()
}

/// What the first cause says that has a code of its own.
fn exit_code(error: &anyhow::Error) -> ExitCode {
    let code = |cause: &(dyn std::error::Error + 'static)| -> Option<ExitCode> {
        if cause.is::<clap::Error>() {
            Some(ExitCode::Usage)
        } else if let Some(error) = cause.downcast_ref::<FileError>() {
            Some(match error.action {
                Action::Read => ExitCode::Missing,
                Action::Write => ExitCode::Write,
            })
        } else if let Some(StartError::Program { .. }) = cause.downcast_ref() {
            Some(ExitCode::Missing)
        } else if cause.is::<BookError>() {
            Some(ExitCode::Damaged)
        } else if cause.is::<GamesError>() {
            Some(ExitCode::Refused)
        } else if cause.is::<NetError>() {
            Some(ExitCode::Net)
        } else {
            None
        }
    };
    error.chain().find_map(code).unwrap_or(ExitCode::Other)
}
