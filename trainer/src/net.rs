//! Reading and rounding of nets.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use models::bullet::{BulletNet, BulletShape};
use models::packed::GRID;
use models::{Layer, Metadata, NetError, Network, PolicyNetwork, QuantisedNetwork};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::error::TrainerError;
use network::bound;

/// Size limit of net files, in bytes: far above any net that fits the engine, far below a dump of
/// games or an endless device.
const LARGEST: u64 = 64 << 20;

/// A net read from a file.
#[derive(Debug)]
pub struct Net {
    /// Path of the file.
    pub path: PathBuf,
    /// SHA-256 of the file, in hexadecimal.
    sha256: String,
    /// Weights and architecture.
    pub network: Network,
    /// Metadata of the file.
    pub metadata: Metadata,
}

impl Net {
    /// Returns the entry that names this net in another net's metadata: file name, digest, and what
    /// it was trained by and on. Folders are omitted, since they differ from machine to machine.
    pub fn named(&self) -> Value {
        let name = self.path.file_name().unwrap_or_default();
        json!({
            "file": name.to_string_lossy(),
            "sha256": self.sha256,
            "target": self.metadata.target,
            "training": self.metadata.training,
            "dataset": self.metadata.dataset,
        })
    }
}

/// Reads a net file. Refuses nets that do not fit the engine.
pub fn read(path: &Path) -> Result<Net, TrainerError> {
    let bytes = read_bytes(path)?;
    let refused = |error| TrainerError::NetRefused {
        path: path.to_path_buf(),
        error,
    };
    let (network, metadata) = Network::from_bytes(&bytes).map_err(refused)?;
    let found = network.architecture();
    if !QuantisedNetwork::fits(found) {
        return Err(refused(NetError::TooLarge { found }));
    }
    Ok(Net {
        path: path.to_path_buf(),
        sha256: format!("{:x}", Sha256::digest(&bytes)),
        network,
        metadata,
    })
}

/// Reads a policy's file.
pub fn read_policy(path: &Path) -> Result<PolicyNetwork, TrainerError> {
    let bytes = read_bytes(path)?;
    let read = PolicyNetwork::from_bytes(&bytes);
    let (network, _) = read.map_err(|error| TrainerError::NetRefused {
        path: path.to_path_buf(),
        error,
    })?;
    Ok(network)
}

/// Reads a `quantised.bin` of bullet. Refuses nets wider than the engine's.
pub fn read_bullet(path: &Path, shape: BulletShape) -> Result<Net, TrainerError> {
    let bytes = read_bytes(path)?;
    let net = BulletNet::from_bytes(&bytes, shape).map_err(|error| {
        let path = path.to_path_buf();
        TrainerError::BulletRefused { path, error }
    })?;
    let network = net.network();
    let found = network.architecture();
    if !QuantisedNetwork::fits(found) {
        return Err(TrainerError::NetRefused {
            path: path.to_path_buf(),
            error: NetError::TooLarge { found },
        });
    }
    Ok(Net {
        path: path.to_path_buf(),
        sha256: format!("{:x}", Sha256::digest(&bytes)),
        metadata: Metadata::new(found, "bullet"),
        network,
    })
}

/// Reads a whole file of at most [`LARGEST`] bytes.
fn read_bytes(path: &Path) -> Result<Vec<u8>, TrainerError> {
    let mut bytes = Vec::new();
    let mut file = File::open(path)
        .map_err(TrainerError::unreadable(path))?
        .take(LARGEST + 1);
    let read = file.read_to_end(&mut bytes);
    read.map_err(TrainerError::unreadable(path))?;
    match file.limit() {
        0 => Err(TrainerError::NoNet {
            path: path.to_path_buf(),
            most: LARGEST,
        }),
        _ => Ok(bytes),
    }
}

/// Reads a net for training to start from.
pub fn read_to_train(path: &Path) -> Result<Net, TrainerError> {
    let net = read(path)?;
    for (index, layer) in net.network.layers().iter().enumerate() {
        let most = bound(net.network.architecture(), index);
        let numbers = layer.weight.iter().chain(&layer.bias);
        // The file's f16 may have rounded up a weight at the bound.
        let mut beyond = numbers.filter(|number| number.abs() > most * 1.001);
        if let Some(&found) = beyond.next() {
            return Err(TrainerError::NotTrainable {
                path: path.to_path_buf(),
                layer: index,
                found,
                most,
            });
        }
    }
    Ok(net)
}

