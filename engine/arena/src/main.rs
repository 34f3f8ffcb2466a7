//! The `arena` program: games between engines and nets.

use std::process::ExitCode;

use arena::{Arguments, report, run};
use clap::Parser;

fn main() -> ExitCode {
    let ended = run(&Arguments::parse());
    ended.unwrap_or_else(|error| report(&error)).into()
}
