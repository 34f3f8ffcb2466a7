//! SVG charts with one common style.
//!
//! A [`Panel`] is one chart. [`sheet`] puts panels on a page of their own; [`Panel::inline`] is for
//! a page that includes [`style`]. Colours follow the reader's choice of light or dark. Lengths are
//! in pixels, from the top left.
//!
//! The crate draws for `ingest`, `trainer` and `arena`, and knows nothing of datasets. It stands in
//! their folder because the workspace's top level is given.
//!
//! ```
//! use charts::{Colour, Dot, Panel, sheet};
//!
//! let dot = Dot {
//!     name: "Kibitz".to_string(),
//!     value: 2700.0,
//!     interval: Some([2660.0, 2740.0]),
//!     figure: "2700".to_string(),
//!     colour: Colour::Blue,
//! };
//! let mut panel = Panel::new("Elo", "With the 95 % interval.", (480.0, Panel::dots_height(1)));
//! panel.dots(0.0, &[dot]);
//! assert!(sheet(None, vec![vec![panel]]).starts_with("<svg"));
//! ```

mod chart;
mod graph;
mod numbers;
mod panel;
mod scale;
mod style;

pub use chart::{Bar, Column, Dot, Shares};
pub use graph::{Graph, Series};
pub use numbers::{percent, short_count};
pub use panel::{Anchor, Mark, Panel, Point, Tone, WIDE, WIDTH, sheet, text_width};
pub use scale::{Scale, Tick, ticks};
pub use style::{Colour, style};
