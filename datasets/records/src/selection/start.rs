//! Where a game starts: what its Variant and FEN tags say.

use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess};

use crate::selection::SkipReason;

/// Names of standard chess in a Variant tag: Lichess's, and TCEC's.
const STANDARD: [&[u8]; 4] = [b"Standard", b"From Position", b"Normal", b""];

/// The castling rules of a Variant tag: standard chess or Chess960, in any
/// letter case.
///
/// # Errors
/// [`SkipReason::Variant`] for any other game than these two.
pub(crate) fn castling_mode(variant: Option<&[u8]>) -> Result<CastlingMode, SkipReason> {
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

/// The position of a FEN tag; without one, the usual start.
///
/// # Errors
/// [`SkipReason::BadFen`] if it is no legal position.
pub(crate) fn start_position(fen: Option<&[u8]>, mode: CastlingMode) -> Result<Chess, SkipReason> {
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
    fn variants_are_known_by_name_in_any_letter_case() {
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
