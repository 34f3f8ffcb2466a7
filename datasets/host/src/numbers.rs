//! Numbers in texts for people.

/// Formats a count with commas between thousands: `1,234,567`. JSON has plain numbers.
pub fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a rate as a whole number, with commas between thousands.
pub fn rate(per_second: f64) -> String {
    thousands(per_second.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_by_thousands() {
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(thousands),
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!([0.4, 999.5, f64::NAN].map(rate), ["0", "1,000", "0"]);
    }
}
