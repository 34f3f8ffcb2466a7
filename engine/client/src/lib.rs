//! Clients of chess engines: [`EngineProcess`] is an external UCI engine (a process that is
//! started, configured, queried and ended), [`Library`] is Kibitz in this process. Both return an
//! [`Answer`].
//!
//! Robust against any program: no wait is unlimited, memory is bounded, and no process is left
//! behind. A program may print lines that are not text or never end, close its output, flood it,
//! not read its input, not answer, ignore `quit`, or start programs itself.
//!
//! ```no_run
//! use std::sync::atomic::AtomicBool;
//! use std::time::Duration;
//! use uci_client::{EngineProcess, Setup};
//!
//! let stop = AtomicBool::new(false);
//! let setup = Setup {
//!     program: "stockfish".into(),
//!     options: vec![("Hash".to_string(), "64".to_string())],
//!     ..Setup::default()
//! };
//! let mut engine = EngineProcess::start(&setup, &stop, &mut |notice| eprintln!("{notice}"))?;
//! engine.new_game(false);
//! let minute = Duration::from_secs(60);
//! engine.position("position startpos", &stop)?;
//! let answer = engine.go("go depth 10", minute, &stop)?;
//! println!("{} plays {}", engine.name(), answer.best);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod engine_process;
mod error;
mod identity;
mod info;
mod library;
mod options;
mod process;

pub use engine_process::{Answer, EngineProcess, Notice, Setup};
pub use error::{EngineError, StartError};
pub use identity::{Identity, own_sha256};
pub use info::{Info, Scored, UciScore};
pub use library::{EvaluatorChoice, EvaluatorError, Library, PolicyChoice};
