//! Games as PGN, in and out.
//!
//! Reading forgives what people and programs write, and says what it had to leave out;
//! a [`Tree`](crate::tree::Tree) that was written is read as it was.

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
