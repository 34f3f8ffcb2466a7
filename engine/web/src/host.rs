//! The interface to the environment: clock, progress reports, shared memory.

use std::sync::Arc;

use crate::team::SharedMemory;

/// Services that the environment provides to a session.
pub trait Host: Sync {
    /// Monotonic time in milliseconds, from any origin.
    fn now(&self) -> f64;
    /// Receives each iteration of a search as JSON.
    fn report(&self, json: &str);
    /// Memory shared with the other workers of a team, the same for every search; `None`
    /// outside a team.
    fn shared_memory(&self) -> Option<Arc<dyn SharedMemory>> {
        None
    }
}
