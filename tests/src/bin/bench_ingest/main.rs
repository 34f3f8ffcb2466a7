//! Benchmark of `ingest build` against tools that only decompress the dump.

mod contender;
mod files;
mod reading;
mod report;

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Parser;

/// Measures `ingest build` on a dump: wall and processor time and peak memory,
/// beside `zstd -dc`, and `pzstd -dc` and python-chess where installed. Counts
/// instructions where valgrind is installed.
#[derive(Parser)]
#[command(
    version,
    after_help = "\
Runs of all contenders alternate, so that noise hits all alike; the table shows
medians. `taskset -c 0,1 COMMAND` measures on two cores.

Example:
  cargo build --release -p ingest -p tests
  cargo run --release -p tests --bin bench_ingest -- --json bench.json"
)]
struct Arguments {
    /// Dump to read [default: a generated one, kept for the next run]
    #[arg(long, value_name = "FILE.pgn.zst")]
    dump: Option<PathBuf>,
    /// Same text in one zstd frame; generated along with the dump unless --dump is given
    #[arg(long, value_name = "FILE.pgn.zst", requires = "dump")]
    single_frame: Option<PathBuf>,
    /// Games in the generated dump
    #[arg(long, default_value_t = 455_000, conflicts_with = "dump")]
    games: u64,
    /// Runs of each contender
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Python interpreter with python-chess
    #[arg(long, default_value = "python3")]
    python: PathBuf,
    /// Write the figures of all runs as JSON
    #[arg(long, value_name = "FILE.json")]
    json: Option<PathBuf>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let files = files::Files::prepare(&arguments)?;
    let mut contenders = contender::line_up(&files, &arguments.python)?;
    for run in 1..=arguments.runs {
        for contender in &mut contenders {
            eprintln!("run {run} of {}: {}", arguments.runs, contender.name);
            contender.run()?;
        }
    }
    if contender::works(Path::new("valgrind"), &["--version"]) {
        for contender in contenders.iter_mut().filter(|one| one.is_countable()) {
            eprintln!("instructions: {}", contender.name);
            contender.count_instructions()?;
        }
    }
    let stats = report::Stats {
        dataset: files::Files::stats_of(&files.dataset)?,
        moves: files::Files::stats_of(&files.moves)?,
    };
    // Last: a process that has grown inflates the peak memory of its children.
    let reading = reading::measure(&files.dataset, arguments.runs)?;
    let report = report::report(&files, &stats, &contenders, &reading);
    print!("{}", report::table(&report));
    if let Some(path) = &arguments.json {
        std::fs::write(path, format!("{report:#}\n"))?;
    }
    Ok(())
}
