//! The version shown by `--version`.

use std::sync::LazyLock;

/// Version of all programs, with the commit if the environment variable `KIBITZ_COMMIT` is set at
/// build time, as `.ci/package` does.
pub static VERSION: LazyLock<String> = LazyLock::new(|| {
    let version = env!("CARGO_PKG_VERSION");
    match option_env!("KIBITZ_COMMIT") {
        Some(commit) => format!("{version} (commit {commit})"),
        None => version.to_string(),
    }
});
