//! Formats of bytes rather than text: games or positions that other trainers
//! read. They are decoded here, not by the crates that write them, which trust
//! what they read; those are what tests compare with.

mod binpack;
mod board;
mod bullet;
mod viriformat;

use serde::{Deserialize, Serialize};
use shakmaty::{CastlingMode, Chess, FromSetup, PositionError, Setup};

use crate::position::{Label, Record};
use crate::selection::{Filters, GameId, SourceCounts};

/// A format of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PackedFormat {
    /// Whole games of Viridithas and others.
    Viriformat,
    /// bullet's boards.
    Bullet,
    /// Stockfish's binpack.
    Binpack,
}

impl PackedFormat {
    /// The format of a source by its first bytes. binpack says what it is; of
    /// the others the first games must have legal moves, the first boards be
    /// legal and right in all that they say twice.
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

    /// How many bytes the whole units that the bytes begin with have: games,
    /// boards or chunks. 0 if the first is not all there.
    ///
    /// # Errors
    /// What is wrong where no unit of the format can begin.
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

    /// Reads whole units, and hands over the labelled positions of each game;
    /// positions without games each for themselves, as
    /// [`read_positions`](crate::positions::read_positions) does.
    pub fn read(
        self,
        bytes: &[u8],
        filters: &Filters,
        tally: &mut SourceCounts,
        each: impl FnMut(GameId, &[Record]),
    ) {
        match self {
            PackedFormat::Viriformat => viriformat::read(bytes, filters, tally, each),
            PackedFormat::Bullet => bullet::read(bytes, filters, tally, each),
            PackedFormat::Binpack => binpack::read(bytes, filters, tally, each),
        }
    }
}

/// Writes positions in viriformat: each as a game of one move, which is legal
/// and nothing more.
pub fn write_viriformat(records: &[Record]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(40 * records.len());
    for record in records {
        viriformat::write(record, &mut bytes);
    }
    bytes
}

/// Mate in so many plies is this less them, and this and all beyond is "no score"
/// (Stockfish's `VALUE_NONE` is 32002).
const MATE: u16 = 32_000;

/// A score that counts mates in plies, of which `most` are a mate still; others are
/// centipawns, or whatever its engine uses. `None` for "no score".
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

/// The position, if it is legal; an en-passant square without a pawn is passed
/// over.
fn from_setup(setup: Setup, mode: CastlingMode) -> Option<Chess> {
    Chess::from_setup(setup, mode)
        .or_else(PositionError::ignore_invalid_ep_square)
        .ok()
}
