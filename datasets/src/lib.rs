//! Labelled chess positions: the record, the labels, the store.
//!
//! A dump becomes a [`Source`] of text chunks, a chunk becomes games
//! ([`read_games`]), a game becomes [`Record`]s, and a [`Builder`] seals
//! them into a [`Dataset`], which is read in shuffled blocks.
//!
//! ```
//! use datasets::{Filters, Tally, read_games};
//!
//! let text = b"[Event \"x\"]\n\n1. e4 { [%eval 0.3] } e5 { [%eval #-4] } *\n";
//! let mut tally = Tally::default();
//! let mut labels = Vec::new();
//! read_games(text, &Filters::default(), &mut tally, |_, records| {
//!     labels.extend(records.iter().map(|record| record.label().to_string()));
//! });
//! assert_eq!(labels, ["30", "#-4"]);
//! ```

mod blocks;
mod boundary;
mod builder;
mod dataset;
mod error;
mod fen;
mod filters;
mod folder;
mod frames;
mod game;
mod game_texts;
mod general;
mod hash;
mod http;
mod label;
mod labelled;
mod manifest;
mod merge;
mod meter;
mod movetext;
mod pgn;
mod phase;
mod plain;
mod planes;
mod progress;
mod ranges;
mod positions;
mod reading;
mod record;
mod scan;
mod set;
mod source;
mod speed;
mod spill;
mod split;
mod start;
mod store;
mod tags;
mod tally;
mod termination;
mod transcript;

#[cfg(fuzzing)]
#[doc(hidden)]
pub use blocks::packed_and_unpacked;
pub use builder::Builder;
pub use dataset::{Dataset, Shuffled};
pub use error::{Error, changes};
pub use filters::Filters;
pub use split::{GameId, Split};
pub use game_texts::{Chunk, GameTexts};
pub use labelled::read_labelled;
pub use pgn::read_games;
pub use positions::{PositionFormat, read_positions};
pub use label::{EvalComment, Label, format_eval, parse_eval};
pub use manifest::{Counts, FORMAT_VERSION, Manifest, SourceEntry};
pub use phase::Phase;
#[cfg(fuzzing)]
#[doc(hidden)]
pub use plain::is_plain;
pub use reading::{Batch, Damage, Finished, Reading};
pub use record::{GameResult, Keyed, Month, Origin, Record};
pub use source::{Source, sha256_of};
pub use speed::Speed;
pub use tally::{SkipReason, Tally};
pub use termination::Termination;
pub use transcript::{Ply, Transcript, games};
