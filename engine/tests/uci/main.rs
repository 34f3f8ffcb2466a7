//! The program over real pipes, as a GUI speaks to it.

mod compliance;
mod console;
mod hostile;
mod process;
mod protocol;
mod referee;
mod resources;
mod timing;
