//! What the commands tell the user: progress, why they stopped.

pub(crate) mod progress;
pub(crate) mod stopped;
