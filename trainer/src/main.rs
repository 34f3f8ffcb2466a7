//! Kibitz's trainer: a dataset in, a network in safetensors out.

mod batch;
mod calibration;
mod cli;
mod curves;
mod device;
mod errors;
mod eval;
mod failure;
mod figures;
mod first_layer;
mod fit;
mod golden;
mod integers;
mod learner;
mod model;
mod net;
mod neurons;
mod output;
mod page;
mod picture;
mod position;
mod progress;
mod report;
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
