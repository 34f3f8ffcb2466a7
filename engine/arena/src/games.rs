//! A single game: opening books, the referee, adjudication, endings, PGN output.

pub(crate) mod adjudication;
pub(crate) mod ending;
pub(crate) mod game;
pub(crate) mod openings;
pub(crate) mod pairing;
pub(crate) mod pgn;
