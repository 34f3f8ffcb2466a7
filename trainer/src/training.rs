//! Training runs: `plan` holds the settings, `learner` takes steps, carried out by an `executor` on
//! the CPU or a GPU, and `run` goes from the first step or a checkpoint to the last. `feed`
//! prepares batches ahead of the device. `short_fits` are the runs of a forecast. `tables` fits
//! piece-square tables, `throughput` measures devices.

pub mod artifacts;
pub mod checkpoint;
pub mod device;
pub mod executor;
pub mod feed;
pub mod golden;
pub mod history;
pub mod learner;
pub mod live;
pub mod plan;
pub mod progress;
pub mod regularisation;
pub mod run;
pub mod schedule;
pub mod short_fits;
pub mod tables;
pub mod throughput;
pub mod validation;
