//! What stops `ingest annotate`, each with an exit code.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why annotating stopped, or did not start. Each message is one line that
/// says what to do.
#[derive(Debug, Error)]
pub enum Error {
    /// The engine's program cannot be run.
    #[error("{command}: cannot start the engine: {error}")]
    NoEngine {
        /// The engine's command.
        command: String,
        /// What the system said.
        error: io::Error,
    },
    /// The program runs, but does not speak UCI.
    #[error("{command}: not a UCI engine: it ended, or {seconds} s passed, without `{expected}`")]
    NotUci {
        /// The engine's command.
        command: String,
        /// The answer that did not come.
        expected: &'static str,
        /// How long was waited.
        seconds: u64,
    },
    /// The engine has no option of this name.
    #[error("{engine} has no option {option:?}; it has: {known}")]
    NoSuchOption {
        /// The engine's name.
        engine: String,
        /// What was asked for.
        option: String,
        /// The names of its options.
        known: String,
    },
    /// The engine has failed too often in a row to be worth going on with.
    #[error(
        "{command}: the engine failed on {positions} positions in a row; what was annotated is \
         kept, the same command goes on from there"
    )]
    EngineBroken {
        /// The engine's command.
        command: String,
        /// Positions without an answer, one after another.
        positions: u32,
    },
    /// The output is there, and nothing tells what made it.
    #[error("{path}: exists already; remove it, or choose another --out", path = path.display())]
    Exists {
        /// The output.
        path: PathBuf,
    },
    /// The output was begun with another engine or other settings.
    #[error(
        "{path}: made with other settings ({found}, now {wanted}); use the same, or another --out",
        path = path.display()
    )]
    OtherSettings {
        /// The output.
        path: PathBuf,
        /// What made it, as JSON.
        found: String,
        /// What was asked for, as JSON.
        wanted: String,
    },
    /// The output was begun with other games.
    #[error(
        "{path}: begun with other games: the sources do not begin with the {bytes} bytes of text \
         that were annotated; give the same sources in the same order, or another --out",
        path = path.display()
    )]
    OtherGames {
        /// The output.
        path: PathBuf,
        /// Bytes of text that were annotated.
        bytes: u64,
    },
    /// What was written so far is not what its record says.
    #[error(
        "{path}: not what {record} says it is: {what}; remove both to begin again",
        path = path.display(), record = record.display()
    )]
    Corrupt {
        /// The unfinished output.
        path: PathBuf,
        /// Its record.
        record: PathBuf,
        /// What does not fit.
        what: String,
    },
}

impl Error {
    /// The exit code: 3 the engine cannot be run, 5 the output is refused,
    /// else 1.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::NoEngine { .. } => 3,
            Error::NotUci { .. } | Error::NoSuchOption { .. } | Error::EngineBroken { .. } => 1,
            Error::Exists { .. }
            | Error::OtherSettings { .. }
            | Error::OtherGames { .. }
            | Error::Corrupt { .. } => 5,
        }
    }
}
