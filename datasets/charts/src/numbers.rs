//! Number formatting for people.

/// Formats a count in short form: `250`, `12k`, `1.5M`, `1.1B`.
pub fn short_count(count: f64) -> String {
    let (count, unit) = match count {
        ..1e3 => (count, ""),
        ..1e6 => (count / 1e3, "k"),
        ..1e9 => (count / 1e6, "M"),
        _ => (count / 1e9, "B"),
    };
    format!("{}{unit}", (10.0 * count).round() / 10.0)
}

/// Formats a share of a total: `33.3 %`.
pub fn percent(part: u64, whole: u64) -> String {
    let share = 100.0 * part as f64 / whole.max(1) as f64;
    if part > 0 && share < 0.05 {
        "< 0.1 %".to_string()
    } else {
        format!("{share:.1} %")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_numbers() {
        assert_eq!(
            [0.0, 250.0, 1500.0, 2e6].map(short_count),
            ["0", "250", "1.5k", "2M"]
        );
        assert_eq!(percent(1, 3), "33.3 %");
        assert_eq!(percent(1, 100_000), "< 0.1 %");
        assert_eq!(percent(0, 0), "0.0 %");
    }
}
