//! `trainer linear`: fits piece-square tables, a baseline for networks.

use std::path::PathBuf;

use clap::Args;
use datasets::Split;
use host::Threads;

use crate::commands::output::{held_out_figures, json};
use crate::commands::{dataset, values};
use crate::error::TrainerError;
use crate::training::plan::batch_for;
use crate::training::tables::{self, TablesPlan};

const EXAMPLE: &str = "\
Example: fit a value for each piece on each square, then compare with a net:
  trainer linear --data 2013-02.dataset --out linear.safetensors
  trainer compare --pgn games.pgn.zst --contender linear=linear.safetensors \\
      --contender net=net.safetensors
  arena match --engine net.safetensors --engine linear.safetensors --depth 4 \\
      --games 400 --book openings.epd

The tables are fitted by the loss of `trainer fit`, and written as a small net that computes
their sum, which all programs read. The same command gives the same net.";

/// Arguments of `trainer linear`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Arguments {
    /// Dataset, as `ingest build` writes it
    #[arg(short, long, value_name = "DATASET")]
    data: PathBuf,
    /// Net to write
    #[arg(short, long, value_name = "NET.safetensors", value_parser = values::net)]
    out: PathBuf,
    /// Passes over the training positions
    #[arg(long, value_name = "N", default_value = "5", allow_negative_numbers = true,
          value_parser = values::epochs)]
    epochs: u64,
    /// Seed of the order of positions
    #[arg(long, value_name = "N", default_value = "1", allow_negative_numbers = true,
          value_parser = values::seed)]
    seed: u64,
    /// Replace an existing net
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    threads: Threads,
    /// Print the summary as JSON on standard output
    #[arg(long)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// [`TrainerError`].
pub fn run(arguments: Arguments) -> Result<(), TrainerError> {
    arguments.threads.apply();
    let dataset = dataset::open_to_train_on(&arguments.data)?;
    let plan = TablesPlan {
        out: arguments.out,
        force: arguments.force,
        epochs: arguments.epochs,
        batch: batch_for(dataset.len(Split::Train)),
        seed: arguments.seed,
    };
    let summary = tables::fit(&dataset, &plan)?;
    let (net, seconds) = (summary.net.display(), summary.seconds);
    Ok(host::print(&match arguments.json {
        true => json(&summary),
        false => format!(
            "{net}: piece-square tables, fitted in {seconds:.0} s\n{}",
            held_out_figures(summary.validation)
        ),
    })?)
}
