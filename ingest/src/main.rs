//! The `ingest` program: Lichess dumps in, a dataset of evaluated positions out.

use std::process::ExitCode;

use clap::Parser;
use ingest::{Arguments, report_failure, run};

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report_failure(&error).into(),
    }
}