/// Returns the network as its file will hold it: the first layer in multiples of 1/128, which pack
/// well ([`models::packed`]), and all weights rounded to f16. `None` if a weight is not finite.
pub fn on_grid(network: &Network) -> Option<Network> {
    let mut layers = network.layers().to_vec();
    let Layer { weight, bias } = &mut layers[0];
    round_to_grid(weight.iter_mut().chain(bias));
    rounded(&Network::new(network.architecture(), layers))
}

/// Returns the policy as its file will hold it: all weights in multiples of 1/128, which are exact
/// in f16 and pack into a byte each ([`models::packed`]).
pub fn policy_on_grid(mut policy: PolicyNetwork) -> PolicyNetwork {
    let weights = policy.inputs.iter_mut().chain(&mut policy.moves);
    let biases = policy.bias.iter_mut().chain(&mut policy.move_bias);
    round_to_grid(weights.chain(biases));
    policy
}

fn round_to_grid<'a>(numbers: impl Iterator<Item = &'a mut f32>) {
    for number in numbers {
        *number = (*number * f32::from(GRID)).round() / f32::from(GRID);
    }
}

/// Returns the network with its weights rounded to f16. `None` if a weight is not finite.
pub fn rounded(network: &Network) -> Option<Network> {
    let metadata = Metadata::new(network.architecture(), "");
    Network::from_bytes(&network.to_bytes(&metadata))
        .ok()
        .map(|(network, _)| network)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    use models::{Architecture, MAX_LATER};

    use crate::testing::SMALL;

    /// Returns the error of starting training from `network`.
    fn refusal(network: Network) -> TrainerError {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("n.safetensors");
        let metadata = Metadata::new(network.architecture(), "a test");
        fs::write(&path, network.to_bytes(&metadata)).unwrap();
        let error = read_to_train(&path).unwrap_err();
        assert_eq!(error.exit_code() as u8, 6);
        error
    }

    #[test]
    fn refuses_nets_too_large_for_the_engine() {
        let architecture = Architecture::hidden([64, MAX_LATER + 1, 16]);
        let error = refusal(Network::random(architecture, 1));
        assert!(error.to_string().contains("33"), "{error}");
    }

    #[test]
    fn reads_nets_of_bullet_by_their_shape() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quantised.bin");
        let shape: BulletShape = "8x2".parse().unwrap();
        let numbers = (0..shape.file_bytes() / 2).map(|i| (i % 17) as i16);
        let bytes: Vec<u8> = numbers.flat_map(i16::to_le_bytes).collect();
        fs::write(&path, &bytes).unwrap();
        let net = read_bullet(&path, shape).unwrap();
        assert_eq!(
            net.network.architecture().to_string(),
            "2x8 (pieces, squared-clipped-relu, 2 buckets)"
        );
        assert_eq!(net.network.layers()[0].weight[0], 0.0);
        assert_eq!(net.network.layers()[0].weight[1], 8.0 / 255.0);
        let error = read_bullet(&path, "8x1".parse().unwrap()).unwrap_err();
        assert_eq!(error.exit_code() as u8, 6);
        assert!(error.to_string().contains("8x1:screlu:400"), "{error}");
    }

    #[test]
    fn refuses_files_larger_than_any_net() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("n.safetensors");
        let file = File::create(&path).unwrap();
        // A sparse file, larger than memory.
        file.set_len(1 << 42).unwrap();
        let error = read(&path).unwrap_err();
        assert_eq!(error.exit_code() as u8, 6);
        assert!(error.to_string().contains("more than"), "{error}");
    }

    #[test]
    fn refuses_to_start_from_weights_beyond_the_bounds() {
        for layer in 0..4 {
            for sign in [1.0, -1.0] {
                let start = Network::random(SMALL, 1);
                let with = |number: f32| {
                    let mut layers = start.layers().to_vec();
                    layers[layer].weight[7] = sign * number;
                    Network::new(SMALL, layers)
                };
                let most = bound(SMALL, layer);
                let error = refusal(with(1.01 * most));
                assert!(error.to_string().contains("cannot start"), "{error}");
                // A weight at the bound, rounded to f16, is accepted: training itself leaves it.
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("n.safetensors");
                let metadata = Metadata::new(SMALL, "a test");
                fs::write(&path, with(most).to_bytes(&metadata)).unwrap();
                assert!(read_to_train(&path).is_ok());
            }
        }
    }
}
