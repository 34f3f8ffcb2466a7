//! Lichess dumps in, a dataset of evaluated positions out.

mod annotate;
mod build;
mod cli;
mod export;
mod failure;
mod filter_arguments;
mod histogram;
mod output;
mod plot;
mod progress;
mod stats;
mod table;
mod values;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match cli::run(cli::Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}
