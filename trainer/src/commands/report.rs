//! `trainer report`: several runs side by side.

use std::path::PathBuf;

use clap::Args;

use crate::commands::output::json;
use crate::commands::values;
use crate::error::TrainerError;
use crate::files;
use crate::report::runs;
use crate::report::runs_page::{self, MOST_RUNS};

const EXAMPLE: &str = "\
Example: two runs that differ in one option, and what became of them:
  trainer fit --data 2013-02.dataset --out cosine.safetensors
  trainer fit --data 2013-02.dataset --out linear.safetensors --schedule linear
  trainer report cosine.safetensors linear.safetensors --out runs.html

The figures are those of each run's best epoch; `trainer eval --help` says what they are.
Below them stands what differs in the configurations, which the nets tell.";

/// Arguments of `trainer report`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Arguments {
    /// Runs: their nets, with NAME.metrics.jsonl beside them, or those metrics
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// Write curves and figures as one page, for a browser
    #[arg(long, value_name = "FILE.html", value_parser = values::page)]
    out: Option<PathBuf>,
    /// Draw the curves
    #[arg(long, value_name = "FILE.svg", value_parser = values::picture)]
    picture: Option<PathBuf>,
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
            "{} runs cannot be told apart in one picture: give {MOST_RUNS} at most",
            arguments.runs.len()
        )));
    }
    for path in [&arguments.out, &arguments.picture].into_iter().flatten() {
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
    if let Some(path) = &arguments.picture {
        files::write(path, runs_page::svg(&runs).as_bytes())?;
    }
    Ok(())
}
