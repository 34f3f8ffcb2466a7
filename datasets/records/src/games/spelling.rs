//! Move spellings that differ from SAN. python-chess and the web page read most of them too.

use shakmaty::san::San;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingSide, Chess, File, Move, Rank, Role, Square};

use crate::games::boundary;

/// Finds the legal move of a SAN with a possibly missing or superfluous capture sign. A SAN with
/// two squares and no piece letter moves any piece from the first.
pub(crate) fn find_move(position: &Chess, san: &San) -> Option<Move> {
    if let Ok(m) = san.to_move(position) {
        return Some(m);
    }
    let San::Normal {
        role,
        file,
        rank,
        capture,
        to,
        promotion,
    } = *san
    else {
        return None;
    };
    // `d5` is never a capture.
    if (role, file) == (Role::Pawn, None) {
        return None;
    }
    if let (Role::Pawn, Some(file), Some(rank)) = (role, file, rank) {
        let from = Square::from_coords(file, rank);
        let uci = UciMove::Normal {
            from,
            to,
            promotion,
        };
        return uci.to_move(position).ok();
    }
    let other = San::Normal {
        role,
        file,
        rank,
        capture: !capture,
        to,
        promotion,
    };
    other.to_move(position).ok()
}

/// Parses a move not written as SAN: with zeros, figurines, hyphens or both squares, without `=`,
/// with `e.p.`, `++` or a novelty's `N` after it; also UCI notation.
pub(crate) fn spelled(word: &[u8]) -> Option<San> {
    let text = with_letters(std::str::from_utf8(word).ok()?);
    let text = without_remarks(text.as_bytes());
    let castling = match text {
        b"0-0" | b"o-o" | b"O-O" => Some(CastlingSide::KingSide),
        b"0-0-0" | b"o-o-o" | b"O-O-O" => Some(CastlingSide::QueenSide),
        _ => None,
    };
    if let Some(side) = castling {
        return Some(San::Castle(side));
    }
    let (role, squares) = match *text.first()? {
        piece @ (b'N' | b'B' | b'R' | b'Q' | b'K') => {
            (Role::from_char(char::from(piece))?, &text[1..])
        }
        b'P' => (Role::Pawn, &text[1..]),
        _ => (Role::Pawn, text),
    };
    let (squares, promotion) = promotion(squares)?;
    let (from, to) = squares.split_at(squares.len().checked_sub(2)?);
    let (from, capture) = match from.split_last() {
        Some((b'x', from)) => (from, true),
        Some((b'-', from)) => (from, false),
        _ => (from, false),
    };
    let file = |byte: u8| File::from_char(char::from(byte));
    let rank = |byte: u8| Rank::from_char(char::from(byte));
    let (file, rank) = match *from {
        [] => (None, None),
        [one] if file(one).is_some() => (file(one), None),
        [one] => (None, Some(rank(one)?)),
        [first, second] => (Some(file(first)?), Some(rank(second)?)),
        _ => return None,
    };
    Some(San::Normal {
        role,
        file,
        rank,
        capture,
        to: Square::from_ascii(to).ok()?,
        promotion,
    })
}

/// Parses a result written with any dashes or fraction signs.
pub(crate) fn result(word: &[u8]) -> Option<&'static str> {
    let text = with_letters(std::str::from_utf8(word).ok()?).replace('½', "1/2");
    boundary::result(text.as_bytes()).filter(|&result| result != "*")
}

/// Returns whether a word is a remark after a move that does not change it: `e.p.`, a novelty, a
/// check.
pub(crate) fn is_remark(word: &[u8]) -> bool {
    REMARKS.contains(&word) || word == b"TN"
}

const REMARKS: [&[u8]; 8] = [b"e.p.", b"e.p", b"ep", b"ch", b"mate", b"dbl", b"D", b"+/-"];

/// Splits off the promotion piece: `e8=Q`, `e8Q`, `e8q`.
fn promotion(text: &[u8]) -> Option<(&[u8], Option<Role>)> {
    match text.split_last() {
        Some((&piece @ (b'n' | b'b' | b'r' | b'q' | b'N' | b'B' | b'R' | b'Q'), pawn)) => {
            let pawn = pawn.strip_suffix(b"=").unwrap_or(pawn);
            Some((pawn, Role::from_char(char::from(piece))))
        }
        Some(_) => Some((text, None)),
        None => None,
    }
}

