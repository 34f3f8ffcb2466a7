//! The parameters of `genfens`, which OpenBench asks for openings by.

use std::path::PathBuf;
use std::str::SplitAsciiWhitespace;

use crate::uci::error::UciError;

/// What `genfens N seed S book FILE` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenFens {
    /// How many openings.
    pub count: u64,
    /// What decides which.
    pub seed: u64,
    /// A file with an EPD or FEN a line, from which they go on; `None` for the start of
    /// a game.
    pub book: Option<PathBuf>,
}

impl GenFens {
    /// Reads what follows `genfens`. Words behind the book are for other engines.
    pub(super) fn read(mut words: SplitAsciiWhitespace) -> Result<GenFens, UciError> {
        let read = |words: &mut SplitAsciiWhitespace| {
            let count = words.next()?.parse().ok()?;
            words.next().filter(|&word| word == "seed")?;
            let seed = words.next()?.parse().ok()?;
            let book = match words.next() {
                None => None,
                Some("book") => Some(words.next()?),
                Some(_) => return None,
            };
            let book = book.filter(|book| !book.eq_ignore_ascii_case("none"));
            Some(GenFens {
                count,
                seed,
                book: book.map(PathBuf::from),
            })
        };
        read(&mut words).ok_or(UciError::BadGenFens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<GenFens, UciError> {
        GenFens::read(text.split_ascii_whitespace())
    }

    #[test]
    fn the_book_may_be_none_and_more_may_follow() {
        let asked = |book: Option<&str>| {
            Ok(GenFens {
                count: 64,
                seed: 7,
                book: book.map(PathBuf::from),
            })
        };
        assert_eq!(read("64 seed 7"), asked(None));
        assert_eq!(read("64 seed 7 book None"), asked(None));
        let book = "Books/a.epd";
        assert_eq!(read("64 seed 7 book Books/a.epd dfrc 1"), asked(Some(book)));
        for wrong in ["", "64", "64 seed", "x seed 7", "64 seed 7 book", "64 7"] {
            assert_eq!(read(wrong), Err(UciError::BadGenFens), "{wrong}");
        }
    }
}
