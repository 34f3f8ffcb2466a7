//! Kibitz for the browser page: rules, notation, evaluation and search behind one function
//! that takes a JSON request and returns a JSON reply.
//!
//! The page loads this module on its main thread (rules, answered at once) and again in a
//! worker (search). Each instance has a [`Session`]; `exports` is its JavaScript interface.
//!
//! ```
//! use web::{Host, Session};
//!
//! struct TestHost;
//! impl Host for TestHost {
//!     fn now(&self) -> f64 { 0.0 }
//!     fn report(&self, _: &str) {}
//! }
//!
//! let mut session = Session::new()?;
//! let answer = session.answer(r#"{"op":"game","moves":["e2e4"]}"#, &TestHost);
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
mod people;
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
