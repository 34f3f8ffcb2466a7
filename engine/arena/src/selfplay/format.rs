//! The forms that games are written in.

use std::path::Path;

use crate::selfplay::game::Game;
use crate::selfplay::settings::Settings;
use crate::selfplay::{pgn, viriformat};

/// How an output is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Annotated games, compressed in frames.
    CompressedPgn,
    /// Annotated games as text.
    Pgn,
    /// A packed board a game, and two bytes a move and a score.
    Viriformat,
}

impl Format {
    /// By the ending of the output's name; `None` for any other.
    pub fn of(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let endings = [
            (".pgn.zst", Format::CompressedPgn),
            (".pgn", Format::Pgn),
            (".viri", Format::Viriformat),
        ];
        let found = endings.iter().find(|(ending, _)| name.ends_with(ending));
        found.map(|&(_, format)| format)
    }

    /// Whether it is written in compressed frames.
    pub fn is_compressed(self) -> bool {
        self == Format::CompressedPgn
    }

    /// The bytes of a game.
    pub fn write(self, game: &Game, number: u64, settings: &Settings) -> Vec<u8> {
        match self {
            Format::CompressedPgn | Format::Pgn => pgn::write(game, number, settings).into_bytes(),
            Format::Viriformat => viriformat::write(game),
        }
    }
}
