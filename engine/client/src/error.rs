//! What goes wrong with engines.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why an engine did not do what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EngineError {
    /// The process ended, or closed its output.
    #[error("it ended")]
    Ended,
    /// Nothing came in time.
    #[error("it does not answer")]
    TimedOut,
    /// The caller's flag was set: nobody waits any more.
    #[error("it was not waited for")]
    Cancelled,
}

/// Why an engine cannot be used.
#[derive(Debug, Error)]
pub enum StartError {
    /// The program cannot be run.
    #[error("cannot start {program:?}")]
    Program {
        /// The program as it was named.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The program does not answer `uci`.
    #[error("{program:?} is not a UCI engine: {}", missing("uciok", *failure, *seconds))]
    NotUci {
        /// The program as it was named.
        program: PathBuf,
        /// What it did.
        failure: EngineError,
        /// How long was waited, at most.
        seconds: u64,
    },
    /// The engine took its options, and is not ready.
    #[error("{program:?} does not get ready: {}", missing("readyok", *failure, *seconds))]
    NotReady {
        /// The program as it was named.
        program: PathBuf,
        /// What it did.
        failure: EngineError,
        /// How long was waited, at most.
        seconds: u64,
    },
    /// The engine has no option of this name.
    #[error("{engine} has no option {option:?}; it has: {known}")]
    NoSuchOption {
        /// What the engine calls itself.
        engine: String,
        /// What was asked for.
        option: String,
        /// The names of its options.
        known: String,
    },
    /// The option does not take this value.
    #[error("option {option:?} of {engine} does not take {value:?}: it wants {wanted}")]
    BadValue {
        /// What the engine calls itself.
        engine: String,
        /// The option.
        option: String,
        /// What was asked for.
        value: String,
        /// What the engine says it takes.
        wanted: String,
    },
    /// The caller's flag was set before the engine was ready.
    #[error("the engine was not waited for")]
    Cancelled,
}

/// Why an answer is missing.
fn missing(expected: &str, failure: EngineError, seconds: u64) -> String {
    match failure {
        EngineError::TimedOut => format!("no `{expected}` came within {seconds} s"),
        EngineError::Ended | EngineError::Cancelled => format!("{failure} before `{expected}`"),
    }
}
