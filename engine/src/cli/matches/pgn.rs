//! The games of a match as PGN.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use cozy_chess::{Board, Color, util};
use engine::{is_chess960, write_fen};

use super::super::error::FileError;
use super::game::Game;

/// Games are wrapped at this many characters, as the PGN standard asks.
const LINE: usize = 79;

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

    /// Appends a game; it is on disk when this returns.
    pub fn append(
        &mut self,
        round: usize,
        white: &str,
        black: &str,
        game: &Game,
    ) -> Result<(), FileError> {
        let text = write_game(round, white, black, game);
        self.out
            .write_all(text.as_bytes())
            .and_then(|()| self.out.flush())
            .map_err(|source| FileError {
                action: "write",
                path: self.path.clone(),
                source,
            })
    }
}

fn write_game(round: usize, white: &str, black: &str, game: &Game) -> String {
    let result = match game.winner {
        Some(Color::White) => "1-0",
        Some(Color::Black) => "0-1",
        None => "1/2-1/2",
    };
    let round = round.to_string();
    let fen = write_fen(&game.opening);
    let ending = game.ending.to_string();
    let variant = if is_chess960(&game.opening) {
        "Chess960"
    } else {
        "Standard"
    };
    let tags = [
        ("Event", "engine match"),
        ("Site", "?"),
        ("Date", "????.??.??"),
        ("Round", &round),
        ("White", white),
        ("Black", black),
        ("Result", result),
        ("Variant", variant),
        ("SetUp", "1"),
        ("FEN", &fen),
        ("PlyCount", &game.moves.len().to_string()),
        ("Termination", &ending),
    ]
    .map(|(tag, value)| {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        format!("[{tag} \"{value}\"]\n")
    });
    format!(
        "{}\n{}\n\n",
        tags.concat(),
        wrap(movetext(game).chain([result.to_string()]))
    )
}

fn movetext(game: &Game) -> impl Iterator<Item = String> {
    let mut board: Board = game.opening.clone();
    let mut numbered = false;
    game.moves.iter().map(move |&mv| {
        let san = util::display_san_move(&board, mv).to_string();
        let number = board.fullmove_number();
        let text = match board.side_to_move() {
            Color::White => format!("{number}. {san}"),
            Color::Black if !numbered => format!("{number}... {san}"),
            Color::Black => san,
        };
        numbered = true;
        board.play_unchecked(mv);
        text
    })
}

fn wrap(words: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in words {
        if column > 0 && column + 1 + word.len() > LINE {
            text.push('\n');
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(&word);
        column += word.len();
    }
    text
}
