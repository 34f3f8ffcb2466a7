//! What a text says of a game, which games and positions are taken, and what
//! was counted.

mod counts;
mod filters;
mod speed;
mod split;
mod start;
mod tags;
mod td_lambda;
mod termination;

pub use counts::{SkipReason, SourceCounts};
pub use filters::Filters;
pub use speed::Speed;
pub use split::{GameId, Split};
pub use td_lambda::TdLambda;
pub use termination::Termination;

pub(crate) use start::{StartTags, names_start_tag};
pub(crate) use tags::{Tags, roster_value};
