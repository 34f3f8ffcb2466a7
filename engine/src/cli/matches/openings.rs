//! The openings of a match.

mod games;

use std::path::Path;

use anyhow::{Context, Result, ensure};
use cozy_chess::Board;
use engine::parse_fen;

use super::super::files;

/// A book of openings, shuffled.
pub struct Book {
    openings: Vec<Board>,
}

impl Book {
    /// Reads a book, games if its name ends in `.pgn`, else one EPD or FEN a
    /// line, and shuffles it by `seed`.
    ///
    /// # Errors
    /// Where the file cannot be read, or something in it is no position.
    pub fn load(path: &Path, seed: u64) -> Result<Book> {
        let text = String::from_utf8(files::read(path)?)
            .with_context(|| format!("book {path:?} is no text"))?;
        let is_pgn = path.extension().is_some_and(|ending| ending == "pgn");
        let mut openings = if is_pgn {
            games::last_positions(&text).with_context(|| format!("book {path:?}"))?
        } else {
            positions(&text).with_context(|| format!("book {path:?}"))?
        };
        ensure!(!openings.is_empty(), "book {path:?} has no openings");
        fastrand::Rng::with_seed(seed).shuffle(&mut openings);
        Ok(Book { openings })
    }

    /// Openings in all.
    pub fn len(&self) -> usize {
        self.openings.len()
    }

    /// The opening of a pair of games; a book that is too small is gone
    /// through again.
    pub fn opening(&self, pair: usize) -> &Board {
        &self.openings[pair % self.openings.len()]
    }
}

/// One EPD or FEN a line.
fn positions(text: &str) -> Result<Vec<Board>> {
    let lines = (text.lines().enumerate()).filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(i, line)| parse_fen(line).with_context(|| format!("line {}", i + 1)))
        .collect()
}
