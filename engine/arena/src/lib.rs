//! Kibitz's arena: everything that plays games with engines. Matches, ladders
//! of many engines, self-play, the tuning of options, suites of test positions.
//!
//! Its rooms, from the lowest up: `statistics`, `players`, `games`,
//! `tournament`, `selfplay`, `commands`. The program is what is used: it is all
//! of [`Arguments`] and [`run`].

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
