//! Operating-system services for all programs: atomic file replacement ([`durable`]), files named
//! by the user ([`read`], [`check_free`]), stop signals ([`StopSignal`], [`unless_stopped`]), worker
//! threads ([`Workers`], [`read_ahead()`]), output that tolerates closed pipes ([`print()`],
//! [`tell`]), numbers for people ([`thousands`]), exit codes ([`ExitCode`]) and the version
//! ([`VERSION`]). Feature `progress` adds progress bars (`Progress`), feature `archive` resumable
//! outputs (`archive`), feature `threads` the option `--threads` (`Threads`), feature `install` shell
//! completions and man pages (`InstallCommand`).
//!
//! The crate knows nothing of datasets. It stands in their folder because the workspace's top level
//! is given, and `datasets` is the lowest crate that needs it.

#[cfg(feature = "archive")]
pub mod archive;
pub mod durable;
mod exit;
mod file;
#[cfg(feature = "install")]
mod install;
mod numbers;
mod output;
#[cfg(feature = "progress")]
mod progress;
mod read_ahead;
mod stop;
#[cfg(feature = "threads")]
mod threads;
mod version;
mod workers;

pub use exit::ExitCode;
pub use file::{Action, Exists, FileError, check_free, check_free_for_markup, read};
#[cfg(feature = "install")]
pub use install::InstallCommand;
pub use numbers::{rate, thousands};
pub use output::{print, tell};
#[cfg(feature = "progress")]
pub use progress::{Form, FormattedDuration, Progress, eta};
pub use read_ahead::{ReadAhead, Reader, read_ahead};
pub use stop::{StopSignal, unless_stopped};
#[cfg(feature = "threads")]
pub use threads::Threads;
pub use version::VERSION;
pub use workers::{Outcome, Results, Workers};
