//! From an error to one line and an exit code.

use host::{ExitCode, FileError, tell};
use models::NetError;

/// Tells the user of an error, in one line, and gives its exit code.
pub fn report(error: &anyhow::Error) -> ExitCode {
    tell(format!("engine: {error:#}"));
    exit_code(error)
}

/// What the first cause says that has a code of its own.
fn exit_code(error: &anyhow::Error) -> ExitCode {
    let code = |cause: &(dyn std::error::Error + 'static)| {
        let file = cause.downcast_ref::<FileError>();
        let net = cause.is::<NetError>().then_some(ExitCode::Net);
        file.map(FileError::exit_code).or(net)
    };
    error.chain().find_map(code).unwrap_or(ExitCode::Other)
}
