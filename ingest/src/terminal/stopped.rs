//! Error of a run stopped by a signal.

use host::{ExitCode, StopSignal};
use thiserror::Error;

/// A signal stopped the program.
#[derive(Debug, Error)]
#[error("stopped{}", if *goes_on { "; run the same command again to go on" } else { "" })]
pub struct Stopped {
    pub(crate) exit_code: ExitCode,
    /// Whether the same command resumes the work.
    goes_on: bool,
}

impl Stopped {
    /// Returns the error of work that leaves nothing to resume.
    pub fn for_good(stop: &StopSignal) -> Stopped {
        Stopped {
            exit_code: stop.exit_code(),
            goes_on: false,
        }
    }

    /// Returns the error of work that the same command resumes.
    pub fn for_now(stop: &StopSignal) -> Stopped {
        Stopped {
            goes_on: true,
            ..Stopped::for_good(stop)
        }
    }
}
