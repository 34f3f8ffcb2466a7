//! What the programs ask of the operating system: files that are there whole
//! or not at all ([`durable`]), signals that ask a program to stop
//! ([`StopSignal`]), and a standard output whose reader may leave ([`print()`]).

pub mod durable;
mod output;
mod stop;

pub use output::print;
pub use stop::StopSignal;
