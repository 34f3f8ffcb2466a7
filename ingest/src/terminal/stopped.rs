//! A program that was asked to stop.

use host::{ExitCode, StopSignal};
use thiserror::Error;

/// A signal asked the program to stop, and it did.
#[derive(Debug, Error)]
#[error("stopped{}", if *goes_on { "; run the same command again to go on" } else { "" })]
pub struct Stopped {
    pub(crate) exit_code: ExitCode,
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
