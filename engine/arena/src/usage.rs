//! Exit-code tables of the help texts, and usage errors that clap cannot detect.

use host::ExitCode;

/// Returns the message of an interrupted command that `--resume` continues; `force` is whether
/// `--force` was given.
pub fn interrupted(force: bool) -> &'static str {
    match force {
        true => "interrupted; the same command with --resume in place of --force goes on",
        false => "interrupted; the same command with --resume goes on",
    }
}

/// Default meanings of exit codes; 10 and 11 have none.
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

/// Meaning of [`ExitCode::Refused`] for commands that write `--pgn`.
pub const PGN_REFUSED: (ExitCode, &str) = (
    ExitCode::Refused,
    "--pgn is refused: it exists, has other settings, or is in use",
);

/// Returns the exit-code table of a command's help; `own` replaces and extends the default
/// meanings.
pub fn exit_codes(own: &[(ExitCode, &str)]) -> String {
    let general = MEANINGS.iter();
    let general = general.filter(|(code, _)| own.iter().all(|(other, _)| other != code));
    let mut lines: Vec<_> = general.chain(own).collect();
    lines.sort_by_key(|(code, _)| *code as u8);
    let line = |&&(code, meaning): &&(ExitCode, &str)| format!("  {:>3}  {meaning}\n", code as u8);
    let lines: String = lines.iter().map(line).collect();
    lines + "  130  interrupted with Ctrl-C (129 SIGHUP, 143 SIGTERM)"
}

/// Returns an error for arguments that are invalid only in combination. The program ends as if clap
/// had refused them.
pub fn usage(message: &str) -> anyhow::Error {
    use clap::error::ErrorKind;
    clap::Error::raw(ErrorKind::ValueValidation, format!("{message}\n")).into()
}
