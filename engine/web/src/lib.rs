//! Kibitz for a page: rules, notation, evaluation and search behind one
//! function that takes JSON and returns JSON.
//!
//! The page holds this module twice: on the main thread for the rules, which
//! answer at once, and in a worker for the search. Both ask a [`Session`]; in
//! WebAssembly the functions of `exports` do so for JavaScript.
//!
//! ```
//! use web::{Host, Session};
//!
//! struct Nobody;
//! impl Host for Nobody {
//!     fn now(&self) -> f64 { 0.0 }
//!     fn report(&self, _: &str) {}
//! }
//!
//! let mut session = Session::new()?;
//! let answer = session.answer(r#"{"op":"game","moves":["e2e4"]}"#, &Nobody);
//! assert!(answer.contains(r#""san":"e4""#));
//! # Ok::<(), models::NetError>(())
//! ```

mod error;
mod evaluator;
#[cfg(target_arch = "wasm32")]
mod exports;
mod game;
mod host;
mod inside;
mod names;
mod pgn;
mod review;
mod rules;
mod score;
mod search;
mod session;
mod team;
mod tree;
#[cfg(test)]
mod typescript;
mod why;

pub use host::Host;
pub use session::Session;
pub use team::SharedMemory;
