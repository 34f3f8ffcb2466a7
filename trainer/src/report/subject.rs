//! Inputs of a report page besides the net: measured positions and training history.

use std::path::PathBuf;

use datasets::Manifest;

use crate::report::course::Stretch;
use crate::report::curves::Point;

/// Positions that a net is measured on.
#[derive(Clone, Copy)]
pub enum Subject<'a> {
    /// Held-out games of a dataset, with their provenance.
    HeldOut(&'a Manifest),
    /// Paths of PGN files.
    Games(&'a [PathBuf]),
}

/// Training history, read from the metrics beside a net.
pub struct History {
    /// Points of the epochs.
    pub points: Vec<Point>,
    /// Metrics of the steps; empty if not recorded.
    pub steps: Vec<Stretch>,
    /// Norm to which longer gradients were clipped.
    pub clip_norm: Option<f64>,
    /// Loss of the material balance on the held-out games.
    pub material: Option<f64>,
    /// Epoch of the kept net.
    pub best: u64,
}
