//! Kibitz's trainer: fits a network to a dataset and writes it as safetensors.
//!
//! The network and its arithmetic are in crates `network` (CPU) and `gpu`. Each room may use those
//! above it: `batch` (records to batches), `net` (net files), `report` (figures and pictures),
//! `training` (a run), `policy` (a policy's run), `commands` (the command line). All of them may use `error` and `files`.

mod batch;
mod commands;
mod error;
mod files;

mod net;
mod policy;
mod report;
#[cfg(test)]
mod testing;
mod training;

pub use commands::{Arguments, run};
pub use error::TrainerError;
