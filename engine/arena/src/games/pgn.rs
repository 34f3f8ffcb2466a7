//! PGN of match games.

use engine::{is_chess960, pgn, write_fen};
use uci_client::{Scored, UciScore};

use crate::games::ending::Ending;
use crate::games::game::Game;
use crate::games::pairing::Pairing;

const EVENT: &str = "engine match";

/// Returns the first tag of every game.
pub fn first_tag() -> String {
    pgn::tag("Event", EVENT)
}

/// Returns the two games of a pair.
pub fn write_pair(pairing: &Pairing, names: &[String], games: &[Game; 2]) -> String {
    let [first, second] = pairing.engines.map(|engine| &*names[engine]);
    let round = 2 * pairing.number + 1;
    write_game(round, first, second, &games[0]) + &write_game(round + 1, second, first, &games[1])
}

fn write_game(round: usize, white: &str, black: &str, game: &Game) -> String {
    let result = pgn::result(game.winner);
    let variant = if is_chess960(&game.opening) {
        "Chess960"
    } else {
        "Standard"
    };
    let [white_pace, black_pace] = game.paces.map(|pace| pace.to_string());
    let time_control = if white_pace == black_pace {
        pgn::tag("TimeControl", &white_pace)
    } else {
        pgn::tag("WhiteTimeControl", &white_pace) + &pgn::tag("BlackTimeControl", &black_pace)
    };
    let tags = [
        pgn::roster(EVENT, &round.to_string(), [white, black], result),
        pgn::tag("Variant", variant),
        pgn::tag("SetUp", "1"),
        pgn::tag("FEN", &write_fen(&game.opening)),
        pgn::tag("PlyCount", &game.plies.len().to_string()),
        time_control,
        pgn::tag("Termination", termination(game.ending)),
    ];
    let ending = format!("{{{}}}", game.ending);
    let words = movetext(game).chain([ending, result.to_string()]);
    format!("{}\n{}\n\n", tags.concat(), pgn::wrap(words))
}

/// Returns the value of the `Termination` tag (PGN standard, section 9.8.1).
fn termination(ending: Ending) -> &'static str {
    match ending {
        Ending::Checkmate
        | Ending::Stalemate
        | Ending::Repetition
        | Ending::FiftyMoves
        | Ending::InsufficientMaterial => "normal",
        Ending::Resignation | Ending::AgreedDraw | Ending::Tablebase | Ending::TooLong => {
            "adjudication"
        }
        Ending::TimeForfeit => "time forfeit",
        Ending::IllegalMove => "rules infraction",
        Ending::Crash | Ending::Hang => "abandoned",
    }
}

/// Returns the moves in SAN with score, depth and time, as cutechess-cli writes them:
/// `{+0.30/12 0.105s}`.
fn movetext(game: &Game) -> impl Iterator<Item = String> {
    let plies = game.plies.iter().map(|ply| {
        let seconds = ply.time.as_secs_f64();
        // `info.depth` may be that of an unfinished iteration.
        let said = match ply.info.score {
            Some(Scored {
                score,
                depth: Some(depth),
                bound: false,
            }) => format!("{}/{depth} ", write_score(score)),
            _ => String::new(),
        };
        (ply.mv, Some(format!("{said}{seconds:.3}s")))
    });
    // Joined so that no line breaks within a move.
    pgn::words(&game.opening, plies).map(|words| words.join(" "))
}

/// Formats a score as cutechess-cli does: pawns, or plies to mate.
fn write_score(score: UciScore) -> String {
    match score {
        UciScore::Centipawns(0) => "0.00".to_string(),
        UciScore::Centipawns(centipawns) => format!("{:+.2}", f64::from(centipawns) / 100.0),
        UciScore::Mate(moves) if moves > 0 => format!("+M{}", 2 * i64::from(moves) - 1),
        UciScore::Mate(moves) => format!("-M{}", -2 * i64::from(moves)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cozy_chess::Board;
    use engine::parse_move;
    use uci_client::Info;

    use super::*;
    use crate::games::game::Ply;
    use crate::players::pace::Pace;

    #[test]
    fn writes_scores_with_their_depth_but_no_bounds() {
        let mut board = Board::startpos();
        let ply = |board: &Board, text: &str, said: &str| {
            let mut info = Info::default();
            said.lines().for_each(|line| info.hear(line));
            let mv = parse_move(board, text).unwrap();
            let time = Duration::from_millis(250);
            Ply { mv, time, info }
        };
        let first = ply(
            &board,
            "e2e4",
            "depth 9 score cp 21\ndepth 10 currmove d2d4",
        );
        board.play(first.mv);
        let second = ply(&board, "e7e5", "depth 3 score cp -9 upperbound");
        let game = Game {
            opening: Board::startpos(),
            paces: [Pace::Depth(9); 2],
            plies: vec![first, second],
            winner: None,
            ending: Ending::AgreedDraw,
        };
        assert_eq!(
            movetext(&game).collect::<Vec<_>>(),
            ["1. e4 {+0.21/9 0.250s}", "1... e5 {0.250s}"]
        );
    }

    #[test]
    fn scores_are_written_as_cutechess_does() {
        use UciScore::{Centipawns, Mate};
        let written = [
            Centipawns(30),
            Centipawns(-5),
            Centipawns(0),
            Mate(3),
            Mate(-2),
        ];
        let written = written.map(write_score);
        assert_eq!(written, ["+0.30", "-0.05", "0.00", "+M5", "-M4"]);
    }
}
