//! A run: `plan` is what the command line asks for, `learner` takes a step, which an
//! `executor` carries out on the CPU or a GPU, `run` goes from the first step to the last and on from a
//! checkpoint. `feed` makes batches ready ahead of the devices. `tables` fits piece-square tables, `tuning` looks for a learning rate,
//! `overfit` checks the network's code, `throughput` measures devices.

pub mod artifacts;
pub mod checkpoint;
pub mod device;
pub mod executor;
pub mod feed;
pub mod golden;
pub mod history;
pub mod learner;
pub mod live;
pub mod overfit;
pub mod plan;
pub mod progress;
pub mod regularisation;
pub mod run;
pub mod schedule;
pub mod tables;
pub mod throughput;
pub mod tuning;
pub mod validation;
