//! Games between engines and nets.

use std::process::ExitCode;

use arena::{Arguments, report, run};
use clap::Parser;

fn main() -> ExitCode {
    run(&Arguments::parse()).unwrap_or_else(|error| report(&error))
}
