//! PGN comments: text, `[%eval]` and `[%clk]`.

use records::position::{EvalComment, format_eval, parse_eval};

use crate::score::WhiteScore;
use crate::tree::Node;

/// Trims a comment and replaces `}`, which would end it in PGN.
pub fn comment_text(text: &str) -> String {
    text.trim().replace('}', ")")
}

/// Adds a PGN comment to a node: its first evaluation and clock as fields, the rest as text.
pub fn add(node: &mut Node, comment: &str) {
    let mut text = String::new();
    let mut rest = comment;
    while let Some(start) = rest.find("[%") {
        let Some(length) = rest[start..].find(']') else {
            break;
        };
        let end = start + length + 1;
        let (before, command) = rest[..end].split_at(start);
        text.push_str(before);
        if !add_command(node, command) {
            // Commands of other programs stay in the text.
            text.push_str(command);
        } else if text.ends_with(|c: char| !c.is_whitespace()) {
            // Keep the parts around a removed command from joining to one word or command.
            text.push(' ');
        }
        rest = &rest[end..];
    }
    text.push_str(rest);
    join(&mut node.comment, &comment_text(&text));
}

/// Appends to a comment, separated by a space.
pub fn join(comment: &mut String, more: &str) {
    if !comment.is_empty() && !more.is_empty() {
        comment.push(' ');
    }
    comment.push_str(more);
}

/// Stores an evaluation or clock if the node has none; returns whether it was stored.
fn add_command(node: &mut Node, command: &str) -> bool {
    if let EvalComment::Eval { label, depth } = parse_eval(command.as_bytes()) {
        let first = node.eval.is_none();
        if first {
            node.eval = Some(WhiteScore::of_label(label));
            node.depth = depth;
        }
        return first;
    }
    let clock = (command.strip_prefix("[%clk "))
        .and_then(|text| read_clock(text.trim_end_matches(']').trim()));
    match (clock, node.clock) {
        (Some(_), None) => {
            node.clock = clock;
            true
        }
        _ => false,
    }
}

/// Parses a clock such as `1:02:03.4`; returns milliseconds.
fn read_clock(text: &str) -> Option<u32> {
    let mut parts = text.split(':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let (seconds, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let whole = |text: &str| -> Option<u32> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse().ok()).flatten()
    };
    let thousandths = match fraction.len() {
        0 => 0,
        1..=3 => whole(fraction)? * 10u32.pow(3 - fraction.len() as u32),
        _ => return None,
    };
    let minutes = whole(hours)?
        .checked_mul(60)?
        .checked_add(whole(minutes)?)?;
    let seconds = minutes.checked_mul(60)?.checked_add(whole(seconds)?)?;
    seconds.checked_mul(1000)?.checked_add(thousandths)
}

fn write_clock(milliseconds: u32) -> String {
    let seconds = milliseconds / 1000;
    let fraction = match milliseconds % 1000 {
        0 => String::new(),
        rest => format!(".{rest:03}").trim_end_matches('0').to_string(),
    };
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("[%clk {hours}:{minutes:02}:{:02}{fraction}]", seconds % 60)
}

/// Returns the PGN comment after a node, without braces; `None` if empty.
pub fn of_node(node: &Node) -> Option<String> {
    let eval = node.eval.or(node.found).and_then(WhiteScore::label);
    let depth = node.eval.map_or(0, |_| node.depth);
    let parts = [
        eval.map(|label| format_eval(label, depth)),
        node.clock.map(write_clock),
        Some(node.comment.clone()).filter(|text| !text.is_empty()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separates_evaluation_clock_and_text() {
        let mut node = Node::default();
        add(
            &mut node,
            " [%eval -0.31,20] [%clk 0:03:00.5] Good. [%csl Ga1] ",
        );
        assert_eq!(node.eval, Some(WhiteScore::Cp(-31)));
        assert_eq!((node.depth, node.clock), (20, Some(180_500)));
        assert_eq!(node.comment, "Good. [%csl Ga1]");
        let written = "[%eval -0.31,20] [%clk 0:03:00.5] Good. [%csl Ga1]";
        assert_eq!(of_node(&node).as_deref(), Some(written));
        // A second evaluation stays in the text.
        add(&mut node, "[%eval 9.0] [%clk nonsense");
        assert_eq!(node.eval, Some(WhiteScore::Cp(-31)));
        assert!(node.comment.ends_with("[%eval 9.0] [%clk nonsense"));
    }

    #[test]
    fn clocks_are_read_as_they_are_written() {
        for (text, milliseconds) in [
            ("0:00:00", 0),
            ("0:00:09.7", 9700),
            ("1:02:03.004", 3_723_004),
            ("100:00:00", 360_000_000),
        ] {
            assert_eq!(read_clock(text), Some(milliseconds));
            assert_eq!(write_clock(milliseconds), format!("[%clk {text}]"));
        }
        for text in [
            "",
            "1:2",
            "a:b:c",
            "0:00:00.1234",
            "9999999:00:00",
            "1:2:3:4",
        ] {
            assert_eq!(read_clock(text), None, "{text}");
        }
    }
}
