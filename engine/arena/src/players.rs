//! Engines at the board: how the user names them, what they are given for a
//! move, a program or a net behind one interface.

pub(crate) mod pace;
pub(crate) mod player;
pub(crate) mod question;
pub(crate) mod spec;
