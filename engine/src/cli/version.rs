//! What `engine --version` tells.

use engine::EMBEDDED_NET;
use models::{Metadata, Network};

/// The version, the commit where the build was told it, and what the embedded network
/// says about itself.
pub fn version() -> String {
    let net = match Network::from_bytes(EMBEDDED_NET) {
        Ok((_, metadata)) => describe(&metadata),
        Err(error) => error.to_string(),
    };
    format!("{}\nnet: {net}", *host::VERSION)
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
