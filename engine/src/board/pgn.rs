//! PGN output: tags, movetext and its wrapping, shared by all programs that write games.

use cozy_chess::{Board, Color, Move, util};

use crate::board::{is_chess960, write_fen};

/// Maximum line length of movetext in characters, from the PGN standard.
const LINE: usize = 79;

/// Returns a tag pair as a line, with its newline.
pub fn tag(name: &str, value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"");
    format!("[{name} \"{value}\"]\n")
}

/// Returns the tags of a non-standard opening: `SetUp`, `FEN` and, for Chess960, `Variant`. Empty
/// for the standard start.
pub fn opening_tags(opening: &Board) -> String {
    if *opening == Board::startpos() {
        return String::new();
    }
    let variant = match is_chess960(opening) {
        true => tag("Variant", "Chess960"),
        false => String::new(),
    };
    variant + &tag("SetUp", "1") + &tag("FEN", &write_fen(opening))
}

/// Returns the Seven Tag Roster of a game, site and date unknown.
pub fn roster(event: &str, round: &str, [white, black]: [&str; 2], result: &str) -> String {
    let tags = [
        ("Event", event),
        ("Site", "?"),
        ("Date", "????.??.??"),
        ("Round", round),
        ("White", white),
        ("Black", black),
        ("Result", result),
    ];
    tags.map(|(name, value)| tag(name, value)).concat()
}

/// Returns the number of the next move: `12.` for White, `12...` for Black.
pub fn number(board: &Board) -> String {
    let dots = match board.side_to_move() {
        Color::White => ".",
        Color::Black => "...",
    };
    format!("{}{dots}", board.fullmove_number())
}

/// Returns the words of a movetext, move by move: its number where needed, the legal move in SAN,
/// and the comment that follows it, if any, in braces.
pub fn words(
    opening: &Board,
    moves: impl IntoIterator<Item = (Move, Option<String>)>,
) -> impl Iterator<Item = Vec<String>> {
    let mut board = opening.clone();
    // Black's moves are numbered at the start and after a comment.
    let mut numbered = false;
    moves.into_iter().map(move |(mv, comment)| {
        let number = match board.side_to_move() {
            Color::Black if numbered => None,
            _ => Some(number(&board)),
        };
        let san = util::display_san_move(&board, mv).to_string();
        numbered = comment.is_none();
        board.play_unchecked(mv);
        // A comment cannot hold the brace that ends it.
        let comment = comment.map(|text| format!("{{{}}}", text.replace('}', ")")));
        number.into_iter().chain([san]).chain(comment).collect()
    })
}

/// Returns the PGN result of a finished game; `None` is a draw.
pub fn result(winner: Option<Color>) -> &'static str {
    match winner {
        Some(Color::White) => "1-0",
        Some(Color::Black) => "0-1",
        None => "1/2-1/2",
    }
}

/// Returns `words` as movetext wrapped at 79 characters. Words are never broken, even at spaces.
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
    fn wraps_at_the_line_length() {
        // Two of these and a space fill a line; one more character does not fit.
        let words = [39, 39, 39, 40, 1].map(|length| "x".repeat(length));
        let lines = [[39, 39].as_slice(), &[39], &[40, 1]];
        let expected = lines.map(|line| {
            let words = line.iter().map(|&length| "x".repeat(length));
            words.collect::<Vec<_>>().join(" ")
        });
        assert_eq!(wrap(words), expected.join("\n"));
        // A long word is neither preceded by an empty line nor broken within.
        let long = format!("{{{}}}", "a b ".repeat(30));
        assert_eq!(wrap([long.clone(), "1-0".to_string()]), long + "\n1-0");
    }
}
