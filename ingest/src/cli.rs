//! The command line.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::{annotate, build, export, filter_arguments, stats};

/// Turns Lichess dumps into a dataset of evaluated positions.
#[derive(Parser)]
#[command(
    version,
    after_help = "\
Example: a month of Lichess into a dataset, and a look at it

  ingest build lichess_db_standard_rated_2026-06.pgn.zst --out june.dataset
  ingest stats june.dataset --plot june.svg

Exit codes: 0 done, 1 other failure, 2 wrong usage, 3 a file is missing or
unreadable, or a connection was lost (the same command goes on), 4 a source is
damaged, empty or no PGN (what was good in it is kept), 5 the dataset or the
output is refused, 7 cannot write, 130 stopped by Ctrl-C (129 by SIGHUP, 143 by
SIGTERM)."
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXPORT_HELP: &str = "\
Formats (docs/export.md has every detail):

  bullet   ChessBoard of the crate bulletformat, bullet's native chess board:
           32 bytes, score and result from the side to move's view. It has no
           room for castling rights, en passant, ply, depth and month. Mate in
           n is a score of 32000 - n; an unknown result becomes a draw.
  text     FEN | centipawns | 1.0, 0.5 or 0.0, all from White's view. Mate in n
           is 32000 - n; an unknown result is ?, a line that bullet's converter
           leaves out. `ingest build` reads it.
  parquet  columns fen, cp, mate, result, ply, month, depth, split; null is
           unknown. White's view.

The positions come in the order of their hashes, a uniform shuffle. The file
has its name only when it is whole; until then it is FILE.part.

Example:
  ingest export june.dataset --format parquet --out june.parquet
  ingest export june.dataset --format bullet --split train --known-results --out june.bullet
  ingest export june.dataset --format text --out - | head";

const BUILD_HELP: &str = "\
Every position with an [%eval] is kept, labelled with the evaluation that
follows the move. Equal positions are joined. Games are held out for
validation by their identity, so that no game is on both sides.

Sources may come in any order, and again: the dataset is the same. A build
that is interrupted leaves the dataset as it was; the same command goes on
where it stopped. A folder that holds something else than a dataset is refused.
";

const BUILD_EXAMPLE: &str = "\
Example:
  ingest build 2026-05.pgn.zst 2026-06.pgn.zst --out lichess.dataset
  ingest build https://example.org/games.pgn.zst --out lichess.dataset
  zstdcat games.pgn.zst | ingest build - --out lichess.dataset
  ingest build 2026-06.pgn.zst --out quiet.dataset \\
    --min-rating 1800 --speeds blitz,rapid,classical --min-ply 16 --quiet --max-eval 1000";

#[derive(Subcommand)]
enum Command {
    /// Take in sources: make a dataset, or add to one
    #[command(after_help = format!("{BUILD_HELP}\n{}\n{BUILD_EXAMPLE}", filter_arguments::HELP))]
    Build(build::Arguments),
    /// Evaluate the positions of games with a UCI engine
    #[command(after_help = "\
Writes the games again, as Lichess writes its dumps, with an [%eval] after each
move: White's point of view, and the depth of the search. Games that have
evaluations keep theirs. A name that ends with .pgn gives plain text, .pgn.zst
a compressed file. What is made is called FILE.part until it is whole,
with a record of what made it beside it in FILE.json; interrupted in any way,
the same command goes on where FILE.json says it is whole, and the file is the
same as if nothing had happened. An engine that crashes, hangs or answers nonsense
is restarted; a position on which it fails twice is left without an evaluation.

Example:
  ingest annotate games.pgn --engine stockfish --nodes 100000 --out games.pgn.zst
  ingest build games.pgn.zst --out games.dataset")]
    Annotate(annotate::Arguments),
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
    /// Write a dataset in a format that other programs read
    #[command(after_help = EXPORT_HELP)]
    Export(export::Arguments),
}

/// Runs the command that was asked for.
pub fn run(cli: Cli) -> Result<()> {
    match cli.command {
        Command::Build(arguments) => build::run(&arguments),
        Command::Annotate(arguments) => annotate::run(&arguments),
        Command::Stats {
            dataset,
            json,
            plot,
        } => stats::run(&dataset, json, plot.as_deref()),
        Command::Export(arguments) => export::run(&arguments),
    }
}