/// Returns a word with ASCII letters and signs for figurines, Cyrillic castling, captures and
/// hyphens.
pub(crate) fn with_letters(word: &str) -> String {
    let letter = |symbol: char| match symbol {
        '♔' | '♚' => Some('K'),
        '♕' | '♛' => Some('Q'),
        '♖' | '♜' => Some('R'),
        '♗' | '♝' => Some('B'),
        '♘' | '♞' => Some('N'),
        // Pawns have no letter; variation selectors only choose the glyph.
        '♙' | '♟' | '\u{fe0e}' | '\u{fe0f}' => None,
        // Cyrillic letters.
        'О' | 'о' => Some('O'),
        ':' | '×' => Some('x'),
        '–' | '—' | '‑' | '−' => Some('-'),
        other => Some(other),
    };
    word.chars().filter_map(letter).collect()
}

/// Strips suffixes that do not change the move: checks, assessments, `e.p.`, a novelty's `N`, a
/// diagram's `D`.
fn without_remarks(mut text: &[u8]) -> &[u8] {
    const SIGNS: [&[u8]; 6] = [b"-/+", b"+-", b"-+", b"+=", b"+", b"#"];
    let ends = || REMARKS.iter().chain(&SIGNS);
    while let Some(rest) = ends().find_map(|end| text.strip_suffix(*end)) {
        text = rest;
    }
    // On the last ranks, `N` is a promotion.
    match text {
        [rest @ .., b'2'..=b'7', b'N'] => &text[..rest.len() + 1],
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::CastlingMode;
    use shakmaty::fen::Fen;
    use shakmaty::san::SanPlus;

    #[test]
    fn moves_are_read_in_many_spellings() {
        let fen = "r3k2r/1P4p1/8/3pP3/8/5N2/8/R3K2R w KQkq d6 0 1";
        let fen: Fen = fen.parse().unwrap();
        let position: Chess = fen.into_position(CastlingMode::Standard).unwrap();
        // Mirrors the two readers of games.
        let find = |word: &str| {
            let san = SanPlus::from_ascii(word.as_bytes()).map(|san| san.san);
            let san = san
                .ok()
                .or_else(|| spelled(word.as_bytes()))
                .ok_or("unreadable")?;
            // pgn-reader receives the move as text.
            let written = San::from_ascii(san.to_string().as_bytes());
            assert!(written.is_ok_and(|written| written == san), "{word}");
            let m = find_move(&position, &san).ok_or("illegal")?;
            Ok(m.to_uci(CastlingMode::Chess960).to_string())
        };
        for (words, uci) in [
            (
                &[
                    "Nd4", "♘d4", "Nf3-d4", "Nf3d4", "f3d4", "f3-d4", "Nd4N", "Nd4D", "Nd4+-",
                ][..],
                "f3d4",
            ),
            (
                &[
                    "O-O", "0-0", "o-o", "0–0", "e1g1", "e1h1", "0-0+", "О-О", "о-о",
                ],
                "e1h1",
            ),
            (&["O-O-O", "0-0-0", "e1c1"], "e1a1"),
            (
                &[
                    "exd6", "e5:d6", "e5xd6", "exd6e.p.", "exd6ep", "e5-d6", "♙exd6", "e5d6", "ed6",
                ],
                "e5d6",
            ),
            (
                &["bxa8=N", "bxa8N+", "b7a8n", "b7xa8=N", "bxa8n", "ba8N"],
                "b7a8n",
            ),
            (&["b8=Q", "b8Q", "b8q++", "b7-b8=Q#"], "b7b8q"),
            (&["Rxh8", "Rh1xh8", "♖️×h8", "Rh8", "Rxh8mate"], "h1h8"),
        ] {
            for word in words {
                assert_eq!(find(word), Ok(uci.to_string()), "{word}");
            }
        }
        for word in ["Nd5", "b8", "bxa8", "Kd4", "e2e4", "e6Q", "d6", "h8=Q"] {
            assert_eq!(find(word), Err("illegal"), "{word}");
        }
        assert_eq!(find("e6N"), Ok("e5e6".to_string()));
        for word in [
            "Sf3", "é", "0", "-", "x", "+", "e7_e5", "@@", "N", "null", "1-1", "b8=", "Nff", "N3f",
        ] {
            assert_eq!(find(word), Err("unreadable"), "{word}");
        }
    }

    #[test]
    fn results_and_remarks_are_a_closed_list() {
        for (word, expected) in [("1–0", "1-0"), ("½-½", "1/2-1/2"), ("0-1", "0-1")] {
            assert_eq!(result(word.as_bytes()), Some(expected));
        }
        assert_eq!(result(b"1-1"), None);
        assert!(is_remark(b"e.p.") && is_remark(b"TN") && !is_remark(b"Sf3"));
    }
}
