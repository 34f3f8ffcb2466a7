//! Many games: several at a time, their conditions, what is counted and
//! reported, the file that keeps them.

pub(crate) mod conditions;
pub(crate) mod games_file;
pub(crate) mod match_score;
pub(crate) mod progress;
pub(crate) mod report;
pub(crate) mod schedule;
