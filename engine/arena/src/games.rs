//! One game: openings, the referee and its adjudication, how it ends, PGN.

pub(crate) mod adjudication;
pub(crate) mod ending;
pub(crate) mod game;
pub(crate) mod openings;
pub(crate) mod pairing;
pub(crate) mod pgn;
