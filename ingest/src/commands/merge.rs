//! `ingest merge`: datasets in, one out.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use datasets::{Builder, Dataset, Error, PartOf};
use host::StopSignal;

use crate::commands::build::{tell, unfinished};
use crate::terminal::stopped::Stopped;

const HELP: &str = "\
The outcome is what one build of all their sources makes, whatever the order of
the datasets: a source that several of them have counts once, equal positions
are joined, and one that any of them trains on is left out of validation. Once
all parts of a source are there (`ingest build --part`), it counts as a whole.

With --shard, each call makes one of N shards of the outcome, DIR/1.dataset and so on,
from the positions of one range of keys: N machines make them side by side. Give DIR
wherever a dataset is read, once all are there (`ingest shard --help`).

Datasets that were made with other filters are refused. A merge that is
interrupted leaves --out as it was; the same command begins it again. An --out
with an unfinished build is refused: --force discards it.

Example:
  ingest build 2026-06.pgn.zst --part 1/2 --out a.dataset   # on one machine
  ingest build 2026-06.pgn.zst --part 2/2 --out b.dataset   # on another
  ingest merge a.dataset b.dataset --out june.dataset
  ingest merge june.dataset --out lichess.dataset           # adds to it
  ingest merge 2026-*.dataset --shard 1/2 --out shards      # on one machine
  ingest merge 2026-*.dataset --shard 2/2 --out shards      # on another";

/// What `ingest merge` takes.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Datasets, which stay as they are
    #[arg(required = true, value_name = "DATASET")]
    datasets: Vec<PathBuf>,
    /// The dataset to add them to, a folder; made if it is not there. With --shard, the
    /// folder of all shards
    #[arg(long, value_name = "DATASET")]
    out: PathBuf,
    /// Make only the I-th of N shards of the outcome, by ranges of keys
    #[arg(long, value_name = "I/N")]
    shard: Option<PartOf>,
    /// Discard an unfinished build in --out
    #[arg(long, conflicts_with = "shard")]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs `ingest merge`.
///
/// # Errors
/// If a dataset cannot be read or merged with the others, or the output is refused or
/// cannot be written; it is then as it was.
pub fn run(arguments: &Arguments) -> Result<()> {
    let stop = StopSignal::listen()?;
    // All are opened before anything is made: one that is refused stops the merge at once.
    let datasets = arguments.datasets.iter().map(|path| Dataset::open(path));
    let datasets = datasets.collect::<Result<Vec<Dataset>, Error>>()?;
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
