//! Reading a source on all cores: its labelled positions, its moves, or its games as text.

mod from_source;
mod game_texts;
mod labelled;
mod parallel;

pub use from_source::FromSource;
pub use game_texts::{Chunk, GameTexts};
pub use labelled::read_labelled;
pub use parallel::{Batch, Damage, Finished, Reading};

pub(crate) use parallel::{ResumePoint, resume};
