//! What all games written as PGN share.

use cozy_chess::Color;

/// Movetext is wrapped at this many characters, as the PGN standard asks.
const LINE: usize = 79;

/// The result of a game that has ended.
pub fn result(winner: Option<Color>) -> &'static str {
    match winner {
        Some(Color::White) => "1-0",
        Some(Color::Black) => "0-1",
        None => "1/2-1/2",
    }
}

/// Movetext of `words`, which are not broken, even where they hold spaces.
pub fn wrap(words: impl IntoIterator<Item = String>) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in words {
        if column > 0 && column + 1 + word.len() > LINE {
            text.push('\n');
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(&word);
        column += word.len();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_long_as_they_may_be() {
        // Two of these and a space fill a line; one more character does not fit.
        let words = [39, 39, 39, 40, 1].map(|length| "x".repeat(length));
        let lines = [[39, 39].as_slice(), &[39], &[40, 1]];
        let expected = lines.map(|line| {
            let words = line.iter().map(|&length| "x".repeat(length));
            words.collect::<Vec<_>>().join(" ")
        });
        assert_eq!(wrap(words), expected.join("\n"));
        // Neither begins with an empty line nor is broken within.
        let long = format!("{{{}}}", "a b ".repeat(30));
        assert_eq!(wrap([long.clone(), "1-0".to_string()]), long + "\n1-0");
    }
}
