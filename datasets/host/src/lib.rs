//! What the programs ask of the operating system: files that are there whole
//! or not at all ([`durable`]), files that the user names ([`read`]), signals
//! that ask a program to stop ([`StopSignal`], [`unless_stopped`]), outputs whose
//! reader may leave ([`print()`], [`tell`]), and exit codes ([`ExitCode`]).

pub mod durable;
mod exit;
mod file;
mod output;
mod stop;

pub use exit::ExitCode;
pub use file::{Action, FileError, read};
pub use output::{print, tell};
pub use stop::{StopSignal, unless_stopped};
