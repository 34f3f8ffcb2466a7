//! Tournaments: scheduling, conditions, scores, reports, and the games file.

pub(crate) mod conditions;
pub(crate) mod games_file;
pub(crate) mod match_score;
pub(crate) mod progress;
pub(crate) mod report;
pub(crate) mod schedule;
