//! Kibitz's ingest: Lichess dumps in, a dataset of evaluated positions out.
//!
//! The reading and the dataset are of the crate `datasets`; here are the
//! commands over it. The rooms, from the lowest up: `terminal`, `report`,
//! `export` and `annotate`, `commands`. The program is what is used: it is all
//! of [`Arguments`] and [`run`].

mod annotate;
mod commands;
mod export;
mod failure;
mod report;
mod terminal;

pub use commands::{Arguments, run};
pub use failure::report as report_failure;
