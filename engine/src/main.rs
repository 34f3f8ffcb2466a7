//! The engine's command line. Without a command it speaks UCI.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
