//! What lies around the module.

use std::sync::Arc;

use crate::team::SharedMemory;

/// What a session needs from around it.
pub trait Host: Sync {
    /// Milliseconds since some moment.
    fn now(&self) -> f64;
    /// Told of every iteration of a search, as JSON.
    fn report(&self, json: &str);
    /// Memory shared with the other workers of a team, where this one has joined one: it is
    /// the same for every search.
    fn shared_memory(&self) -> Option<Arc<dyn SharedMemory>> {
        None
    }
}
