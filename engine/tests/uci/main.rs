//! UCI sessions with the program over pipes, as a GUI runs them.

mod compliance;
mod console;
mod hostile;
mod process;
mod protocol;
mod referee;
mod resources;
mod timing;
