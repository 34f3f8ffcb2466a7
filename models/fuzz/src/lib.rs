//! Code shared by the fuzz targets: nearly valid files, and invariants of every file.

mod choices;
mod file;
mod positions;

pub use choices::Choices;
pub use file::file;

use models::{
    Accumulator, Feature, Kernel, MAX_TRANSIENT, Metadata, NetError, Network, QuantisedNetwork,
};

/// Reads a net file and checks its invariants: it is refused in one short line, or has a value in
/// every position.
///
/// # Panics
/// If an invariant fails.
pub fn check(bytes: &[u8], choices: &mut Choices) {
    match Network::from_bytes(bytes) {
        Ok((network, metadata)) => check_network(&network, &metadata, choices),
        Err(error) => check_refusal(&error),
    }
}

fn check_refusal(error: &NetError) {
    let message = error.to_string();
    assert!(message.len() < 1_000, "{message}");
    assert!(!message.contains(char::is_control), "{message:?}");
}

fn check_network(network: &Network, metadata: &Metadata, choices: &mut Choices) {
    // Writing rounds the weights once; writing again does not change them.
    let written = network.to_bytes(metadata);
    let (rounded, same) = Network::from_bytes(&written).expect("what is read can be written");
    assert_eq!(&same, metadata);
    assert!(rounded.to_bytes(&same) == written, "written otherwise");
    let positions = positions::some(network, choices);
    for features in &positions {
        let pawns = network.evaluate(features);
        assert!(pawns.is_finite(), "{pawns}");
    }
    match QuantisedNetwork::new(network) {
        Ok(network) => check_kernels(&network, &positions, choices),
        Err(error) => check_refusal(&error),
    }
}

/// Checks that all kernels agree on sums and values, both from scratch and by updates.
fn check_kernels(network: &QuantisedNetwork, positions: &[Vec<Feature>], choices: &mut Choices) {
    let mut kernels = Kernel::available();
    let scalar = kernels.pop().expect("there is always the scalar one");
    let scalar = network.clone().with_kernel(scalar);
    for kernel in kernels {
        let network = network.clone().with_kernel(kernel);
        for features in positions {
            let value = scalar.evaluate_features(features);
            assert_eq!(network.evaluate_features(features), value, "{kernel}");
            let most = features.len().min(MAX_TRANSIENT);
            let kept = features.len() - choices.below(most + 1);
            let (kept, transient) = features.split_at(kept);
            let accumulator = network.accumulator(kept);
            assert_eq!(accumulator, scalar.accumulator(kept), "{kernel}");
            let mirrored = network.architecture().mirrored;
            if !mirrored || transient.iter().all(|f| f.mirrored() == *f) {
                let split = network.evaluate_split(kept, transient);
                assert_eq!(split, value, "{kernel}");
            }
        }
        for pair in positions.windows(2) {
            let [from, to] = [&pair[0], &pair[1]].map(|features| network.accumulator(features));
            let mut updated = Accumulator::ZERO;
            network.update(&from, &pair[1], &pair[0], &mut updated);
            assert_eq!(updated, to, "{kernel}");
        }
    }
}
