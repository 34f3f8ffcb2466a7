//! Files named by the user.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result};
use models::{Network, QuantisedNetwork};

use super::error::{Action, FileError};

/// Far more than any net that the engine plays with.
const LARGEST_NET: u64 = 64 << 20;
/// Far more than any book or file of openings.
const LARGEST: u64 = 4 << 30;

/// Reads a whole file.
pub fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    read_at_most(path, LARGEST)
}

/// Reads a whole file, which may be a pipe or a device that never ends: only so
/// many bytes.
fn read_at_most(path: &Path, most: u64) -> Result<Vec<u8>, FileError> {
    let read = || {
        let mut bytes = Vec::new();
        let mut file = File::open(path)?.take(most + 1);
        file.read_to_end(&mut bytes)?;
        match file.limit() {
            0 => Err(io::Error::other(format!("it has more than {most} bytes"))),
            _ => Ok(bytes),
        }
    };
    read().map_err(FileError::to(Action::Read, path))
}

/// Reads a network, as floats and as integers.
pub fn load_network(path: &Path) -> Result<(Network, QuantisedNetwork)> {
    let bytes = read_at_most(path, LARGEST_NET)?;
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
