//! PGN: parsing and writing game trees.
//!
//! The parser is lenient and reports what it skips. A written
//! [`Tree`](crate::tree::Tree) parses back unchanged.

mod comment;
mod list;
mod moves;
mod read;
mod tokens;
mod write;

pub use comment::comment_text;
pub use list::{GameText, list};
pub use moves::{find_move, without_piece};
pub use read::{ReadGame, read};
pub use write::{WrittenGame, write};

#[cfg(test)]
mod tests;
