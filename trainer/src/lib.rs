//! Kibitz's trainer: fits a network to a dataset and writes it as safetensors.
//!
//! The network and its arithmetic are in crates `network` (CPU) and `gpu`. Each room may use those
//! above it: `input` (records to batches), `net` (net files), `report` (figures and pictures),
//! `training` (a run), `commands` (the command line). All of them may use `error` and `files`.

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
