//! The `trainer` program: global allocator and exit code.

use std::process::ExitCode;

use clap::Parser;

/// mimalloc keeps freed memory for the next step: tensors of some ten megabytes, whose pages the
/// system would otherwise take back and hand out zeroed.
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
