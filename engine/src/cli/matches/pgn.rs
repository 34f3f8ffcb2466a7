//! The games of a match as PGN.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use cozy_chess::{Board, Color, util};
use engine::{is_chess960, pgn, write_fen};

use super::super::error::FileError;
use super::game::{Ending, Game};
use super::tournament::Pairing;

/// A PGN file that is being written.
pub struct PgnFile {
    path: PathBuf,
    out: BufWriter<File>,
}

impl PgnFile {
    /// Creates or empties a file.
    pub fn create(path: &Path) -> Result<PgnFile, FileError> {
        let file = File::create(path).map_err(|source| FileError {
            action: "write",
            path: path.into(),
            source,
        })?;
        Ok(PgnFile {
            path: path.into(),
            out: BufWriter::new(file),
        })
    }

    /// Appends two games; they are on disk when this returns.
    ///
    /// # Errors
    /// What the system said.
    pub fn append_pair(
        &mut self,
        pairing: &Pairing,
        names: &[String],
        games: &[Game; 2],
    ) -> Result<(), FileError> {
        let [first, second] = pairing.engines.map(|engine| &*names[engine]);
        let round = 2 * pairing.number + 1;
        let text = write_game(round, first, second, &games[0])
            + &write_game(round + 1, second, first, &games[1]);
        (self.out.write_all(text.as_bytes()))
            .and_then(|()| self.out.flush())
            .map_err(|source| FileError {
                action: "write",
                path: self.path.clone(),
                source,
            })
    }
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
        pgn::tag("Event", "engine match"),
        pgn::tag("Site", "?"),
        pgn::tag("Date", "????.??.??"),
        pgn::tag("Round", &round.to_string()),
        pgn::tag("White", white),
        pgn::tag("Black", black),
        pgn::tag("Result", result),
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

/// The word of the PGN standard (section 9.8.1) for how a game ended.
fn termination(ending: Ending) -> &'static str {
    match ending {
        Ending::Checkmate
        | Ending::Stalemate
        | Ending::Repetition
        | Ending::FiftyMoves
        | Ending::InsufficientMaterial => "normal",
        Ending::Resignation | Ending::AgreedDraw | Ending::TooLong => "adjudication",
        Ending::TimeForfeit => "time forfeit",
        Ending::IllegalMove => "rules infraction",
        Ending::Crash | Ending::Hang => "abandoned",
    }
}

/// The moves in SAN, each with what its engine said of it and the time it
/// took, as cutechess-cli writes them: `{+0.30/12 0.105s}`.
fn movetext(game: &Game) -> impl Iterator<Item = String> {
    let mut board: Board = game.opening.clone();
    game.plies.iter().map(move |ply| {
        let san = util::display_san_move(&board, ply.mv).to_string();
        let number = board.fullmove_number();
        // After a comment Black's moves are numbered too.
        let dots = match board.side_to_move() {
            Color::White => ".",
            Color::Black => "...",
        };
        board.play_unchecked(ply.mv);
        let seconds = ply.time.as_secs_f64();
        let said = match (ply.thought.score, ply.thought.depth) {
            (Some(score), Some(depth)) => format!("{score}/{depth} "),
            _ => String::new(),
        };
        format!("{number}{dots} {san} {{{said}{seconds:.3}s}}")
    })
}
