//! The command line.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::{build, filter_arguments, stats};

/// Turns Lichess dumps into a dataset of evaluated positions.
#[derive(Parser)]
#[command(
    version,
    after_help = "\
Example: a month of Lichess into a dataset, and a look at it

  ingest build lichess_db_standard_rated_2026-06.pgn.zst --out june.dataset
  ingest stats june.dataset --plot june.svg

Exit codes: 0 done, 1 other failure, 2 wrong usage, 3 a file is missing or
unreadable, 4 a source is damaged, empty or no PGN (what was good in it is
kept), 5 the dataset is refused, 7 cannot write (disk full)."
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const BUILD_HELP: &str = "\
Every position with an [%eval] is kept, labelled with the evaluation that
follows the move. Equal positions are joined. Games are held out for
validation by their identity, so that no game is on both sides.

Sources may come in any order, and again: the dataset is the same. A build
that is interrupted leaves the dataset as it was.
";

const BUILD_EXAMPLE: &str = "\
Example:
  ingest build 2026-05.pgn.zst 2026-06.pgn.zst --out lichess.dataset
  curl -s https://example.org/games.pgn.zst | ingest build - --out lichess.dataset
  ingest build 2026-06.pgn.zst --out quiet.dataset \\
    --min-rating 1800 --speeds blitz,rapid,classical --min-ply 16 --quiet --max-eval 1000";

#[derive(Subcommand)]
enum Command {
    /// Take in sources: make a dataset, or add to one
    #[command(after_help = format!("{BUILD_HELP}\n{}\n{BUILD_EXAMPLE}", filter_arguments::HELP))]
    Build(build::Arguments),
    /// Tell what is in a dataset
    Stats {
        /// The dataset
        dataset: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Draw the report into an SVG
        #[arg(long, value_name = "FILE.svg")]
        plot: Option<PathBuf>,
    },
}

/// Runs the command that was asked for.
pub fn run(cli: Cli) -> Result<()> {
    match cli.command {
        Command::Build(arguments) => build::run(&arguments),
        Command::Stats {
            dataset,
            json,
            plot,
        } => stats::run(&dataset, json, plot.as_deref()),
    }
}
