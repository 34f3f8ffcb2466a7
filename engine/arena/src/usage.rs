//! The command line: what its help says of exit codes, and arguments that are
//! wrong only together.

use host::ExitCode;

/// The message of a command that was interrupted and can go on.
pub fn interrupted(force: bool) -> &'static str {
    match force {
        true => "interrupted; the same command with --resume in place of --force goes on",
        false => "interrupted; the same command with --resume goes on",
    }
}

/// What each code but 10 and 11 means, where no command says otherwise.
const MEANINGS: [(ExitCode, &str); 7] = [
    (ExitCode::Done, "done"),
    (ExitCode::Other, "another failure"),
    (ExitCode::Usage, "wrong usage"),
    (
        ExitCode::Missing,
        "a file or program is missing or unreadable",
    ),
    (ExitCode::Damaged, "a file is damaged"),
    (ExitCode::Net, "the net is refused"),
    (ExitCode::Write, "an output cannot be written"),
];

/// What the code of a refused output means where games are written.
pub const PGN_REFUSED: (ExitCode, &str) = (
    ExitCode::Refused,
    "--pgn is refused: it exists, was made otherwise, or is in use",
);

/// The table of a command's help, with what the command says of its own.
pub fn exit_codes(own: &[(ExitCode, &str)]) -> String {
    let general = MEANINGS.iter();
    let general = general.filter(|(code, _)| own.iter().all(|(other, _)| other != code));
    let mut lines: Vec<_> = general.chain(own).collect();
    lines.sort_by_key(|(code, _)| *code as u8);
    let line = |&&(code, meaning): &&(ExitCode, &str)| format!("  {:>3}  {meaning}\n", code as u8);
    let lines: String = lines.iter().map(line).collect();
    lines + "  130  interrupted with Ctrl-C (129 SIGHUP, 143 SIGTERM)"
}

/// A command line that is wrong in a way that only shows once it is read.
///
/// It ends the program as a wrong argument does.
pub fn usage(message: &str) -> anyhow::Error {
    use clap::error::ErrorKind;
    clap::Error::raw(ErrorKind::ValueValidation, format!("{message}\n")).into()
}
