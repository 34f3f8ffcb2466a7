//! Move notations: SAN, its common variants, and UCI.

use engine::cozy_chess::{Board, Move, util};
use engine::parse_move;

/// Parses a legal move: SAN, also with figurines, zeros or dashes, or UCI.
pub fn find_move(board: &Board, text: &str) -> Option<Move> {
    let plain = plain(text);
    util::parse_san_move(board, &plain)
        .ok()
        .or_else(|| parse_move(board, text).ok())
}

/// Parses a promotion that does not name its piece.
pub fn without_piece(board: &Board, text: &str) -> Option<Move> {
    let queen = |text: &str| find_move(board, &format!("{text}=Q"));
    let uci = || find_move(board, &format!("{text}q"));
    let mv = queen(plain(text).trim_end_matches('=')).or_else(uci)?;
    mv.promotion.map(|_| mv)
}

/// Normalises a move to plain SAN.
fn plain(text: &str) -> String {
    let text = text.trim_end_matches(['+', '#', '!', '?']);
    let text = text
        .strip_suffix("e.p.")
        .or_else(|| text.strip_suffix("ep"))
        .unwrap_or(text);
    if text.starts_with(['0', 'o', 'O']) {
        return text.replace(['0', 'o'], "O");
    }
    text.chars()
        .filter(|c| *c != '-')
        .filter_map(|c| match c {
            '♔' | '♚' => Some('K'),
            '♕' | '♛' => Some('Q'),
            '♖' | '♜' => Some('R'),
            '♗' | '♝' => Some('B'),
            '♘' | '♞' => Some('N'),
            // SAN has no letter for pawns; variation selectors choose text or emoji glyphs.
            '♙' | '♟' | '\u{fe0e}' | '\u{fe0f}' => None,
            ':' | '×' => Some('x'),
            _ => Some(c),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::parse_fen;

    #[test]
    fn moves_are_read_in_many_spellings() {
        let board = parse_fen("r3k2r/1P4p1/8/3pP3/8/5N2/8/R3K2R w KQkq d6 0 1").unwrap();
        for (texts, uci) in [
            (["Nd4", "♘d4", "Nf3-d4", "f3d4"].as_slice(), "f3d4"),
            (&["O-O", "0-0", "o-o", "e1g1", "O-O+!?"], "e1h1"),
            (&["O-O-O", "0-0-0", "e1c1", "e1a1"], "e1a1"),
            (
                &["exd6", "e5:d6", "exd6e.p.", "e5-d6", "♙exd6", "e5d6"],
                "e5d6",
            ),
            (&["bxa8=N", "bxa8N+", "b7a8n", "b7xa8=N"], "b7a8n"),
            (&["Rh1xh8", "♖️×h8"], "h1h8"),
        ] {
            for text in texts {
                let mv = find_move(&board, text).map(|mv| mv.to_string());
                assert_eq!(mv.as_deref(), Some(uci), "{text}");
            }
        }
        for text in ["Nd5", "b8", "bxa8", "--", "", "é", "0", "-"] {
            assert_eq!(find_move(&board, text), None, "{text}");
        }
        for text in ["b8", "b7b8", "b8="] {
            let mv = without_piece(&board, text).unwrap();
            assert_eq!(mv.to_string(), "b7b8q", "{text}");
        }
        for text in ["Nd4", "e6", "f3d4", ""] {
            assert_eq!(without_piece(&board, text), None, "{text}");
        }
    }
}
