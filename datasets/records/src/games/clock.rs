//! Clock comments: `[%clk 0:02:58]`.

use std::sync::LazyLock;

use memchr::memmem::Finder;

const TAG: &[u8] = b"[%clk ";

/// Returns the `0:02:58` of `[%clk 0:02:58]`.
pub(crate) fn clock(comment: &[u8]) -> Option<&str> {
    // Building a finder takes longer than searching a comment.
    static FINDER: LazyLock<Finder> = LazyLock::new(|| Finder::new(TAG));
    let rest = &comment[FINDER.find(comment)? + TAG.len()..];
    let text = std::str::from_utf8(&rest[..memchr::memchr(b']', rest)?]).ok()?;
    let fits = |b: u8| b.is_ascii_digit() || b == b':' || b == b'.';
    (!text.is_empty() && text.bytes().all(fits)).then_some(text)
}

/// Returns the whole seconds of a comment's clock. `None` without one, and above 136 years.
pub(crate) fn seconds(comment: &[u8]) -> Option<u32> {
    let clock = clock(comment)?;
    let whole = clock.split_once('.').map_or(clock, |(whole, _)| whole);
    whole.split(':').try_fold(0u32, |seconds, field| {
        let field: u32 = field.parse().ok()?;
        seconds.checked_mul(60)?.checked_add(field)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_read_in_seconds() {
        for (comment, expected) in [
            (" [%clk 0:02:58] ", Some(178)),
            ("[%eval 0.3] [%clk 1:00:00]", Some(3600)),
            ("[%clk 0:00:59.5]", Some(59)),
            ("[%clk 1:30]", Some(90)),
            ("[%clk 49:00:00]", Some(176_400)),
            ("[%clk 99999999999]", None),
            ("[%clk 9999999:00:00]", None),
            ("[%clk :]", None),
            ("[%clk x]", None),
            ("[%clk 1:00", None),
            ("[%emt 0:00:03]", None),
        ] {
            assert_eq!(seconds(comment.as_bytes()), expected, "{comment}");
        }
    }
}
