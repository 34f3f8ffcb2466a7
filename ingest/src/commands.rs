//! The command line: one module per subcommand.

mod annotate;
mod build;
mod export;
mod filters;
mod join;
mod merge;
mod shard;
mod stats;
mod values;

use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand};
use host::InstallCommand;

/// Turns Lichess dumps into a dataset of evaluated positions, or of moves.
#[derive(Parser)]
#[command(
    name = "ingest",
    version = host::VERSION.as_str(),
    after_help = "\
Example: a month of Lichess into a dataset, and a look at it

  ingest build lichess_db_standard_rated_2026-06.pgn.zst --out june.dataset
  ingest stats june.dataset --plot june.dataset.svg

Exit codes: 0 done, 1 other failure, 2 wrong usage, 3 a file is missing or
unreadable, or a connection was lost (the same command goes on), 4 a source is
damaged, empty or no PGN (what was good in it is kept), 5 the dataset or the
output is refused, 7 cannot write, 130 stopped by Ctrl-C (129 by SIGHUP, 143 by
SIGTERM)."
)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build a dataset from sources, or add to one
    Build(build::Arguments),
    /// Merge datasets into one
    Merge(merge::Arguments),
    /// Split a dataset into shards that read as one dataset
    Shard(shard::Arguments),
    /// Evaluate the positions of games with a UCI engine
    Annotate(annotate::Arguments),
    /// Join the annotated parts of a source
    Join(join::Arguments),
    /// Show what a dataset contains
    Stats(stats::Arguments),
    /// Export a dataset for other programs
    Export(export::Arguments),
    #[command(flatten)]
    Install(InstallCommand),
}

/// Runs the chosen subcommand.
pub fn run(arguments: Arguments) -> Result<()> {
    match arguments.command {
        Command::Build(arguments) => build::run(&arguments),
        Command::Merge(arguments) => merge::run(&arguments),
        Command::Shard(arguments) => shard::run(&arguments),
        Command::Annotate(arguments) => annotate::run(&arguments),
        Command::Join(arguments) => join::run(&arguments),
        Command::Stats(arguments) => stats::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Install(command) => Ok(command.run(Arguments::command())?),
    }
}
