//! `trainer report`: compares runs.

use std::path::PathBuf;

use clap::Args;

use crate::commands::output::json;
use crate::commands::values;
use crate::error::TrainerError;
use crate::files;
use crate::report::runs;
use crate::report::runs_page::{self, MOST_RUNS};

const EXAMPLE: &str = "\
Example: compare two runs that differ in one option:
  trainer fit --data 2013-02.dataset --out cosine.safetensors
  trainer fit --data 2013-02.dataset --out linear.safetensors --schedule linear
  trainer report cosine.safetensors linear.safetensors --out runs.html

The figures are those of each run's best epoch, explained by `trainer eval --help`. Below them
are the differences between the configurations in the nets' metadata.";

/// Arguments of `trainer report`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Arguments {
    /// Runs, each by its net with NAME.metrics.jsonl beside it, or by NAME.metrics.jsonl alone
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// Write an HTML page with curves and figures
    #[arg(short, long, value_name = "FILE.html", value_parser = values::page)]
    out: Option<PathBuf>,
    /// Draw the curves as SVG
    #[arg(long, alias = "picture", value_name = "FILE.svg", value_parser = values::picture)]
    plot: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// [`TrainerError`].
pub fn run(arguments: Arguments) -> Result<(), TrainerError> {
    if arguments.runs.len() > MOST_RUNS {
        return Err(TrainerError::Usage(format!(
            "{} runs are too many for one picture: give {MOST_RUNS} at most",
            arguments.runs.len()
        )));
    }
    for path in [&arguments.out, &arguments.plot].into_iter().flatten() {
        files::check_picture(path)?;
    }
    let runs = runs::read(&arguments.runs)?;
    host::print(&match arguments.json {
        true => json(&runs),
        false => runs.to_string(),
    })?;
    if let Some(path) = &arguments.out {
        files::write(path, runs_page::html(&runs).as_bytes())?;
    }
    if let Some(path) = &arguments.plot {
        files::write(path, runs_page::svg(&runs).as_bytes())?;
    }
    Ok(())
}
