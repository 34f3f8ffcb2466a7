//! Opening books: EPD, FEN or PGN files.

mod games;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use cozy_chess::Board;
use engine::{FenError, Position, parse_fen};
use sha2::{Digest, Sha256};
use thiserror::Error;

use games::GameError;

/// Upper limit of a book's size.
const MAX_BYTES: u64 = 4 << 30;

/// Reasons to refuse a book.
#[derive(Debug, Error)]
pub enum BookError {
    /// A line that is not a position.
    #[error("book {path:?}, line {line}")]
    Line {
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        source: FenError,
    },
    /// A game that cannot be read.
    #[error("book {path:?}")]
    Game { path: PathBuf, source: GameError },
    /// A book without a playable opening.
    #[error("book {path:?} has no opening from which a game can go on")]
    Empty { path: PathBuf },
}

/// A shuffled opening book.
pub struct Book {
    openings: Vec<Board>,
    /// Openings left out because their game is over.
    pub ended: usize,
    /// SHA-256 of the file, in hexadecimal.
    pub digest: String,
}

impl Book {
    /// Reads a book and shuffles it by `seed`. It is PGN if it begins with a tag or its name ends
    /// in `.pgn`, else EPD or FEN lines. Names and comments may have bytes that are not UTF-8.
    ///
    /// # Errors
    /// `FileError` if the file cannot be read, [`BookError`] if a position or game is invalid, or
    /// no opening is playable.
    pub fn load(path: &Path, seed: u64) -> Result<Book> {
        let bytes = host::read(path, MAX_BYTES)?;
        let content = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        let ending = path.extension();
        let is_pgn = ending.is_some_and(|ending| ending.eq_ignore_ascii_case("pgn"));
        let mut openings = if is_pgn || content.trim_ascii_start().starts_with(b"[") {
            let game = |source| BookError::Game {
                path: path.into(),
                source,
            };
            games::last_positions(content).map_err(game)?
        } else {
            positions(path, &String::from_utf8_lossy(content))?
        };
        let all = openings.len();
        openings.retain(|opening| Position::of(opening.clone()).ending().is_none());
        if openings.is_empty() {
            bail!(BookError::Empty { path: path.into() });
        }
        fastrand::Rng::with_seed(seed).shuffle(&mut openings);
        Ok(Book {
            ended: all - openings.len(),
            openings,
            digest: format!("{:x}", Sha256::digest(&bytes)),
        })
    }

    /// Returns the number of openings.
    pub fn len(&self) -> usize {
        self.openings.len()
    }

    /// Returns the opening of a pair of games. The book repeats if there are more pairs than
    /// openings.
    pub fn opening(&self, pair: usize) -> &Board {
        &self.openings[pair % self.openings.len()]
    }
}

/// Parses one EPD or FEN per line.
fn positions(path: &Path, text: &str) -> Result<Vec<Board>, BookError> {
    let lines = (text.lines().zip(1..)).filter(|(line, _)| !line.trim().is_empty());
    lines
        .map(|(text, line)| {
            parse_fen(text).map_err(|source| BookError::Line {
                path: path.into(),
                line,
                source,
            })
        })
        .collect()
}
