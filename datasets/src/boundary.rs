//! Where one game of a PGN text ends and the next begins.

use memchr::memmem;

/// The first tag of a game, as the standard orders them.
const EVENT: &[u8] = b"\n[Event \"";
/// The first tag of any kind after a blank line.
const ANY_TAG: &[u8] = b"\n\n[";

/// The start of the next game, behind the one that the text begins with.
pub(crate) fn next_game(text: &[u8]) -> Option<usize> {
    memmem::find_iter(text, EVENT)
        .map(|at| tags_start(text, at + 1))
        .find(|&start| start > 0)
}

/// The start of the last game. Where no game has an Event tag, any tag after a
/// blank line begins one.
pub(crate) fn last_game(text: &[u8]) -> Option<usize> {
    match memmem::rfind(text, EVENT) {
        Some(at) => Some(tags_start(text, at + 1)),
        None => memmem::rfind(text, ANY_TAG).map(|at| at + 2),
    }
}

/// The start of the block of tags that the line at `line` belongs to: some
/// files put other tags before Event.
fn tags_start(text: &[u8], line: usize) -> usize {
    let mut start = line;
    while let Some(above) = start.checked_sub(1) {
        let previous = text[..above]
            .iter()
            .rposition(|&b| b == b'\n')
            .map_or(0, |at| at + 1);
        let tag = text[previous..above].trim_ascii();
        if !(tag.starts_with(b"[") && tag.ends_with(b"\"]")) {
            break;
        }
        start = previous;
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_begins_at_its_first_tag() {
        let text = b"1. e4 *\n\n[FEN \"x\"]\r\n[Event \"y\"]\n\n1. d4 *\n";
        assert_eq!(next_game(text), Some(9));
        assert_eq!(last_game(text), Some(9));
        assert_eq!(next_game(&text[9..]), None);
        let text = b"[White \"a\"]\n\n1. e4 *\n\n[White \"b\"]\n\n1. d4 *\n";
        assert_eq!((next_game(text), last_game(text)), (None, Some(22)));
        assert_eq!(last_game(b"1. e4 { \n[Event horizon] } *"), None);
    }
}
