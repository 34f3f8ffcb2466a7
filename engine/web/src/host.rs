//! What lies around the module.

/// What a session needs from around it.
pub trait Host: Sync {
    /// Milliseconds since some moment.
    fn now(&self) -> f64;
    /// Told of every iteration of a search, as JSON.
    fn report(&self, json: &str);
}
