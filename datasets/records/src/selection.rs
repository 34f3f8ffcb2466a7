//! Selection of games and positions: tags, filters, the train and validation split, and counts.

mod counts;
mod filters;
mod split;
mod start;
mod tags;
mod td_lambda;
mod termination;

pub use counts::{SkipReason, SourceCounts};
pub use filters::Filters;
pub use split::{GameId, Split};
pub use td_lambda::TdLambda;
pub use termination::Termination;

pub(crate) use start::{StartTags, names_start_tag};
pub(crate) use tags::{Tags, roster_value};
