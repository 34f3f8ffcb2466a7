//! Openings from PGN: the last position of each game.

use cozy_chess::Board;
use engine::{FenError, parse_fen};
use records::games::{Cut, Transcript, games};
use thiserror::Error;

/// Reasons to refuse a PGN book.
#[derive(Debug, Error)]
pub enum GameError {
    /// A game that cannot be read to its end.
    #[error("game {game}")]
    Cut {
        /// Number of the game, from 1.
        game: usize,
        /// Reason and place.
        source: Cut,
    },
    /// A last position that the engine refuses.
    #[error("game {game}")]
    Position {
        /// Number of the game, from 1.
        game: usize,
        source: FenError,
    },
}

/// Returns the last position of each game. `ingest` reads games by the same code.
///
/// # Errors
/// [`GameError`] with the number of the first invalid game.
pub fn last_positions(text: &[u8]) -> Result<Vec<Board>, GameError> {
    let mut boards = Vec::new();
    for slice in games(text) {
        let game = boards.len() + 1;
        let transcript = match Transcript::read(slice) {
            Ok(Some(transcript)) => transcript,
            Ok(None) => continue,
            Err(source) => return Err(GameError::Cut { game, source }),
        };
        let fen = transcript.last_fen();
        if let Some(source) = transcript.cut {
            return Err(GameError::Cut { game, source });
        }
        let board = parse_fen(&fen).map_err(|source| GameError::Position { game, source })?;
        boards.push(board);
    }
    Ok(boards)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::write_fen;

    fn fens(text: &str) -> Vec<String> {
        last_positions(text.as_bytes())
            .unwrap()
            .iter()
            .map(write_fen)
            .collect()
    }

    #[test]
    fn skips_comments_variations_and_glyphs() {
        let text = "[Event \"a [b] {c}\"]\n[Result \"*\"]\n\n1. e4 {best; (by test)} 1... c5!? $14 (1... e5 \
                    2. Nf3 (2. f4 exf4) 2... Nc6) ; 2. f4\n2.Nf3 *\n\n[Event \"?\"]\n\n1. d4 d5\n\n\
                    [FEN \"8/P6k/8/8/8/8/8/R3K3 w Q - 0 40\"]\n[Result \"1-0\"]\n40. O-O-O Kg8 41. a8=Q+ 1-0\n";
        assert_eq!(
            fens(text),
            [
                "rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2",
                "rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w KQkq d6 0 2",
                "Q5k1/8/8/8/8/8/8/2KR4 b - - 0 41",
            ]
        );
    }

    #[test]
    fn reads_loosely_written_games() {
        let castled = "r3k2r/8/8/8/8/8/8/R4RK1 b kq - 1 1";
        let fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
        for text in [
            format!("[White \"a\"] [SetUp \"1\"][FEN \"{fen}\"]\n\n1. 0-0 *"),
            format!("[Round ]\n[White \"a \\\"b\\\" c\"]\n[FEN \"{fen}\"]1.O-O *"),
            format!("[FEN \"{castled}\"]\n*"),
            format!("[SETUP \"1\"]\n[Fen \"{fen}\"]\n\n1. O-O *"),
        ] {
            assert_eq!(fens(&text), [castled], "{text}");
        }
        // Games without moves, some without a result.
        let bare = [fen, castled, fen].map(|fen| format!("[Round \"1\"]\n[FEN \"{fen}\"]\n"));
        let text = format!("{}\n*\n\n{}\n\n{}", bare[0], bare[1], bare[2]);
        assert_eq!(fens(&text), [fen, castled, fen]);
        let open = "[Round \"1\"]\n1. e4 (1. d4 (1. c4) *\n\n[Round \"2\"]\n1. d4 *\n";
        assert_eq!(fens(open).len(), 2, "a variation is not closed");
        let text = format!("[FEN \"{fen}\"]\n1. Rb1 0-0-0+ 2. Ra1 *");
        assert_eq!(fens(&text), ["2kr3r/8/8/8/8/8/8/R3K2R b K - 3 2"]);
    }

    #[test]
    fn refused_games_are_named() {
        for (text, reason) in [
            (
                "[Site \"a\"]\n1. e4 *\n\n[Site \"b\"]\n1. e4 e4 *",
                "game 2: an illegal move: e4 in b",
            ),
            (
                "[FEN \"8/8 w\"]\n*",
                "game 1: a FEN of no legal position: ? - ?",
            ),
            (
                "what is this",
                "game 1: a word that is no move: what in ? - ?",
            ),
            ("1. e4 0000 2. d4 *", "game 1: a null move: 0000 in ? - ?"),
            ("1. e4 *\n1. d4 *", "game 1: a malformed game: d4 in ? - ?"),
        ] {
            let error = last_positions(text.as_bytes()).unwrap_err();
            assert_eq!(format!("{:#}", anyhow::Error::from(error)), reason);
        }
        assert!(fens("").is_empty());
    }
}
