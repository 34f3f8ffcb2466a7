//! UCI as text: commands in, `info` and `bestmove` lines out. Nothing here
//! reads or prints.

mod answer;
mod command;
mod error;
mod genfens;
mod go;
mod options;

/// The most plies that `go perft` and `bench` take: each takes a part of the stack.
pub const MAX_PLIES: u32 = 128;

pub use answer::{Style, best_move_line, ended_line, info_line};
pub use command::Command;
pub use error::UciError;
pub use genfens::GenFens;
pub use go::Go;
pub use options::{DEFAULT_OVERHEAD, MAX_LINES, SetOption};
