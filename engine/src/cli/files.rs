//! Files named by the user.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use models::{Network, QuantisedNetwork};

use super::error::{Action, FileError};

/// Reads a whole file.
pub fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    fs::read(path).map_err(FileError::to(Action::Read, path))
}

/// Reads a network, as floats and as integers.
pub fn load_network(path: &Path) -> Result<(Network, QuantisedNetwork)> {
    let bytes = read(path)?;
    networks(&bytes).with_context(|| format!("network {path:?} refused"))
}

/// The networks in a safetensors file.
pub fn networks(bytes: &[u8]) -> Result<(Network, QuantisedNetwork)> {
    let (network, _) = Network::from_bytes(bytes)?;
    let quantised = QuantisedNetwork::new(&network)?;
    Ok((network, quantised))
}

/// The evaluator with the network compiled into the engine.
pub fn embedded_evaluator() -> Result<engine::Evaluator> {
    engine::Evaluator::embedded()
        .context("the embedded network was refused; rebuild with another by KIBITZ_NET=FILE")
}

/// Prints a result. A reader who has closed the pipe has seen enough.
///
/// # Errors
/// If standard output cannot be written for any other reason.
pub fn print(text: &str) -> Result<(), FileError> {
    host::print(text).map_err(FileError::to(Action::Write, "standard output"))
}
