//! How much memory a container leaves its programs, which may be less than the machine has.

use std::fs;

use anyhow::{Result, ensure};

/// Where version 2 of Linux's control groups states the limit in bytes, and version 1.
const LIMITS: [&str; 2] = [
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
];

/// Refuses a transposition table for which the system would kill the engine.
///
/// # Errors
/// Where the table has more bytes than this process may use.
pub fn check_table(mebibytes: usize) -> Result<()> {
    let limits = LIMITS.map(|path| fs::read_to_string(path).ok());
    check_limits(mebibytes, limits.iter().flatten().map(String::as_str))
}

/// As [`check_table`], with the texts of the files; `max` is no limit.
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
    fn a_table_has_to_fit_the_least_limit() {
        let fits =
            |mebibytes, limits: &[&str]| check_limits(mebibytes, limits.iter().copied()).is_ok();
        assert!(fits(1 << 17, &[]) && fits(1 << 17, &["max\n"]));
        assert!(fits(512, &["536870912\n", "9223372036854771712\n"]));
        assert!(!fits(513, &["536870912\n", "9223372036854771712\n"]));
    }
}
