//! The openings of a match.

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
    /// Reads a book and shuffles it by `seed`.
    ///
    /// # Errors
    /// Where the file cannot be read, or a line of it is no position.
    pub fn load(path: &Path, seed: u64) -> Result<Book> {
        let text = String::from_utf8(files::read(path)?)
            .with_context(|| format!("book {path:?} is no text"))?;
        let mut openings = Vec::new();
        for (number, line) in text.lines().enumerate() {
            if !line.trim().is_empty() {
                let board = parse_fen(line)
                    .with_context(|| format!("book {path:?}, line {}", number + 1))?;
                openings.push(board);
            }
        }
        ensure!(!openings.is_empty(), "book {path:?} has no openings");
        fastrand::Rng::with_seed(seed).shuffle(&mut openings);
        Ok(Book { openings })
    }

    /// The opening of a pair of games; a book that is too small is gone
    /// through again.
    pub fn opening(&self, pair: usize) -> &Board {
        &self.openings[pair % self.openings.len()]
    }
}
