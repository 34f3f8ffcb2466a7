//! The engine's signature, the node count of `engine bench`: it must be the same for every
//! instruction set, and equal the latest `Bench: NODES` line of the commits. `tests/wasm.sh`
//! compares WebAssembly.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use engine::{BENCH_DEPTH, Engine, Evaluator, bench};
use models::{Kernel, QuantisedNetwork};

/// Returns the count of the latest commit that has one.
fn committed() -> Option<u64> {
    let log = Command::new("git")
        .args(["log", "-1", "--format=%B", "--extended-regexp"])
        .arg("--grep=^Bench: [0-9]+$")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    let text = log.ok().filter(|log| log.status.success())?.stdout;
    let text = String::from_utf8(text).expect("a commit message in UTF-8");
    let line = text
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("Bench: "));
    line.map(|nodes| nodes.parse().expect("a count of nodes"))
}

#[test]
fn every_kernel_matches_the_latest_committed_signature() {
    let Some(committed) = committed() else {
        test_support::skip("the history of the repository, with its counts of nodes, is not there");
        return;
    };
    // Not the embedded network, which KIBITZ_NET may have replaced.
    let net = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/default.safetensors");
    let network = QuantisedNetwork::from_bytes(&std::fs::read(net).unwrap()).unwrap();
    for kernel in Kernel::available() {
        let evaluator = Evaluator::new(network.clone().with_kernel(kernel));
        let nodes = bench(
            &mut Engine::new(evaluator),
            BENCH_DEPTH,
            &AtomicBool::new(false),
            |_, _| {},
        );
        assert_eq!(
            nodes, committed,
            "by {kernel}; a change of the search is committed with a line `Bench: {nodes}`"
        );
    }
}
