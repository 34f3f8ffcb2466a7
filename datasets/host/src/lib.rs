//! What the programs ask of the operating system: files that are there whole
//! or not at all ([`durable`]), signals that ask a program to stop
//! ([`StopSignal`], [`unless_stopped`]), and outputs whose reader may leave
//! ([`print()`], [`tell`]).

pub mod durable;
mod output;
mod stop;

pub use output::{print, tell};
pub use stop::{StopSignal, unless_stopped};
