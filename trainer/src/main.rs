//! Kibitz's trainer: a dataset in, a network in safetensors out.

mod batch;
mod bench;
mod boards;
mod calibration;
mod checkpoint;
mod cli;
mod clipping;
mod compare;
mod cost;
mod cpu;
mod curves;
mod device;
mod errors;
mod eval;
mod expand;
mod failure;
mod figures;
mod files;
mod finite;
mod first_layer;
mod fit;
mod golden;
mod history;
mod integers;
mod keeper;
mod learner;
mod linear;
mod model;
mod net;
mod neurons;
mod page;
mod plan;
mod playouts;
mod position;
mod progress;
mod reader;
mod readings;
mod regularisation;
mod replicas;
mod report;
mod schedule;
mod target;
#[cfg(test)]
mod testing;
mod validation;
mod values;

use std::process::ExitCode;

use clap::Parser;

/// Keeps what a step frees for the next: tensors of some ten megabytes, whose
/// pages the system would otherwise take back and hand out cleared.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match cli::run(cli::Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            host::tell(format_args!("trainer: {failure}"));
            ExitCode::from(failure.exit_code())
        }
    }
}
