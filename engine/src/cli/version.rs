//! `engine --version`.

use anyhow::Result;
use engine::embedded_net;
use models::{Metadata, Network};

/// Prints the version, the commit if known at build time, and a description of the embedded
/// network.
pub fn run() -> Result<()> {
    let net = match Network::from_bytes(embedded_net()) {
        Ok((_, metadata)) => describe(&metadata),
        Err(error) => error.to_string(),
    };
    Ok(host::print(&format!(
        "engine {}\nnet: {net}\n",
        *host::VERSION
    ))?)
}

/// Returns the architecture and, if recorded in the file, the dataset of the network.
fn describe(metadata: &Metadata) -> String {
    let mut text = format!("{:#}, {}", metadata.architecture, metadata.layout);
    if let Some(fingerprint) = metadata.dataset["fingerprint"].as_str() {
        let first: String = fingerprint.chars().take(8).collect();
        text += &format!(", of dataset {first}");
    }
    text
}
