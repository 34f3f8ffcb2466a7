//! The openings of a match.

mod games;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use cozy_chess::Board;
use engine::{FenError, Position, parse_fen};
use sha2::{Digest, Sha256};
use thiserror::Error;

use games::GameError;

/// Far more than any file of openings has.
const MAX_BYTES: u64 = 4 << 30;

/// Why a book was refused.
#[derive(Debug, Error)]
pub enum BookError {
    /// A line is no position.
    #[error("book {path:?}, line {line}")]
    Line {
        /// The book as the user named it.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        source: FenError,
    },
    /// A game cannot be read.
    #[error("book {path:?}")]
    Game {
        /// The book as the user named it.
        path: PathBuf,
        /// Which one, and why.
        source: GameError,
    },
    /// Nothing can be played.
    #[error("book {path:?} has no opening from which a game can go on")]
    Empty {
        /// The book as the user named it.
        path: PathBuf,
    },
}

/// A book of openings, shuffled.
pub struct Book {
    openings: Vec<Board>,
    /// Positions of the book in which the game is over.
    pub ended: usize,
    /// SHA-256 of the file, in hexadecimal digits.
    pub digest: String,
}

impl Book {
    /// Reads a book, games if it begins with a tag or its name ends in `.pgn`,
    /// else one EPD or FEN a line, and shuffles it by `seed`. Bytes that are no
    /// UTF-8 may stand where text does: in names and comments.
    ///
    /// # Errors
    /// `FileError` where the file cannot be read, [`BookError`] where something
    /// in it is no position.
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
