//! Messages to the user: progress, and the error of a stopped run.

pub(crate) mod progress;
pub(crate) mod stopped;
