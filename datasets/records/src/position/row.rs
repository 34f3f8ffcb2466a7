//! Rows of a dataset: what the store needs to know of a [`Record`] or a [`MoveRecord`].

use std::cmp::Ordering;
use std::fmt::{self, Debug, Display};
use std::io;

use serde::{Deserialize, Serialize};

use crate::hash::mix;
#[cfg(doc)]
use crate::position::MoveRecord;
use crate::position::Record;
use crate::position::board::{BOARD_BYTES, Board};

/// Size of a row in bytes.
pub const ROW_BYTES: usize = 32;

/// Kind of a dataset, by its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Evaluated positions: [`Record`]s.
    #[default]
    Evaluations,
    /// Moves played: [`MoveRecord`]s.
    Moves,
}

impl Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Kind::Evaluations => "evaluations",
            Kind::Moves => "moves",
        })
    }
}

/// A row of a dataset: a position, and what was recorded of it.
///
/// Of the different rows of one position a dataset keeps the first [`Row::MOST`] by
/// [`Row::preference`], a fixed total order. What is kept of several sources is thus what is kept
/// of what is kept of each: neither their order nor repeats matter.
pub trait Row: Copy + Ord + Debug + Send + Sync + 'static {
    /// Kind of the datasets of such rows.
    const KIND: Kind;

    /// Rows of one position that a side of the split keeps.
    const MOST: usize;

    /// Returns the bytes. A row has its position in the first 25, as `docs/record.md` describes.
    fn as_bytes(&self) -> &[u8; ROW_BYTES];

    /// Returns the row of bytes that were written by this crate and passed a checksum; they are
    /// not validated.
    fn from_trusted(bytes: [u8; ROW_BYTES]) -> Self;

    /// Returns the bytes of consecutive rows.
    fn bytes_of(rows: &[Self]) -> &[u8];

    /// Returns the rank among the rows of one position: the least are kept. Only equal rows have
    /// equal ranks.
    fn preference(self) -> impl Ord;

    /// Packs up to [`BLOCK_RECORDS`](crate::position::BLOCK_RECORDS) rows.
    fn pack(rows: &[Self]) -> Vec<u8>;

    /// Appends a block's rows to `rows`.
    ///
    /// # Errors
    /// If the block is truncated or invalid.
    fn unpack(block: &[u8], rows: &mut Vec<Self>) -> io::Result<()>;
}

/// A row with the fixed 64-bit hash of its position, by which the store is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keyed<R = Record> {
    /// Hash of the position from the side to move's point of view.
    pub key: u64,
    /// The row.
    pub record: R,
}

impl<R: Row> Keyed<R> {
    /// Hashes a row's position: `h = mix(h ^ word)` over four words, from 0, with splitmix64's
    /// finaliser as `mix`. Part of the dataset format.
    pub fn new(record: R) -> Keyed<R> {
        let words = seen_by_mover(&record);
        let key = words.iter().fold(0, |hash, word| mix(hash ^ word));
        Keyed { key, record }
    }

    /// Compares by key, then by position if different positions share a key.
    pub fn position_order(&self, other: &Keyed<R>) -> Ordering {
        self.key.cmp(&other.key).then_with(|| {
            let [board, others] = [self, other].map(|row| &row.record.as_bytes()[..BOARD_BYTES]);
            match board == others {
                true => Ordering::Equal,
                false => seen_by_mover(&self.record).cmp(&seen_by_mover(&other.record)),
            }
        })
    }

    /// Returns the rank in the order of the store among rows of one key: by position, then
    /// preference.
    pub fn order_in_key(self) -> impl Ord {
        (seen_by_mover(&self.record), self.record.preference())
    }
}

fn seen_by_mover<R: Row>(row: &R) -> [u64; 4] {
    Board::of(row.as_bytes()).seen_by_mover()
}
