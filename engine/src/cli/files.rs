//! Networks named by the user, and the embedded one.

use std::path::Path;

use anyhow::{Context, Result};
use engine::{Evaluator, embedded_net};
use models::{MAX_FILE_BYTES, Network, QuantisedNetwork};

/// Reads a network, as floats and as integers.
pub fn load_network(path: &Path) -> Result<(Network, QuantisedNetwork)> {
    let bytes = host::read(path, MAX_FILE_BYTES)?;
    networks(&bytes).with_context(|| format!("network {path:?} refused"))
}

/// The networks in a safetensors file.
fn networks(bytes: &[u8]) -> Result<(Network, QuantisedNetwork)> {
    let (network, _) = Network::from_bytes(bytes)?;
    let quantised = QuantisedNetwork::new(&network)?;
    Ok((network, quantised))
}

/// The network compiled into the engine.
pub fn embedded_networks() -> Result<(Network, QuantisedNetwork)> {
    networks(embedded_net())
        .context("the embedded network was refused; rebuild with another by KIBITZ_NET=FILE")
}

/// The evaluator with that.
pub fn embedded_evaluator() -> Result<Evaluator> {
    Ok(Evaluator::new(embedded_networks()?.1))
}
