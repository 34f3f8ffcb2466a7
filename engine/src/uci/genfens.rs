//! Parameters of `genfens`, OpenBench's request for openings.

use std::path::PathBuf;
use std::str::SplitAsciiWhitespace;

use crate::uci::error::UciError;

/// Parameters of `genfens N seed S book FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenFens {
    /// Number of openings.
    pub count: u64,
    /// Seed of the random generator.
    pub seed: u64,
    /// File with an EPD or FEN per line to start from; `None` for the standard start.
    pub book: Option<PathBuf>,
}

impl GenFens {
    /// Parses the words after `genfens`. Words after the book are meant for other engines.
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
    fn accepts_no_book_and_further_words() {
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
