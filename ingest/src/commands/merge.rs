//! `ingest merge`: merges datasets into one.

use std::iter;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use datasets::{AnyDataset, Builder, Dataset, Error, PartOf, Row, StoreError};
use host::{StopSignal, Threads};

use crate::commands::build::{tell, unfinished};
use crate::terminal::stopped::Stopped;

const HELP: &str = "\
The result equals one build of all their sources, whatever the order of the
datasets: a source in several datasets counts once, equal positions are merged,
and a training position of any dataset is left out of validation. Once all parts
of a source are there (`ingest build --part`), they count as one source.

With --shard, each call makes one of N shards of the result (DIR/1.dataset and so on),
each a range of keys, so N machines can work in parallel. Once all shards are there,
give DIR wherever a dataset is read (`ingest shard --help`).

Datasets made with different filters are refused, and moves beside evaluations.
An interrupted merge leaves --out unchanged; the same command starts it over. An
--out with an unfinished build is refused; --force discards that build.

Example:
  ingest build 2026-06.pgn.zst --part 1/2 --out a.dataset   # on one machine
  ingest build 2026-06.pgn.zst --part 2/2 --out b.dataset   # on another
  ingest merge a.dataset b.dataset --out june.dataset
  ingest merge june.dataset --out lichess.dataset           # adds to it
  ingest merge 2026-*.dataset --shard 1/2 --out shards      # on one machine
  ingest merge 2026-*.dataset --shard 2/2 --out shards      # on another";

/// Arguments of `ingest merge`.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Datasets to merge; they are not changed
    #[arg(required = true, value_name = "DATASET")]
    datasets: Vec<PathBuf>,
    /// Dataset folder to add them to, created if missing; with --shard, the folder of all shards
    #[arg(short, long, value_name = "DATASET")]
    out: PathBuf,
    /// Make only shard I of N, a range of keys
    #[arg(long, value_name = "I/N")]
    shard: Option<PartOf>,
    /// Discard an unfinished build in --out
    #[arg(long, conflicts_with = "shard")]
    force: bool,
    #[command(flatten)]
    threads: Threads,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs `ingest merge`.
///
/// # Errors
/// If a dataset cannot be read or merged with the others, or the output is refused or cannot be
/// written; the output is then unchanged.
pub fn run(arguments: &Arguments) -> Result<()> {
    arguments.threads.apply();
    match AnyDataset::open(&arguments.datasets[0])? {
        AnyDataset::Evaluations(first) => merge(arguments, first),
        AnyDataset::Moves(first) => merge(arguments, first),
    }
}

fn merge<R: Row>(arguments: &Arguments, first: Dataset<R>) -> Result<()> {
    let stop = StopSignal::listen()?;
    // Open all datasets first, so that a refused one stops the merge before anything is made.
    let others = arguments.datasets[1..].iter();
    let others = others.map(|path| Dataset::open_rows(path));
    let datasets = iter::once(Ok(first)).chain(others);
    let datasets = datasets.collect::<Result<Vec<Dataset<R>>, StoreError>>()?;
    if let Some(part) = arguments.shard {
        let shard = datasets::merge_shard(datasets, &arguments.out, part, stop.flag());
        let (path, manifest) = match shard {
            Err(Error::Stopped) => bail!(Stopped::for_now(&stop)),
            shard => shard?,
        };
        return tell(&path, &manifest, arguments.json);
    }
    let builder = Builder::to_merge(&arguments.out, datasets, unfinished(arguments.force))?;
    let known = arguments.datasets.len() - builder.others();
    if known > 0 {
        let out = arguments.out.display();
        host::tell(format_args!(
            "{out}: has all sources of {known} of the datasets already"
        ));
    }
    let manifest = match builder.finish_unless_stopped(stop.flag()) {
        Err(Error::Stopped) => bail!(Stopped::for_now(&stop)),
        manifest => manifest?,
    };
    tell(&arguments.out, &manifest, arguments.json)
}
