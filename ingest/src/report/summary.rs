//! Data of the report of `ingest stats`, for text, picture and JSON.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use charts::Panel;
use datasets::{Filters, Kind, Month, Row, SkipReason, SourceEntry};
use serde::Serialize;

/// Histograms over the rows of a dataset, and their report.
pub trait Counted: Serialize + Sized {
    /// Row of the dataset.
    type Row: Row;

    /// Returns empty histograms.
    fn new() -> Self;

    /// Counts one row.
    fn add(&mut self, row: &Self::Row);

    /// Returns the report as text.
    ///
    /// # Errors
    /// If the filters cannot be serialised.
    fn text(path: &Path, report: &Report<Self>) -> Result<String>;

    /// Returns the panels of the picture, in rows.
    fn panels(report: &Report<Self>) -> Vec<Vec<Panel>>;
}

/// Report of `ingest stats`; the field names are its JSON keys. In a dataset of moves, labels and
/// positions are moves.
#[derive(Serialize)]
pub struct Report<'a, H> {
    /// Kind of the dataset.
    pub kind: Kind,
    /// Games seen.
    pub games: u64,
    /// Games with an evaluation.
    pub games_annotated: u64,
    /// Games with a label that passed the filters.
    pub games_kept: u64,
    /// Labels of kept games that passed the filters.
    pub labels: u64,
    /// Labels that are mates.
    pub mates: u64,
    /// Plies of kept games without a label.
    pub gaps: u64,
    /// Labels merged with another of the same position.
    pub duplicates_merged: u64,
    /// With `max_positions`, labels merged or beyond the limit; `duplicates_merged` is then 0.
    pub merged_or_beyond_cap: u64,
    /// Training positions.
    pub positions_train: u64,
    /// Validation positions.
    pub positions_validation: u64,
    /// Positions of held-out games that training has too; they count for training.
    pub seen_on_both_sides: u64,
    /// Counts of what was left out, by reason.
    pub skipped: &'a BTreeMap<SkipReason, u64>,
    /// Examples of where games were cut, one per reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub examples: &'a BTreeMap<SkipReason, String>,
    /// Labels by month.
    pub months: &'a BTreeMap<Month, u64>,
    /// Kept games by the mean rating of both players: lower ends of bins of 100.
    pub ratings: &'a BTreeMap<u16, u64>,
    /// Kept games with an unrated player.
    pub unrated: u64,
    /// Size of the dataset's folder.
    pub bytes_on_disk: u64,
    /// `bytes_on_disk` per distinct position.
    pub bytes_per_position: f64,
    /// SHA-256 digest of the records.
    pub fingerprint: &'a str,
    /// Version of the dataset's format.
    pub format_version: u64,
    /// Program and version that sealed the dataset.
    pub tool: &'a str,
    /// Filters of the dataset.
    pub filters: &'a Filters,
    /// Manifest entries of the sources, without granule digests.
    pub sources: &'a [SourceEntry],
    /// Histograms of the training positions.
    pub train: H,
    /// Histograms of the validation positions.
    pub validation: H,
}

/// Returns the plural of what a source brings: labelled positions, or moves.
pub fn labels_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Evaluations => "labels",
        Kind::Moves => "moves",
    }
}

impl<H> Report<'_, H> {
    /// Returns counts over training and validation positions together.
    pub fn both<const N: usize>(&self, counts: impl Fn(&H) -> [u64; N]) -> [u64; N] {
        let (train, validation) = (counts(&self.train), counts(&self.validation));
        std::array::from_fn(|i| train[i] + validation[i])
    }

    /// Returns the plural of a row.
    pub fn noun(&self) -> &'static str {
        match self.kind {
            Kind::Evaluations => "positions",
            Kind::Moves => "moves",
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.positions_train + self.positions_validation
    }

    /// Returns the number of evaluations read, kept or not.
    pub fn evaluations(&self) -> u64 {
        let skipped = self
            .skipped
            .iter()
            .filter(|(reason, _)| !reason.counts_games());
        self.labels + skipped.map(|(_, count)| count).sum::<u64>()
    }
}
