//! Kibitz's trainer: a dataset in, a network in safetensors out.
//!
//! The network and its arithmetic are in crates `network` (CPU) and `gpu`. Each room may use
//! those above it: `input` (records to batches), `net` (nets in files), `report` (figures and pictures), `training` (a run),
//! `commands` (the command line). All of them may use `error` and `files`.

mod commands;
mod error;
mod files;
mod input;
mod net;
mod report;
#[cfg(test)]
mod testing;
mod training;

pub use commands::{Arguments, run};
pub use error::TrainerError;
