//! Which exit code an error gives.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use models::NetError;
use thiserror::Error;

/// A file or program named by the user could not be used; the source says why.
#[derive(Debug, Error)]
#[error("cannot {action} {path:?}")]
pub struct FileError {
    /// What was tried: `read`, `write`, `start`.
    pub action: &'static str,
    /// The file as the user named it.
    pub path: PathBuf,
    #[source]
    pub(super) source: io::Error,
}

/// 3 for files, 6 for refused networks, 1 for the rest; clap itself exits
/// with 2 on a wrong command line.
pub fn exit_code(error: &anyhow::Error) -> ExitCode {
    let code = if error.chain().any(|cause| cause.is::<FileError>()) {
        3
    } else if error.chain().any(|cause| cause.is::<NetError>()) {
        6
    } else {
        1
    };
    ExitCode::from(code)
}
