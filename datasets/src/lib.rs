//! Datasets: reads sources of games or positions on all cores, and stores the labelled positions, or
//! the moves, in a sealed dataset. [`records`] defines a labelled position and a move.
//!
//! A dump becomes a [`Source`] of text chunks, a chunk becomes games ([`read_games`]), a game
//! becomes [`Record`]s, and a [`Builder`] seals them into a [`Dataset`], which is read in shuffled
//! blocks. A `Builder<MoveRecord>` and a `Dataset<MoveRecord>` do the same with moves.
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
//!
//! A dataset is built in an empty folder, and read from there:
//!
//! ```
//! use datasets::{Builder, Dataset, Filters, Split};
//!
//! let folder = tempfile::tempdir()?;
//! let games = folder.path().join("games.pgn");
//! std::fs::write(&games, "[Event \"x\"]\n\n1. e4 { [%eval 0.3] } e5 { [%eval #-4] } *\n")?;
//!
//! let path = folder.path().join("games.dataset");
//! let filters = Filters { validation_percent: 0, ..Filters::default() };
//! let sources = [games];
//! let mut builder = Builder::open(&path, filters.clone(), &sources)?;
//! for source in &sources {
//!     let reading = builder.open_source(source)?;
//!     let finished = reading.run(&filters, 1, |batch| builder.add(batch))?;
//!     builder.end_source("games.pgn", finished);
//! }
//! builder.finish()?;
//!
//! let dataset = Dataset::open(&path)?;
//! assert_eq!(dataset.len(Split::Train), 2);
//! // Every position once, shuffled: the same seed and epoch give the same order.
//! for group in dataset.shuffled(Split::Train, 1, 0)? {
//!     for record in group? {
//!         println!("{} {}", record.epd(), record.label());
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod reading;
mod source;
mod store;

pub use error::Error;
pub use reading::{Batch, Chunk, Damage, Finished, FromSource, GameTexts, Reading, read_labelled};
pub use records::binary_formats::{PackedFormat, write_viriformat};
pub use records::games::{Ply, Transcript, games, read_games, read_moves};
pub use records::position::{
    EvalComment, GameResult, Keyed, Kind, Label, Month, MoveRecord, Mover, Origin, Phase, Record,
    Row, Speed, format_eval, parse_eval,
};
pub use records::selection::{
    Filters, GameId, SkipReason, SourceCounts, Split, TdLambda, Termination,
};
pub use records::text_formats::{PositionFormat, read_positions};
pub use source::{PartOf, PartRead, Source, SourceError, digest_of};
pub use store::{
    AnyDataset, Builder, Counts, Dataset, FORMAT_VERSION, Manifest, PartEntry, Shard, Shuffled,
    SourceEntry, StoreError, Unfinished, merge_shard, shard,
};
