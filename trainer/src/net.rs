//! Reading nets.

use std::fs;
use std::path::Path;

use models::{Metadata, Network};

use crate::failure::Failure;

/// Reads a net's file.
///
/// # Errors
/// [`Failure::Unreadable`] or [`Failure::NetRefused`].
pub fn read(path: &Path) -> Result<Network, Failure> {
    let bytes = fs::read(path).map_err(Failure::unreadable(path))?;
    match Network::from_bytes(&bytes) {
        Ok((network, _)) => Ok(network),
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

/// What a net's file says of itself.
///
/// # Errors
/// As [`read`].
pub fn read_metadata(path: &Path) -> Result<Metadata, Failure> {
    let bytes = fs::read(path).map_err(Failure::unreadable(path))?;
    Metadata::from_bytes(&bytes).map_err(|error| Failure::NetRefused {
        path: path.to_path_buf(),
        error,
    })
}
