//! What is in a dataset, as text, picture and JSON tell it.

use std::collections::BTreeMap;

use datasets::{Filters, Month, SkipReason, SourceEntry};
use serde::Serialize;

use crate::report::histogram::Histogram;

/// The report of `ingest stats`; in JSON, its fields are its names.
#[derive(Serialize)]
pub struct Report<'a> {
    /// Games seen.
    pub games: u64,
    /// Games with an evaluation.
    pub games_annotated: u64,
    /// Games that gave a label.
    pub games_kept: u64,
    /// Labels of kept games that the filters left.
    pub labels: u64,
    /// Labels that are mates.
    pub mates: u64,
    /// Plies of kept games without a label.
    pub gaps: u64,
    /// Labels that were joined with another of the same position.
    pub duplicates_merged: u64,
    pub merged_or_beyond_cap: u64,
    /// Positions to train on.
    pub positions_train: u64,
    /// Positions of held-out games.
    pub positions_validation: u64,
    /// Positions of held-out games that training has too.
    pub seen_on_both_sides: u64,
    /// What was left out, by reason.
    pub skipped: &'a BTreeMap<SkipReason, u64>,
    /// Where games were cut, an example of each reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub examples: &'a BTreeMap<SkipReason, String>,
    /// Labels by month.
    pub months: &'a BTreeMap<Month, u64>,
    /// Kept games by the mean of both ratings: the lower ends of bins of 100.
    pub ratings: &'a BTreeMap<u16, u64>,
    /// Kept games with a player who has no rating.
    pub unrated: u64,
    /// Everything in the folder.
    pub bytes_on_disk: u64,
    /// The same, by distinct positions.
    pub bytes_per_position: f64,
    /// SHA-256 over the records.
    pub fingerprint: &'a str,
    /// Version of the format.
    pub format_version: u64,
    /// The program that made it.
    pub tool: &'a str,
    /// The filters it was made with.
    pub filters: &'a Filters,
    /// Where it comes from.
    pub sources: &'a [SourceEntry],
    /// The positions to train on.
    pub train: Histogram,
    /// The positions of held-out games.
    pub validation: Histogram,
}

impl Report<'_> {
    /// Counts of positions, training and validation together.
    pub fn both<const N: usize>(&self, counts: impl Fn(&Histogram) -> [u64; N]) -> [u64; N] {
        let (train, validation) = (counts(&self.train), counts(&self.validation));
        std::array::from_fn(|i| train[i] + validation[i])
    }

    /// Every evaluation that was read, kept or not.
    pub fn evaluations(&self) -> u64 {
        let skipped = self
            .skipped
            .iter()
            .filter(|(reason, _)| !reason.counts_games());
        self.labels + skipped.map(|(_, count)| count).sum::<u64>()
    }
}
