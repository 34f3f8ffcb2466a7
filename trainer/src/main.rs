//! Kibitz's trainer: a dataset in, a network in safetensors out.

mod batch;
mod checkpoint;
mod cli;
mod clipping;
mod curves;
mod device;
mod eval;
mod failure;
mod figures;
mod finite;
mod first_layer;
mod fit;
mod golden;
mod history;
mod interrupt;
mod keeper;
mod learner;
mod model;
mod net;
mod output;
mod plan;
mod position;
mod progress;
mod readings;
mod schedule;
mod target;
#[cfg(test)]
mod testing;
mod validation;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match cli::run(cli::Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("trainer: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}
