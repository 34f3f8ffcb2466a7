//! PGN games, read into labelled positions.

mod boundary;
mod chunk;
mod evaluations;
mod game;
mod general;
mod header;
mod movetext;
mod plain;
mod returns;
mod rewriter;
mod scan;
mod spelling;
mod transcript;

pub use boundary::{Boundary, any_tag_games, ends_with_result};
pub use chunk::read_games;
pub use header::begins_tag;
pub(crate) use header::without_mark;
pub use movetext::Cut;
#[cfg(fuzzing)]
#[doc(hidden)]
pub use plain::is_plain;
pub use transcript::{Ply, Transcript, games};

pub(crate) use evaluations::{Ending, Evaluations};
