//! The position record: its fields, codec, text form and block format.

mod blocks;
mod fen;
mod label;
mod phase;
mod planes;
mod record;

#[cfg(fuzzing)]
#[doc(hidden)]
pub use blocks::packed_and_unpacked;
pub use blocks::{BLOCK_RECORDS, pack, unpack};
pub use label::{EvalComment, Label, format_eval, parse_eval};
pub use phase::Phase;
pub use record::{GameResult, Keyed, Month, Origin, Record};

pub(crate) use label::{parse_integer, parse_match_score};
