//! What the commands tell the user: progress, results, why they stopped.

pub(crate) mod output;
pub(crate) mod progress;
pub(crate) mod stopped;
