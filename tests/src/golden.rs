//! Golden vectors: a net's values on its training device, compared with its file.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use models::Network;
use serde_json::Value;

/// Compares the values in a net's `NAME.golden.json` with those of `NAME.safetensors`, computed
/// here in f32 from the engine's features. Returns the largest difference, in pawns, and the number
/// of positions.
///
/// # Errors
/// If a file cannot be read, or the engine's features differ.
pub fn largest_distance(net: &Path) -> Result<(f64, usize)> {
    let bytes = std::fs::read(net).with_context(|| format!("{}", net.display()))?;
    let (network, _) = Network::from_bytes(&bytes)?;
    let golden = net.with_extension("golden.json");
    let text = std::fs::read(&golden).with_context(|| format!("{}", golden.display()))?;
    let golden: Value = serde_json::from_slice(&text)?;
    let positions = golden["positions"].as_array().context("no positions")?;
    let mut largest = 0f64;
    for position in positions {
        let epd = position["epd"].as_str().context("a position has no epd")?;
        let board = engine::parse_fen(&format!("{epd} 0 1"))
            .map_err(|error| anyhow::anyhow!("{epd}: {error}"))?;
        let features = engine::features(&board);
        let mut ours: Vec<u64> = features.iter().map(|f| f.index() as u64).collect();
        let theirs = position["features"].as_array().context("no features")?;
        let mut theirs: Vec<u64> = theirs.iter().filter_map(Value::as_u64).collect();
        ours.sort();
        theirs.sort();
        ensure!(
            ours == theirs,
            "{epd}: {ours:?}, the trainer says {theirs:?}"
        );
        let expected = position["pawns"].as_f64().context("a value is no number")?;
        let value = f64::from(network.evaluate(&features));
        largest = largest.max((value - expected).abs());
    }
    Ok((largest, positions.len()))
}
