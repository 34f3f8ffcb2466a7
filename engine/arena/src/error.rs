//! Conversion of errors to one line of text and an exit code.

use engine::TablesError;
use host::archive::ArchiveError;
use host::{Exists, ExitCode, FileError, tell};
use uci_client::{EvaluatorError, StartError};

use crate::commands::{ParametersError, ProblemError, RecordError};
use crate::games::openings::BookError;
use crate::tournament::games_file::GamesError;

/// Prints an error on one line and returns its exit code.
pub fn report(error: &anyhow::Error) -> ExitCode {
    if let Some(usage) = error.downcast_ref::<clap::Error>() {
        // Ignored: the output may be closed.
        let _ = usage.print();
    } else {
        tell(format!("arena: {error:#}"));
    }
    exit_code(error)
}

/// Returns the code of the first error in the chain that has one, else [`ExitCode::Other`].
fn exit_code(error: &anyhow::Error) -> ExitCode {
    let code = |cause: &(dyn std::error::Error + 'static)| -> Option<ExitCode> {
        if cause.is::<clap::Error>() {
            Some(ExitCode::Usage)
        } else if let Some(error) = cause.downcast_ref::<FileError>() {
            Some(error.exit_code())
        } else if let Some(StartError::Program { .. }) = cause.downcast_ref() {
            Some(ExitCode::Missing)
        } else if cause.is::<BookError>()
            || cause.is::<ProblemError>()
            || cause.is::<ParametersError>()
        {
            Some(ExitCode::Damaged)
        } else if cause.is::<GamesError>() || cause.is::<RecordError>() || cause.is::<Exists>() {
            Some(ExitCode::Refused)
        } else if let Some(error) = cause.downcast_ref::<ArchiveError>() {
            Some(error.exit_code())
        } else if cause.is::<TablesError>() {
            Some(ExitCode::Missing)
        } else {
            cause.downcast_ref().map(EvaluatorError::exit_code)
        }
    };
    error.chain().find_map(code).unwrap_or(ExitCode::Other)
}
