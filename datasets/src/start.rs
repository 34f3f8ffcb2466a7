//! Where a game starts: what its Variant and FEN tags say.

use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess};

use crate::SkipReason;

/// The castling rules of a Variant tag: standard chess or Chess960.
///
/// # Errors
/// [`SkipReason::Variant`] for any other game than these two.
pub(crate) fn castling_mode(variant: Option<&[u8]>) -> Result<CastlingMode, SkipReason> {
    match variant {
        None | Some(b"Standard" | b"From Position" | b"standard" | b"") => {
            Ok(CastlingMode::Standard)
        }
        Some(b"Chess960") => Ok(CastlingMode::Chess960),
        Some(_) => Err(SkipReason::Variant),
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
