//! Check of a net's golden vectors, written on the training device, against its file evaluated on
//! this processor.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Parser;
use tests::golden::largest_distance;

/// Largest accepted difference, in pawns.
const BOUND: f64 = 1e-4;

/// Compares NAME.golden.json, which `trainer fit` writes on the device it trains on, with
/// NAME.safetensors on this processor. Prints JSON.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Network file
    #[arg(value_name = "NAME.safetensors")]
    net: PathBuf,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let (largest, positions) = largest_distance(&arguments.net)?;
    println!("{{\"positions\": {positions}, \"largest_distance\": {largest:e}}}");
    ensure!(
        largest <= BOUND,
        "the device's values are {largest:e} pawns from the processor's, more than {BOUND:e}"
    );
    Ok(())
}
