//! Packed (binary) formats of games and positions that other trainers read. Decoded here rather
//! than by the crates that write them, since those trust their input; tests compare with them.

mod binpack;
mod board;
mod bullet;
mod viriformat;

use serde::{Deserialize, Serialize};
use shakmaty::{CastlingMode, Chess, FromSetup, PositionError, Setup};

use crate::games::{Evaluations, PlayedMoves};
use crate::position::{Label, MoveRecord, Record};
use crate::selection::{Filters, GameId, SourceCounts};

/// A packed format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PackedFormat {
    /// viriformat: whole games, from Viridithas and others.
    Viriformat,
    /// bullet's boards.
    Bullet,
    /// Stockfish's binpack.
    Binpack,
}

impl PackedFormat {
    /// Detects the format of a source from its first bytes. binpack has a magic number; in the
    /// others, the first games must have legal moves, or the first boards be legal and agree in all
    /// redundant fields.
    pub fn detect(bytes: &[u8]) -> Option<PackedFormat> {
        if binpack::detect(bytes) {
            Some(PackedFormat::Binpack)
        } else if viriformat::detect(bytes) {
            Some(PackedFormat::Viriformat)
        } else if bullet::detect(bytes) {
            Some(PackedFormat::Bullet)
        } else {
            None
        }
    }

    /// Returns the length in bytes of the leading whole units: games, boards or chunks. 0 if the
    /// first is incomplete.
    ///
    /// # Errors
    /// A description of the fault, if no unit of the format begins here.
    pub fn whole(self, bytes: &[u8]) -> Result<usize, &'static str> {
        let mut end = 0;
        loop {
            let rest = &bytes[end..];
            let unit = match self {
                PackedFormat::Viriformat => viriformat::unit(rest),
                PackedFormat::Bullet => Ok(bullet::unit(rest)),
                PackedFormat::Binpack => binpack::unit(rest),
            };
            match unit {
                Ok(Some(length)) => end += length,
                Err(error) if end == 0 => return Err(error),
                Ok(None) | Err(_) => return Ok(end),
            }
        }
    }

    /// Reads whole units and calls `each` with the labelled positions of each game. Positions
    /// without games are passed one by one, as in
    /// [`read_positions`](crate::text_formats::read_positions).
    pub fn read(
        self,
        bytes: &[u8],
        filters: &Filters,
        tally: &mut SourceCounts,
        each: impl FnMut(GameId, &[Record]),
    ) {
        match self {
            PackedFormat::Viriformat => {
                viriformat::read::<Evaluations>(bytes, filters, tally, each);
            }
            PackedFormat::Bullet => bullet::read(bytes, filters, tally, each),
            PackedFormat::Binpack => binpack::read::<Evaluations>(bytes, filters, tally, each),
        }
    }

    /// Returns whether the format has moves.
    pub fn has_moves(self) -> bool {
        self != PackedFormat::Bullet
    }

    /// Reads whole units and calls `each` with the moves of each game; there are none if the format
    /// lacks them ([`PackedFormat::has_moves`]).
    pub fn read_moves(
        self,
        bytes: &[u8],
        filters: &Filters,
        tally: &mut SourceCounts,
        each: impl FnMut(GameId, &[MoveRecord]),
    ) {
        match self {
            PackedFormat::Viriformat => {
                viriformat::read::<PlayedMoves>(bytes, filters, tally, each);
            }
            PackedFormat::Bullet => {}
            PackedFormat::Binpack => binpack::read::<PlayedMoves>(bytes, filters, tally, each),
        }
    }
}

/// Writes positions in viriformat, each as a game of one legal, otherwise arbitrary move.
pub fn write_viriformat(records: &[Record]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(40 * records.len());
    for record in records {
        viriformat::write(record, &mut bytes);
    }
    bytes
}

/// Score of a mate, less its distance in plies; this value and all above are "no score"
/// (Stockfish's `VALUE_NONE` is 32002).
const MATE: u16 = 32_000;

/// Decodes a score that counts mates in plies, up to `most`; smaller scores are centipawns, or the
/// unit of their engine. `None` for "no score".
fn label_by_plies(score: i16, most: u16) -> Option<Label> {
    match MATE.checked_sub(score.unsigned_abs())? {
        0 => None,
        plies if plies <= most => {
            let moves = i64::from(plies.div_ceil(2));
            Label::from_mate(moves * i64::from(score.signum()))
        }
        _ => Some(Label::from_centipawns(score.into())),
    }
}

/// Returns the position if it is legal. An en-passant square without a pawn is ignored.
fn from_setup(setup: Setup, mode: CastlingMode) -> Option<Chess> {
    Chess::from_setup(setup, mode)
        .or_else(PositionError::ignore_invalid_ep_square)
        .ok()
}
