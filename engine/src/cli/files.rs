//! Network files and the embedded network.

use std::path::Path;

use anyhow::{Context, Result};
use engine::{Evaluator, People, embedded_net};
use models::{MAX_FILE_BYTES, Network, QuantisedNetwork};

/// Loads a network, in floats and quantised.
pub fn load_network(path: &Path) -> Result<(Network, QuantisedNetwork)> {
    let bytes = host::read(path, MAX_FILE_BYTES)?;
    networks(&bytes).with_context(|| format!("network {path:?} refused"))
}

/// Parses a safetensors file.
fn networks(bytes: &[u8]) -> Result<(Network, QuantisedNetwork)> {
    let (network, _) = Network::from_bytes(bytes)?;
    let quantised = QuantisedNetwork::new(&network)?;
    Ok((network, quantised))
}

/// Loads a policy.
pub fn load_policy(path: &Path) -> Result<People> {
    let bytes = host::read(path, MAX_FILE_BYTES)?;
    People::from_bytes(&bytes).with_context(|| format!("policy {path:?} refused"))
}

/// Returns the embedded network, in floats and quantised.
pub fn embedded_networks() -> Result<(Network, QuantisedNetwork)> {
    networks(embedded_net())
        .context("the embedded network was refused; rebuild with another by KIBITZ_NET=FILE")
}

/// Returns an evaluator with the embedded network.
pub fn embedded_evaluator() -> Result<Evaluator> {
    Ok(Evaluator::new(embedded_networks()?.1))
}
