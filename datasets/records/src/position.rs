//! The rows of datasets, positions with an evaluation or a move: fields, codec, text form and block
//! format.

mod blocks;
mod board;
mod fen;
mod label;
mod move_record;
mod phase;
mod planes;
mod record;
mod row;
mod speed;

pub use blocks::BLOCK_RECORDS;
#[cfg(fuzzing)]
#[doc(hidden)]
pub use blocks::packed_and_unpacked;
pub use label::{EvalComment, Label, format_eval, parse_eval};
pub use move_record::{MoveRecord, Mover};
pub use phase::Phase;
pub use record::{GameResult, Month, Origin, Record};
pub use row::{Keyed, Kind, ROW_BYTES, Row};
pub use speed::Speed;

pub(crate) use label::{parse_integer, parse_match_score};
pub(crate) use record::ply_of;
