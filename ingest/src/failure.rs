//! From an error to one line and an exit code.

use std::process::ExitCode;

/// Prints an error as one line and gives its exit code: what
/// [`datasets::Error::exit_code`] says of it, else 1. (Wrong usage is 2, and
/// clap's.)
pub fn report(error: &anyhow::Error) -> ExitCode {
    eprintln!("ingest: {error:#}");
    let code = error
        .chain()
        .find_map(|cause| cause.downcast_ref::<datasets::Error>());
    ExitCode::from(code.map_or(1, datasets::Error::exit_code))
}
