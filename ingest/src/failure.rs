//! Error reporting: one line on standard error, and an exit code.

use datasets::{SourceError, StoreError};
use host::{Exists, ExitCode, FileError};

use crate::annotate;
use crate::terminal::stopped::Stopped;

/// Prints an error as one line and returns the exit code of the first cause that has one. Usage
/// errors exit at once.
pub fn report(error: &anyhow::Error) -> ExitCode {
    if let Some(usage) = error.downcast_ref::<clap::Error>() {
        usage.exit();
    }
    host::tell(format_args!("ingest: {error:#}"));
    let code = error.chain().find_map(|cause| {
        let build = cause.downcast_ref().map(datasets::Error::exit_code);
        let source = || cause.downcast_ref().map(SourceError::exit_code);
        let store = || cause.downcast_ref().map(StoreError::exit_code);
        let annotate = || cause.downcast_ref().map(annotate::Error::exit_code);
        let file = || cause.downcast_ref().map(FileError::exit_code);
        let exists = || cause.downcast_ref().map(Exists::exit_code);
        let stopped = || {
            cause
                .downcast_ref()
                .map(|stopped: &Stopped| stopped.exit_code)
        };
        build
            .or_else(source)
            .or_else(store)
            .or_else(annotate)
            .or_else(file)
            .or_else(exists)
            .or_else(stopped)
    });
    code.unwrap_or(ExitCode::Other)
}
