//! `ingest shard`: splits a dataset into a folder of shards.

use std::num::NonZero;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use datasets::{AnyDataset, Dataset, Error, PartOf, Row};
use host::StopSignal;
use serde_json::json;

use crate::commands::values;
use crate::terminal::stopped::Stopped;

const HELP: &str = "\
Each shard holds a range of keys: DIR/1.dataset, DIR/2.dataset and so on. Give DIR
wherever a dataset is read, such as `trainer fit --data`: it reads as the same dataset, in
the same order for the same seed. To spread it over disks, put links to the shards into DIR.

The dataset is not changed. The same command resumes after an interruption.

Example:
  ingest shard lichess.dataset --number 4 --out shards
  trainer fit --data shards --out lichess.safetensors";

/// Arguments of `ingest shard`.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// The dataset
    #[arg(value_name = "DATASET")]
    dataset: PathBuf,
    /// Number of shards
    #[arg(long, value_name = "N", value_parser = values::count::<NonZero<u32>>)]
    number: NonZero<u32>,
    /// Folder for the shards, created if missing
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs `ingest shard`.
///
/// # Errors
/// If the dataset cannot be read, or the output is refused or cannot be written.
pub fn run(arguments: &Arguments) -> Result<()> {
    match AnyDataset::open(&arguments.dataset)? {
        AnyDataset::Evaluations(dataset) => shard(arguments, &dataset),
        AnyDataset::Moves(dataset) => shard(arguments, &dataset),
    }
}

fn shard<R: Row>(arguments: &Arguments, dataset: &Dataset<R>) -> Result<()> {
    let stop = StopSignal::listen()?;
    let cut = PartOf::first_of(arguments.number);
    let shards = match datasets::shard(dataset, &arguments.out, cut, stop.flag()) {
        Err(Error::Stopped) => bail!(Stopped::for_now(&stop)),
        shards => shards?,
    };
    // JSON cannot hold paths that are not Unicode.
    let shards: Vec<String> = shards
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    Ok(host::print(&match arguments.json {
        true => serde_json::to_string_pretty(&json!({ "shards": shards }))? + "\n",
        false => shards.iter().map(|path| format!("{path}\n")).collect(),
    })?)
}
