//! The memory limit of a container (Linux control groups), which may be below the machine's.

use std::fs;

use anyhow::{Result, ensure};

/// Files with the limit in bytes: of control groups version 2 and version 1.
const LIMITS: [&str; 2] = [
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
];

/// Checks that a transposition table fits the limit, beyond which the system kills the engine.
///
/// # Errors
/// If the table is larger.
pub fn check_table(mebibytes: usize) -> Result<()> {
    let limits = LIMITS.map(|path| fs::read_to_string(path).ok());
    check_limits(mebibytes, limits.iter().flatten().map(String::as_str))
}

/// Implements [`check_table`] on the contents of the files; `max` means no limit.
fn check_limits<'a>(mebibytes: usize, limits: impl Iterator<Item = &'a str>) -> Result<()> {
    let bytes = limits.filter_map(|text| text.trim().parse::<u64>().ok());
    if let Some(least) = bytes.min() {
        let most = least >> 20;
        ensure!(
            mebibytes as u64 <= most,
            "no memory for a transposition table of {mebibytes} MiB: \
             this process may use {most} MiB"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_must_fit_the_lowest_limit() {
        let fits =
            |mebibytes, limits: &[&str]| check_limits(mebibytes, limits.iter().copied()).is_ok();
        assert!(fits(1 << 17, &[]) && fits(1 << 17, &["max\n"]));
        assert!(fits(512, &["536870912\n", "9223372036854771712\n"]));
        assert!(!fits(513, &["536870912\n", "9223372036854771712\n"]));
    }
}
