//! Games as PGN, in and out.

use std::ops::ControlFlow;

use engine::cozy_chess::util;
use engine::{Position, is_chess960, parse_fen, pgn, write_fen, write_move};
use pgn_reader::{Outcome, RawComment, RawTag, Reader, SanPlus, Visitor};
use serde::{Deserialize, Serialize};

use crate::error::RequestError;
use crate::game::Game;
use crate::score::WhiteScore;
use records::position::{EvalComment, format_eval, parse_eval};

/// Comments up to this length are read whole, longer ones in pieces.
const COMMENT_BYTES: usize = 1 << 12;
/// The same for tags.
const TAG_BYTES: usize = 1 << 12;

/// A game that was read.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PgnGame {
    tags: Vec<(String, String)>,
    /// A FEN; `null` for the usual start.
    start: Option<String>,
    moves: Vec<String>,
    /// What comments say of the position after each move.
    evals: Vec<Option<WhiteScore>>,
    result: Option<String>,
    /// Where reading had to end before the game did.
    error: Option<String>,
}

/// A game to be written.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WrittenGame {
    #[serde(flatten)]
    game: Game,
    tags: Vec<(String, String)>,
    result: String,
    /// Of the position after each move; may be shorter than the moves.
    #[serde(default)]
    evals: Vec<Option<WhiteScore>>,
}

/// Reads every game of a text; variations are passed over.
pub fn read(text: &str) -> Result<Vec<PgnGame>, RequestError> {
    let mut reader = Reader::build(text.as_bytes())
        .set_supported_comment_length(COMMENT_BYTES)
        .set_supported_tag_line_length(TAG_BYTES)
        .finish();
    let mut games = Vec::new();
    loop {
        match reader.read_game(&mut GameReader) {
            Ok(Some(game)) => games.push(game),
            Ok(None) => break,
            Err(error) => {
                // What follows cannot be told from this game.
                let error = Some(error.to_string());
                games.push(PgnGame {
                    error,
                    ..PgnGame::default()
                });
                break;
            }
        }
    }
    games.retain(|game| !game.moves.is_empty() || !game.tags.is_empty());
    match games.is_empty() {
        true => Err(RequestError::NoGame),
        false => Ok(games),
    }
}

/// Writes a game, with its evaluations as comments.
pub fn write(text: &WrittenGame) -> Result<String, RequestError> {
    let opening = text.game.opening()?;
    let mut moves = Vec::new();
    text.game.replay(|_, mv| {
        let eval = text.evals.get(moves.len()).copied().flatten();
        let comment = eval
            .and_then(WhiteScore::label)
            .map(|label| format!(" {} ", format_eval(label, 0)));
        moves.push((mv, comment));
    })?;
    let tags: String = (text.tags.iter())
        .map(|(name, value)| pgn::tag(name, value))
        .collect();
    let words = pgn::words(&opening, moves).flatten();
    let movetext = pgn::wrap(words.chain([text.result.clone()]));
    let opening = pgn::opening_tags(&opening);
    Ok(format!("{tags}{opening}\n{movetext}\n"))
}

/// A game that is being read: what is known, and where it stands.
struct Reading {
    game: PgnGame,
    position: Position,
}

struct GameReader;

impl Visitor for GameReader {
    type Tags = PgnGame;
    type Movetext = Reading;
    type Output = PgnGame;

    fn begin_tags(&mut self) -> ControlFlow<PgnGame, PgnGame> {
        ControlFlow::Continue(PgnGame::default())
    }

    fn tag(&mut self, game: &mut PgnGame, name: &[u8], value: RawTag) -> ControlFlow<PgnGame> {
        let name = String::from_utf8_lossy(name).into_owned();
        game.tags
            .push((name, value.decode_utf8_lossy().into_owned()));
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, mut game: PgnGame) -> ControlFlow<PgnGame, Reading> {
        let fen = game.tags.iter().find(|(name, _)| name == "FEN");
        let position = match fen.map(|(_, fen)| parse_fen(fen)) {
            None => Position::startpos(),
            Some(Ok(board)) => {
                game.start = Some(write_fen(&board));
                Position::of(board)
            }
            Some(Err(error)) => {
                game.error = Some(error.to_string());
                return ControlFlow::Break(game);
            }
        };
        ControlFlow::Continue(Reading { game, position })
    }

