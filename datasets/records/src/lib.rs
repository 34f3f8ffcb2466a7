//! Labelled chess positions and the parsers that extract them from games. Uses no files and no
//! database, and compiles to WebAssembly.
//!
//! ```
//! use records::games::read_games;
//! use records::selection::{Filters, SourceCounts};
//!
//! let text = b"[Event \"x\"]\n\n1. e4 { [%eval 0.3] } e5 { [%eval #-4] } *\n";
//! let mut tally = SourceCounts::default();
//! let mut labels = Vec::new();
//! read_games(text, &Filters::default(), &mut tally, |_, records| {
//!     labels.extend(records.iter().map(|record| record.label().to_string()));
//! });
//! assert_eq!(labels, ["30", "#-4"]);
//! ```

pub mod binary_formats;
pub mod games;
pub mod hash;
pub mod position;
pub mod selection;
pub mod text_formats;
