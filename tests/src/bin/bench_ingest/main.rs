//! How fast ingest is, beside the tools that only unpack the dump.

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
    /// The dump to read; else one is made by generator, and kept for next time
    #[arg(long, value_name = "FILE.pgn.zst")]
    dump: Option<PathBuf>,
    /// The same text in one zstd frame; made with the dump unless that is given
    #[arg(long, value_name = "FILE.pgn.zst", requires = "dump")]
    single_frame: Option<PathBuf>,
    /// Games of the dump that is made
    #[arg(long, default_value_t = 455_000, conflicts_with = "dump")]
    games: u64,
    /// Runs of each contender
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// The Python that has python-chess
    #[arg(long, default_value = "python3")]
    python: PathBuf,
    /// Write all figures of all runs
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
    let dataset = files.dataset_stats()?;
    // Last, since a process that has grown measures its children badly.
    let reading = reading::measure(&files.dataset, arguments.runs)?;
    let report = report::report(&files, &dataset, &contenders, &reading);
    print!("{}", report::table(&report));
    if let Some(path) = &arguments.json {
        std::fs::write(path, format!("{report:#}\n"))?;
    }
    Ok(())
}
