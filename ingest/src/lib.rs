//! Kibitz's ingest: Lichess dumps in, a dataset of evaluated positions out.
//!
//! Source reading and the dataset format live in the crate `datasets`; this crate holds the
//! commands. Modules from the lowest up: `terminal`, `report`, `export` and `annotate`, `commands`.
//! The library serves only the program; its API is [`Arguments`], [`run`] and [`report_failure`].

mod annotate;
mod commands;
mod export;
mod failure;
mod report;
mod terminal;

pub use commands::{Arguments, run};
pub use failure::report as report_failure;
