//! What a page is made from beside the net: where the positions come from, and
//! how the net was trained.

use std::path::PathBuf;

use datasets::Manifest;

use crate::report::course::Stretch;
use crate::report::curves::Point;

/// What a net is measured on.
#[derive(Clone, Copy)]
pub enum Subject<'a> {
    /// The held-out games of a dataset, which says where it comes from.
    HeldOut(&'a Manifest),
    /// PGN files.
    Games(&'a [PathBuf]),
}

/// How a net was trained, as the metrics beside it tell.
pub struct History {
    /// The epochs.
    pub points: Vec<Point>,
    /// The steps, if they were recorded.
    pub steps: Vec<Stretch>,
    /// The length that gradients were shortened to.
    pub clip_norm: Option<f64>,
    /// The loss of material on the held-out games.
    pub material: Option<f64>,
    /// The epoch whose net was kept.
    pub best: u64,
}
