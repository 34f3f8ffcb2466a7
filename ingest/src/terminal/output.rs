//! Results go to standard output; whoever reads it may stop early.

use std::path::Path;

use anyhow::Result;
use datasets::Error;

/// Prints a result. A reader that has closed the pipe has seen enough.
///
/// # Errors
/// [`Error::Unwritable`] for any other reason.
pub fn print(text: &str) -> Result<()> {
    host::print(text).map_err(Error::unwritable(Path::new("standard output")))?;
    Ok(())
}
