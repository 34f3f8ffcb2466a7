//! PGN games, read into labelled positions or moves.

mod boundary;
mod chunk;
mod clock;
mod collector;
mod evaluations;
mod game;
mod general;
mod header;
mod movetext;
mod plain;
mod played;
mod returns;
mod rewriter;
mod scan;
mod spelling;
mod transcript;
mod visits;

pub use boundary::{Boundary, any_tag_games, ends_with_result};
pub use chunk::{read_games, read_moves};
pub use header::begins_tag;
pub(crate) use header::without_mark;
pub use movetext::Cut;
#[cfg(fuzzing)]
#[doc(hidden)]
pub use plain::is_plain;
pub use transcript::{Ply, Transcript, games};

pub(crate) use collector::{Collector, Ending};
pub(crate) use evaluations::Evaluations;
pub(crate) use played::PlayedMoves;
