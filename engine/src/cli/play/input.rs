//! Parser of the human's input.

use cozy_chess::{Board, Move, util};
use engine::{legal_moves, parse_move};

/// A parsed line of input.
#[derive(Debug, PartialEq, Eq)]
pub enum Input {
    Nothing,
    Move(Move),
    Undo,
    Hint,
    Flip,
    Board,
    Fen,
    Pgn,
    Help,
    Quit,
    /// Unrecognised input, with the reply to print.
    Unknown(String),
}

impl Input {
    /// Parses a line; `board` is the current position.
    pub fn read(line: &str, board: &Board) -> Input {
        match line.trim() {
            "" => Input::Nothing,
            "undo" => Input::Undo,
            "hint" => Input::Hint,
            "flip" => Input::Flip,
            "board" => Input::Board,
            "fen" => Input::Fen,
            "pgn" => Input::Pgn,
            "help" | "?" => Input::Help,
            "quit" | "exit" => Input::Quit,
            text => match read_move(board, text) {
                Some(mv) => Input::Move(mv),
                None => {
                    let text: String = text.chars().take(20).collect();
                    Input::Unknown(format!(
                        "{text:?} is no legal move here, and not a command; try help."
                    ))
                }
            },
        }
    }
}

/// Parses a legal move: SAN, also without its signs (`ed5`, `e8Q`, `0-0`) or in lower case if
/// unambiguous, or UCI notation.
fn read_move(board: &Board, text: &str) -> Option<Move> {
    let plain = bare(text);
    let moves = legal_moves(board);
    let written = |mv: Move| bare(&util::display_san_move(board, mv).to_string());
    let only = |matches: &dyn Fn(&str) -> bool| {
        let mut found = moves.iter().copied().filter(|&mv| matches(&written(mv)));
        found.next().filter(|_| found.next().is_none())
    };
    parse_move(board, text)
        .or_else(|_| util::parse_san_move(board, text).map_err(|_| ()))
        .ok()
        .or_else(|| only(&|san| san == plain))
        .or_else(|| only(&|san| san.eq_ignore_ascii_case(&plain)))
}

/// Returns SAN without its redundant signs.
fn bare(san: &str) -> String {
    san.chars()
        .filter(|sign| !"x=+#!?-.".contains(*sign))
        .map(|sign| if sign == '0' { 'O' } else { sign })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::parse_fen;

    #[test]
    fn parses_informal_notation() {
        let fen = "r3k2r/1P4pp/2n5/3pP3/1b2P3/2P5/P2B2PP/R3K2R w KQkq d6 0 1";
        let board = parse_fen(fen).unwrap();
        let cases = [
            ("cxb4", "c3b4"),
            ("cb4", "c3b4"),
            ("exd6", "e5d6"),
            ("e4xd5", "e4d5"),
            ("O-O", "e1h1"),
            ("0-0-0", "e1a1"),
            ("o-o", "e1h1"),
            ("e1g1", "e1h1"),
            ("bxa8=Q+", "b7a8q"),
            ("bxa8Q", "b7a8q"),
            ("b8=N", "b7b8n"),
            ("b7b8r", "b7b8r"),
            ("be3", "d2e3"),
            ("Be3!", "d2e3"),
            ("rd1", "a1d1"),
        ];
        for (text, expected) in cases {
            let mv = read_move(&board, text).map(|mv| mv.to_string());
            assert_eq!(mv.as_deref(), Some(expected), "{text}");
        }
        for text in ["b8", "Qd4", "Nf3", "e", "e9", "Rf", "e4e6", "♞f3"] {
            assert!(
                matches!(Input::read(text, &board), Input::Unknown(_)),
                "{text}"
            );
        }
    }
}
