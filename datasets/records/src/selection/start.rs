//! Start of a game: its Variant, FEN and SetUp tags.

use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess};

use crate::selection::SkipReason;

/// Names of standard chess in a Variant tag, as Lichess and TCEC write them.
const STANDARD: [&[u8]; 4] = [b"Standard", b"From Position", b"Normal", b""];

/// Names of the tags that determine rules and start position.
const NAMES: [&[u8]; 3] = [b"Variant", b"FEN", b"SetUp"];

/// Returns whether a tag's name begins with one of [`NAMES`], in any letter case, possibly after
/// blanks or other signs.
pub(crate) fn names_start_tag(name: &[u8]) -> bool {
    let signs = name.iter().take_while(|byte| !byte.is_ascii_alphanumeric());
    let name = &name[signs.count()..];
    let begins = |tag: &&[u8]| {
        name.get(..tag.len())
            .is_some_and(|n| n.eq_ignore_ascii_case(tag))
    };
    NAMES.iter().any(begins)
}

/// Tags that determine rules and start position. The first word of a name counts, in any letter
/// case: overlooking a FEN tag would play the moves from the usual start position.
#[derive(Default)]
pub(crate) struct StartTags {
    variant: Option<Vec<u8>>,
    fen: Option<Vec<u8>>,
    /// A SetUp tag announces a FEN.
    setup: bool,
}

impl StartTags {
    /// Reads a tag. Returns whether it is one of [`NAMES`].
    pub(crate) fn read(&mut self, name: &[u8], value: &[u8]) -> bool {
        let mut words = name.split(|byte| !byte.is_ascii_alphanumeric());
        let name = words.find(|word| !word.is_empty()).unwrap_or_default();
        let is = |other: &[u8]| name.eq_ignore_ascii_case(other);
        if is(b"Variant") {
            self.variant = Some(value.to_vec());
        } else if is(b"FEN") {
            self.fen = Some(value.to_vec());
        } else if is(b"SetUp") {
            self.setup = value == b"1";
        } else {
            return false;
        }
        true
    }

    /// Returns the castling rules.
    ///
    /// # Errors
    /// [`SkipReason::Variant`].
    pub(crate) fn castling_mode(&self) -> Result<CastlingMode, SkipReason> {
        castling_mode(self.variant.as_deref())
    }

    /// Returns the start position.
    ///
    /// # Errors
    /// [`SkipReason::BadTags`] if a FEN is announced but missing, [`SkipReason::BadFen`].
    pub(crate) fn position(&self, mode: CastlingMode) -> Result<Chess, SkipReason> {
        match self.setup && self.fen.is_none() {
            true => Err(SkipReason::BadTags),
            false => start_position(self.fen.as_deref(), mode),
        }
    }
}

/// Returns the castling rules of a Variant tag: standard chess or Chess960, in any letter case.
///
/// # Errors
/// [`SkipReason::Variant`] for any other variant.
fn castling_mode(variant: Option<&[u8]>) -> Result<CastlingMode, SkipReason> {
    let variant = variant.unwrap_or_default();
    let is = |name: &[u8]| variant.eq_ignore_ascii_case(name);
    if STANDARD.into_iter().any(is) {
        Ok(CastlingMode::Standard)
    } else if is(b"Chess960") {
        Ok(CastlingMode::Chess960)
    } else {
        Err(SkipReason::Variant)
    }
}

/// Returns the position of a FEN tag, or the usual start position without one.
///
/// # Errors
/// [`SkipReason::BadFen`] if the position is illegal.
fn start_position(fen: Option<&[u8]>, mode: CastlingMode) -> Result<Chess, SkipReason> {
    let Some(fen) = fen else {
        return Ok(Chess::new());
    };
    Fen::from_ascii(fen)
        .ok()
        .and_then(|fen| fen.into_position(mode).ok())
        .ok_or(SkipReason::BadFen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_tags_are_found_despite_signs_around_their_names() {
        for name in ["FEN", "fen ", "\tFen", "FEN\u{a0}", "FEN: x"] {
            let mut tags = StartTags::default();
            assert!(tags.read(name.as_bytes(), b"x"), "{name}");
            assert!(
                tags.fen.is_some() && names_start_tag(name.as_bytes()),
                "{name}"
            );
        }
        for name in ["", " ", "FE", "Event"] {
            assert!(!StartTags::default().read(name.as_bytes(), b"x"), "{name}");
            assert!(!names_start_tag(name.as_bytes()), "{name}");
        }
        assert!(names_start_tag(b" [setup1"));
    }

    #[test]
    fn variant_names_ignore_letter_case() {
        let mode = |variant: &str| castling_mode(Some(variant.as_bytes()));
        for variant in [
            "Standard",
            "standard",
            "From Position",
            "normal",
            "Normal",
            "",
        ] {
            assert_eq!(mode(variant), Ok(CastlingMode::Standard), "{variant}");
        }
        assert_eq!(castling_mode(None), Ok(CastlingMode::Standard));
        assert_eq!(mode("chess960"), Ok(CastlingMode::Chess960));
        for variant in ["fischerandom", "Antichess", "Crazyhouse", "Normal 2", "?"] {
            assert_eq!(mode(variant), Err(SkipReason::Variant), "{variant}");
        }
    }
}
