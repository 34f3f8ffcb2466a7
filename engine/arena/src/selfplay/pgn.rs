//! A game as PGN, annotated as Lichess annotates: behind each move White's score of
//! the position that it leads to.

use cozy_chess::Color;
use engine::{Score, pgn};
use records::position::{Label, format_eval};

use crate::selfplay::game::{Game, Searched};
use crate::selfplay::settings::Settings;

const EVENT: &str = "Kibitz self-play";
/// Lichess's word for games that ended on the board, by resignation or by agreement:
/// the result says what the positions were worth.
const TERMINATION: &str = "Normal";

/// The game of a number, counted from 0.
pub fn write(game: &Game, number: u64, settings: &Settings) -> String {
    let result = pgn::result(game.winner);
    let round = (number + 1).to_string();
    let net = &*settings.net;
    let tags = [
        pgn::roster(EVENT, &round, [net, net], result),
        pgn::opening_tags(&game.start),
        pgn::tag("PlyCount", &game.plies().to_string()),
        pgn::tag("Termination", TERMINATION),
        pgn::tag("Annotator", &settings.annotator()),
    ];
    let ending = format!("{{ {} }}", game.ending);
    let words = movetext(game).chain([ending, result.to_string()]);
    format!("{}\n{}\n\n", tags.concat(), pgn::wrap(words))
}

/// Each move with the score of the search that followed it; the last has none.
fn movetext(game: &Game) -> impl Iterator<Item = String> {
    let random = game.random.iter().copied();
    let moves = random.chain(game.searched.iter().map(|searched| searched.mv));
    let mut mover = game.start.side_to_move();
    let first = game.random.len();
    let plies = moves.enumerate().map(move |(ply, mv)| {
        mover = !mover;
        let after = (ply + 1).checked_sub(first);
        let searched = after.and_then(|after| game.searched.get(after));
        (mv, searched.map(|searched| comment(searched, mover)))
    });
    // No line ends within a move.
    pgn::words(&game.start, plies).map(|words| words.join(" "))
}

/// What a search said, with blanks as Lichess puts them.
fn comment(searched: &Searched, mover: Color) -> String {
    let label = white_label(searched.score, mover);
    let depth = searched.depth.min(u8::MAX.into()) as u8;
    format!(" {} ", format_eval(label, depth))
}

/// White's score.
fn white_label(score: Score, mover: Color) -> Label {
    let sign = match mover {
        Color::White => 1,
        Color::Black => -1,
    };
    let mate = score.moves_to_mate();
    let mate = mate.and_then(|moves| Label::from_mate(sign * i64::from(moves)));
    mate.unwrap_or_else(|| Label::from_centipawns(sign * i64::from(score.centipawns())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_seen_by_white() {
        let text = |score, mover| format_eval(white_label(score, mover), 9);
        let score = Score::from_centipawns(-31);
        assert_eq!(text(score, Color::White), "[%eval -0.31,9]");
        assert_eq!(text(score, Color::Black), "[%eval 0.31,9]");
        assert_eq!(text(Score::mate_in(3), Color::White), "[%eval #2,9]");
        assert_eq!(text(Score::mate_in(3), Color::Black), "[%eval #-2,9]");
        assert_eq!(text(Score::mated_in(4), Color::Black), "[%eval #2,9]");
    }
}
