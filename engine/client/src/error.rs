//! Errors of engine processes.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Failure of a running engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EngineError {
    /// Process ended or closed its output.
    #[error("it ended")]
    Ended,
    /// No answer in time.
    #[error("it does not answer")]
    TimedOut,
    /// The caller set the `stop` flag.
    #[error("the wait was cancelled")]
    Cancelled,
}

/// Failure to start or set up an engine.
#[derive(Debug, Error)]
pub enum StartError {
    /// Program that cannot be run.
    #[error("cannot start {program:?}")]
    Program {
        /// Program as named in the setup.
        program: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// No answer to `uci`.
    #[error("{program:?} is not a UCI engine: {}", missing("uciok", *failure, *seconds))]
    NotUci {
        /// Program as named in the setup.
        program: PathBuf,
        /// Failure of the engine.
        failure: EngineError,
        /// Time limit in seconds.
        seconds: u64,
    },
    /// No `readyok` after the options.
    #[error("{program:?} did not become ready: {}", missing("readyok", *failure, *seconds))]
    NotReady {
        /// Program as named in the setup.
        program: PathBuf,
        /// Failure of the engine.
        failure: EngineError,
        /// Time limit in seconds.
        seconds: u64,
    },
    /// Option that the engine lacks.
    #[error("{engine} has no option {option:?}; it has: {known}")]
    NoSuchOption {
        /// Name of the engine.
        engine: String,
        /// Requested option.
        option: String,
        /// Names of its options.
        known: String,
    },
    /// Value that the option does not accept.
    #[error("option {option:?} of {engine} does not take {value:?}: expected {wanted}")]
    BadValue {
        /// Name of the engine.
        engine: String,
        /// Name of the option.
        option: String,
        /// Requested value.
        value: String,
        /// Accepted values.
        wanted: String,
    },
    /// The caller set the `stop` flag before the engine was ready.
    #[error("the start of the engine was cancelled")]
    Cancelled,
}

/// Describes a missing answer.
fn missing(expected: &str, failure: EngineError, seconds: u64) -> String {
    match failure {
        EngineError::TimedOut => format!("no `{expected}` came within {seconds} s"),
        EngineError::Ended | EngineError::Cancelled => format!("{failure} before `{expected}`"),
    }
}
