//! From an error to one line and an exit code.

use std::process::ExitCode;

/// Prints an error as one line and gives its exit code: what
/// [`datasets::Error::exit_code`] says of it, 2 for wrong usage, else 1.
pub fn report(error: &anyhow::Error) -> ExitCode {
    if let Some(usage) = error.downcast_ref::<clap::Error>() {
        usage.exit();
    }
    eprintln!("ingest: {error:#}");
    let code = error
        .chain()
        .find_map(|cause| cause.downcast_ref::<datasets::Error>());
    ExitCode::from(code.map_or(1, datasets::Error::exit_code))
}
