//! Output formats of self-play games.

use std::path::Path;

use crate::selfplay::game::Game;
use crate::selfplay::settings::Settings;
use crate::selfplay::{pgn, viriformat};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// PGN with `[%eval` comments, in zstd frames.
    CompressedPgn,
    /// PGN with `[%eval` comments.
    Pgn,
    /// Viriformat: a packed board per game, then two bytes per move and two per score.
    Viriformat,
}

impl Format {
    /// Returns the format for a file name's ending; `None` for any other.
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

    /// Returns whether the output is compressed in frames.
    pub fn is_compressed(self) -> bool {
        self == Format::CompressedPgn
    }

    /// Returns the bytes of a game.
    pub fn write(self, game: &Game, number: u64, settings: &Settings) -> Vec<u8> {
        match self {
            Format::CompressedPgn | Format::Pgn => pgn::write(game, number, settings).into_bytes(),
            Format::Viriformat => viriformat::write(game),
        }
    }
}
