//! Self-play of a net, as training data.

pub(crate) mod earlier;
pub(crate) mod exploration;
pub(crate) mod format;
pub(crate) mod game;
pub(crate) mod generator;
pub(crate) mod pgn;
pub(crate) mod settings;
pub(crate) mod tally;
pub(crate) mod viriformat;
