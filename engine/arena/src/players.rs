//! Players: engine specifications, time controls, and UCI programs or nets behind one interface.

pub(crate) mod beginner;
pub(crate) mod pace;
pub(crate) mod player;
pub(crate) mod question;
pub(crate) mod spec;
