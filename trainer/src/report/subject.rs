//! Inputs of a report page besides the net: measured positions and training history.

use std::path::PathBuf;

use datasets::Manifest;

use crate::report::metrics::{Epoch, Stretch};

/// Positions that a net is measured on.
#[derive(Clone, Copy)]
pub enum Subject<'a> {
    /// Held-out games of a dataset, with their provenance.
    HeldOut(&'a Manifest),
    /// Paths of PGN files.
    Games(&'a [PathBuf]),
}

/// Training history, read from the metrics beside a net.
pub struct PastRun {
    /// Metrics of the epochs.
    pub epochs: Vec<Epoch>,
    /// Metrics of the steps; empty if not recorded.
    pub steps: Vec<Stretch>,
    /// Norm to which longer gradients were clipped.
    pub clip_norm: Option<f64>,
    /// Epoch of the kept net.
    pub best: u64,
}
