//! What `engine --version` tells.

use anyhow::Result;
use engine::embedded_net;
use models::{Metadata, Network};

/// Prints the version, the commit where the build was told it, and what the embedded
/// network says about itself.
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

/// The shape, and of what the network was made, as far as its file says so.
fn describe(metadata: &Metadata) -> String {
    let mut text = format!("{:#}, {}", metadata.architecture, metadata.layout);
    if let Some(fingerprint) = metadata.dataset["fingerprint"].as_str() {
        let first: String = fingerprint.chars().take(8).collect();
        text += &format!(", of dataset {first}");
    }
    text
}
