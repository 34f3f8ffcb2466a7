//! What `--version` tells.

use std::sync::LazyLock;

/// The version of all programs, and the commit where the build was told it by the
/// environment variable `KIBITZ_COMMIT`, as `.ci/package` does.
pub static VERSION: LazyLock<String> = LazyLock::new(|| {
    let version = env!("CARGO_PKG_VERSION");
    match option_env!("KIBITZ_COMMIT") {
        Some(commit) => format!("{version} (commit {commit})"),
        None => version.to_string(),
    }
});
