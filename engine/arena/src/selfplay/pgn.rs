//! PGN of self-play games, annotated as by Lichess: each move is followed by White's score of the
//! position after it; and, where a search by PUCT found it, by the visits of all moves in its place:
//! `[%visits e2e4:60,d2d4:30]`.

use cozy_chess::{Board, Color, Move};
use engine::{Score, pgn, write_move};
use records::position::{Label, format_eval};

use crate::selfplay::game::{Game, Searched};
use crate::selfplay::settings::Settings;

const EVENT: &str = "Kibitz self-play";
/// `Termination` as Lichess has it for games that ended on the board, by resignation or by
/// agreement: the result is a valid label of the positions.
const TERMINATION: &str = "Normal";

/// Returns a game as PGN; `number` counts from 0.
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

/// Returns each move with its comment.
fn movetext(game: &Game) -> impl Iterator<Item = String> {
    let random = game.random.iter().copied();
    let moves = random.chain(game.searched.iter().map(|searched| searched.mv));
    let mut board = game.start.clone();
    let first = game.random.len();
    let plies = moves.enumerate().map(move |(ply, mv)| {
        let searched = |ply: usize| game.searched.get(ply.checked_sub(first)?);
        let visits = searched(ply).and_then(|searched| visits(&board, &searched.visits));
        board.play_unchecked(mv);
        let eval = searched(ply + 1).map(|searched| eval(searched, board.side_to_move()));
        // With blanks as on Lichess.
        let commands: Vec<String> = eval.into_iter().chain(visits).collect();
        let comment = (!commands.is_empty()).then(|| format!(" {} ", commands.join(" ")));
        (mv, comment)
    });
    // Joined so that no line breaks within a move.
    pgn::words(&game.start, plies).map(|words| words.join(" "))
}

/// Returns the `[%eval` command of a search.
fn eval(searched: &Searched, mover: Color) -> String {
    let label = white_label(searched.score, mover);
    let depth = searched.depth.min(u8::MAX.into()) as u8;
    format_eval(label, depth)
}

/// Returns the `[%visits` command of the moves of a board; `None` without moves. Castling is the
/// king's move to its rook.
fn visits(board: &Board, visits: &[(Move, u32)]) -> Option<String> {
    let written = |(mv, visits): &(Move, u32)| format!("{}:{visits}", write_move(board, *mv, true));
    let moves: Vec<String> = visits.iter().map(written).collect();
    (!moves.is_empty()).then(|| format!("[%visits {}]", moves.join(",")))
}

/// Returns the score from White's view.
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
    fn scores_are_from_whites_view() {
        let text = |score, mover| format_eval(white_label(score, mover), 9);
        let score = Score::from_centipawns(-31);
        assert_eq!(text(score, Color::White), "[%eval -0.31,9]");
        assert_eq!(text(score, Color::Black), "[%eval 0.31,9]");
        assert_eq!(text(Score::mate_in(3), Color::White), "[%eval #2,9]");
        assert_eq!(text(Score::mate_in(3), Color::Black), "[%eval #-2,9]");
        assert_eq!(text(Score::mated_in(4), Color::Black), "[%eval #2,9]");
    }
}
