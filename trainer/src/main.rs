//! The program: its allocator, its exit code.

use std::process::ExitCode;

use clap::Parser;

/// Keeps what a step frees for the next: tensors of some ten megabytes, whose
/// pages the system would otherwise take back and hand out cleared.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match trainer::run(trainer::Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            host::tell(format_args!("trainer: {failure}"));
            failure.exit_code().into()
        }
    }
}
