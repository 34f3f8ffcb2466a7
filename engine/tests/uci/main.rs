//! The program over real pipes, as a GUI speaks to it.

mod compliance;
mod hostile;
mod process;
mod protocol;
mod resources;
mod timing;
