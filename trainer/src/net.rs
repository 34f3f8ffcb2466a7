//! Reading nets.

use std::fs;
use std::path::{Path, PathBuf};

use models::{Metadata, Network};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::failure::Failure;

/// A net that was read from a file.
#[derive(Debug)]
pub struct Net {
    /// The file.
    pub path: PathBuf,
    /// SHA-256 of the file, hexadecimal.
    sha256: String,
    /// What it holds.
    pub network: Network,
    /// What it says of itself.
    pub metadata: Metadata,
}

impl Net {
    /// The net as the metadata of another name it: without folders, which
    /// differ from machine to machine.
    pub fn named(&self) -> Value {
        let name = self.path.file_name().unwrap_or_default();
        json!({ "file": name.to_string_lossy(), "sha256": self.sha256 })
    }
}

/// Reads a net's file.
///
/// # Errors
/// [`Failure::Unreadable`] or [`Failure::NetRefused`].
pub fn read(path: &Path) -> Result<Net, Failure> {
    let bytes = fs::read(path).map_err(Failure::unreadable(path))?;
    match Network::from_bytes(&bytes) {
        Ok((network, metadata)) => Ok(Net {
            path: path.to_path_buf(),
            sha256: format!("{:x}", Sha256::digest(&bytes)),
            network,
            metadata,
        }),
        Err(error) => Err(Failure::NetRefused {
            path: path.to_path_buf(),
            error,
        }),
    }
}

/// The network as its file will hold it: weights rounded to f16. `None` if
/// one is not a number.
pub fn rounded(network: &Network) -> Option<Network> {
    let metadata = Metadata::new(network.shape(), "");
    Network::from_bytes(&network.to_bytes(&metadata))
        .ok()
        .map(|(network, _)| network)
}
