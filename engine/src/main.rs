//! The engine's command line. Without a command it runs a UCI session.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
