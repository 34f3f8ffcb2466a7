//! Kibitz's arena: matches and ladders between engines, self-play data generation, SPSA tuning, and
//! test suites.
//!
//! Modules, from the lowest up: `statistics`, `players`, `games`, `tournament`, `selfplay`,
//! `commands`. The program calls [`Arguments`], [`run`] and [`report`]; nothing else is public.

mod commands;
mod error;
mod games;
mod parameters;
mod players;
mod selfplay;
mod statistics;
mod tournament;
mod usage;

pub use commands::{Arguments, run};
pub use error::report;
