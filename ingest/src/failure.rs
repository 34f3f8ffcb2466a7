//! From an error to one line and an exit code.

use std::process::ExitCode;

use crate::annotate;
use crate::terminal::stopped::Stopped;

/// Prints an error as one line and gives its exit code: what
/// [`datasets::Error::exit_code`] or `annotate::Error::exit_code` says of it,
/// that of the signal that stopped the program, 2 for wrong usage, else 1.
pub fn report(error: &anyhow::Error) -> ExitCode {
    if let Some(usage) = error.downcast_ref::<clap::Error>() {
        usage.exit();
    }
    host::tell(format_args!("ingest: {error:#}"));
    let code = error.chain().find_map(|cause| {
        let dataset = cause.downcast_ref::<datasets::Error>();
        let annotate = cause.downcast_ref::<annotate::Error>();
        let stopped = cause.downcast_ref::<Stopped>();
        dataset
            .map(datasets::Error::exit_code)
            .or(annotate.map(annotate::Error::exit_code))
            .or(stopped.map(|stopped| stopped.exit_code))
    });
    ExitCode::from(code.unwrap_or(1))
}