    fn san(&mut self, reading: &mut Reading, san: SanPlus) -> ControlFlow<PgnGame> {
        let Reading { game, position } = reading;
        let board = position.board();
        let text = san.san.to_string();
        let Ok(mv) = util::parse_san_move(board, &text) else {
            let number = pgn::number(board);
            game.error = Some(format!("{number} {san} is no legal move"));
            return ControlFlow::Break(std::mem::take(game));
        };
        game.moves.push(write_move(board, mv, is_chess960(board)));
        game.evals.push(None);
        if let Err(error) = position.play(mv) {
            game.error = Some(error.to_string());
            return ControlFlow::Break(std::mem::take(game));
        }
        ControlFlow::Continue(())
    }

    fn comment(&mut self, reading: &mut Reading, comment: RawComment) -> ControlFlow<PgnGame> {
        if let EvalComment::Eval { label, .. } = parse_eval(comment.as_bytes())
            && let Some(eval @ None) = reading.game.evals.last_mut()
        {
            *eval = Some(WhiteScore::of_label(label));
        }
        ControlFlow::Continue(())
    }

    fn outcome(&mut self, reading: &mut Reading, outcome: Outcome) -> ControlFlow<PgnGame> {
        reading.game.result = Some(outcome.to_string());
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, reading: Reading) -> PgnGame {
        reading.game
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LICHESS: &str = "[Event \"Rated \\\"Blitz\\\" game\"]\n[Result \"0-1\"]\n\n\
        1. f3 { [%eval -0.31] [%clk 0:03:00] } (1. e4 { [%eval 0.3] }) 1... e5 { [%eval -0.1] } \
        2. g4?? $4 { [%eval #-1] } 2... Qh4# { [%clk 0:02:58] } 0-1\n";

    #[test]
    fn a_lichess_game_is_read_and_written() {
        let games = read(LICHESS).unwrap();
        let [game] = games.as_slice() else {
            panic!("one game")
        };
        assert_eq!(game.tags[0].1, "Rated \"Blitz\" game");
        assert_eq!(game.moves, ["f2f3", "e7e5", "g2g4", "d8h4"]);
        let evals = [
            Some(WhiteScore::Cp(-31)),
            Some(WhiteScore::Cp(-10)),
            Some(WhiteScore::Mate(-1)),
            None,
        ];
        assert_eq!(game.evals, evals);
        assert_eq!((game.result.as_deref(), &game.error), (Some("0-1"), &None));
        let text = WrittenGame {
            game: Game {
                start: None,
                moves: game.moves.clone(),
            },
            tags: game.tags.clone(),
            result: "0-1".to_string(),
            evals: game.evals.clone(),
        };
        assert_eq!(
            write(&text).unwrap(),
            "[Event \"Rated \\\"Blitz\\\" game\"]\n[Result \"0-1\"]\n\n\
             1. f3 { [%eval -0.31] } 1... e5 { [%eval -0.1] } 2. g4 { [%eval #-1] } 2...\nQh4# 0-1\n"
        );
    }

    #[test]
    fn a_start_other_than_the_usual_one_is_kept() {
        let fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
        let games = read(&format!("[FEN \"{fen}\"]\n\n1. O-O Ke7 *")).unwrap();
        assert_eq!(games[0].start.as_deref(), Some(fen));
        assert_eq!(games[0].moves, ["e1g1", "e8e7"]);
    }

    #[test]
    fn an_illegal_move_keeps_what_came_before() {
        let games = read("1. e4 e5 2. Ke3 Nc6 *\n\n[Event \"next\"]\n\n1. d4 *").unwrap();
        assert_eq!(games[0].moves, ["e2e4", "e7e5"]);
        assert_eq!(games[0].error.as_deref(), Some("2. Ke3 is no legal move"));
        assert_eq!(games[1].moves, ["d2d4"]);
        assert!(read("").is_err());
    }
}
