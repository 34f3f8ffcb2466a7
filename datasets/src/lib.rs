//! Datasets: a source of games or positions on all cores, and the store that
//! its labelled positions are sealed in. What a labelled position is stands in
//! [`records`].
//!
//! A dump becomes a [`Source`] of text chunks, a chunk becomes games
//! ([`read_games`]), a game becomes [`Record`]s, and a [`Builder`] seals
//! them into a [`Dataset`], which is read in shuffled blocks.
//!
//! ```
//! use datasets::{Filters, SourceCounts, read_games};
//!
//! let text = b"[Event \"x\"]\n\n1. e4 { [%eval 0.3] } e5 { [%eval #-4] } *\n";
//! let mut tally = SourceCounts::default();
//! let mut labels = Vec::new();
//! read_games(text, &Filters::default(), &mut tally, |_, records| {
//!     labels.extend(records.iter().map(|record| record.label().to_string()));
//! });
//! assert_eq!(labels, ["30", "#-4"]);
//! ```

mod error;
mod input;
mod reading;
mod store;

pub use error::Error;
pub use input::{PartOf, PartRead, S3_SCHEME, Source, digest_of};
pub use reading::{Batch, Chunk, Damage, Finished, GameTexts, Reading, read_labelled};
pub use records::games::{Ply, Transcript, games, read_games};
pub use records::packed::{PackedFormat, write_viriformat};
pub use records::position::{
    EvalComment, GameResult, Keyed, Label, Month, Origin, Phase, Record, format_eval, parse_eval,
};
pub use records::positions::{PositionFormat, read_positions};
pub use records::selection::{
    Filters, GameId, SkipReason, SourceCounts, Speed, Split, TdLambda, Termination,
};
pub use store::{
    ADDED_VERSION, Builder, Copied, Counts, Dataset, FORMAT_VERSION, Manifest, OLDEST_VERSION,
    PartEntry, Shard, Shuffled, SourceEntry, download, merge_shard, shard, upload,
};
