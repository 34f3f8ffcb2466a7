//! UCI as text: parses commands, formats `info` and `bestmove` lines. No input or output here.

mod answer;
mod command;
mod error;
mod genfens;
mod go;
mod options;

/// Maximum plies of `go perft` and `bench`; each ply uses stack space.
pub const MAX_PLIES: u32 = 128;

pub use answer::{AnswerStyle, best_move_line, ended_line, info_line, visits_line};
pub use command::Command;
pub use error::UciError;
pub use genfens::GenFens;
pub use go::Go;
pub use options::{DEFAULT_OVERHEAD, MAX_LINES, SearchKind, SetOption, Style};
