//! Lichess dumps in, a dataset of evaluated positions out.

mod annotate;
mod build;
mod cli;
mod failure;
mod histogram;
mod output;
mod plot;
mod progress;
mod stats;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match cli::run(cli::Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}
