//! From an error to one line and an exit code.

use std::process::ExitCode;

use host::StopSignal;
use thiserror::Error;

use crate::annotate;

/// A signal asked the program to stop, and it did.
#[derive(Debug, Error)]
#[error("stopped{}", if *goes_on { "; run the same command again to go on" } else { "" })]
pub struct Stopped {
    exit_code: u8,
    /// Whether the same command goes on where it was.
    goes_on: bool,
}

impl Stopped {
    /// Work that leaves nothing behind.
    pub fn for_good(stop: &StopSignal) -> Stopped {
        Stopped {
            exit_code: stop.exit_code(),
            goes_on: false,
        }
    }

    /// Work that the same command goes on with.
    pub fn for_now(stop: &StopSignal) -> Stopped {
        Stopped {
            goes_on: true,
            ..Stopped::for_good(stop)
        }
    }
}

/// Prints an error as one line and gives its exit code: what
/// [`datasets::Error::exit_code`] or [`annotate::Error::exit_code`] says of it,
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
