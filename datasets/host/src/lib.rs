//! What the programs ask of the operating system: files that are there whole
//! or not at all ([`durable`]), files that the user names ([`read`]), signals
//! that ask a program to stop ([`StopSignal`], [`unless_stopped`]), outputs whose
//! reader may leave ([`print()`], [`tell`]), exit codes ([`ExitCode`]), and what they
//! are ([`VERSION`]). With the
//! feature `progress` also bars that show how far work has come (`Progress`), with
//! `archive` outputs that can be gone on with after any interruption (`archive`).

#[cfg(feature = "archive")]
pub mod archive;
pub mod durable;
mod exit;
mod file;
mod output;
#[cfg(feature = "progress")]
mod progress;
mod stop;
mod version;

pub use exit::ExitCode;
pub use file::{Action, Exists, FileError, check_free, check_free_for_markup, read};
pub use output::{print, tell};
#[cfg(feature = "progress")]
pub use progress::{Form, FormattedDuration, Progress};
pub use stop::{StopSignal, unless_stopped};
pub use version::VERSION;
