//! Conversion of errors to one line and an exit code.

use host::{ExitCode, FileError, tell};
use models::NetError;

/// Prints an error as one line on stderr, and returns its exit code.
pub fn report(error: &anyhow::Error) -> ExitCode {
    tell(format!("engine: {error:#}"));
    exit_code(error)
}

/// Returns the code of the first cause that has one.
fn exit_code(error: &anyhow::Error) -> ExitCode {
    let code = |cause: &(dyn std::error::Error + 'static)| {
        let file = cause.downcast_ref::<FileError>();
        let net = cause.is::<NetError>().then_some(ExitCode::Net);
        file.map(FileError::exit_code).or(net)
    };
    error.chain().find_map(code).unwrap_or(ExitCode::Other)
}
