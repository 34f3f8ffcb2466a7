//! The openings of a match.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use cozy_chess::Board;
use engine::parse_fen;

use super::super::files;

/// Reads a book and chooses `count` openings by `seed`. A book that is too
/// small is gone through again.
pub fn load(book: &Path, count: usize, seed: u64) -> Result<Vec<Board>> {
    let text = String::from_utf8(files::read(book)?)
        .with_context(|| format!("book {book:?} is no text"))?;
    let mut openings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if !line.trim().is_empty() {
            let board =
                parse_fen(line).with_context(|| format!("book {book:?}, line {}", number + 1))?;
            openings.push(board);
        }
    }
    ensure!(!openings.is_empty(), "book {book:?} has no openings");
    fastrand::Rng::with_seed(seed).shuffle(&mut openings);
    Ok(openings.into_iter().cycle().take(count).collect())
}
