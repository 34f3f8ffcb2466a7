//! `ingest stats`: what is in a dataset.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result, bail};
use datasets::{Dataset, Filters, Month, SkipReason, SourceEntry, Split};
use host::StopSignal;
use serde::Serialize;

use crate::failure::Stopped;
use crate::histogram::Histogram;
use crate::output::print;
use crate::{plot, table};

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

/// Runs `ingest stats`.
///
/// # Errors
/// If the dataset cannot be read, or the plot not written.
pub fn run(path: &Path, json: bool, plot: Option<&Path>) -> Result<()> {
    let stop = StopSignal::listen()?;
    let dataset = Dataset::open(path)?;
    let manifest = dataset.manifest();
    let (counts, tally) = (manifest.counts, &manifest.tally);
    let bytes_on_disk = folder_size(path).with_context(|| path.display().to_string())?;
    let positions = counts.positions_train + counts.positions_validation;
    let report = Report {
        games: tally.games,
        games_annotated: tally.games_annotated,
        games_kept: tally.games_kept,
        labels: tally.labels,
        mates: tally.mates,
        gaps: tally.gaps,
        duplicates_merged: counts.duplicates_merged,
        merged_or_beyond_cap: counts.merged_or_beyond_cap,
        positions_train: counts.positions_train,
        positions_validation: counts.positions_validation,
        seen_on_both_sides: counts.seen_on_both_sides,
        skipped: &tally.skipped,
        months: &tally.months,
        ratings: &tally.ratings,
        unrated: tally.unrated,
        bytes_on_disk,
        bytes_per_position: bytes_on_disk as f64 / positions.max(1) as f64,
        fingerprint: dataset.fingerprint(),
        format_version: manifest.format_version,
        tool: &manifest.tool,
        filters: &manifest.filters,
        sources: &manifest.sources,
        train: count(&dataset, Split::Train, &stop)?,
        validation: count(&dataset, Split::Validation, &stop)?,
    };
    if let Some(file) = plot {
        let name = path.file_name().unwrap_or(path.as_os_str());
        plot::draw(file, &name.to_string_lossy(), &report)?;
    }
    if json {
        print(&(serde_json::to_string_pretty(&report)? + "\n"))
    } else {
        print(&table::text(path, &report)?)
    }
}

fn count(dataset: &Dataset, split: Split, stop: &StopSignal) -> Result<Histogram> {
    let mut histogram = Histogram::new();
    for block in dataset.blocks(split)? {
        if stop.is_asked() {
            bail!(Stopped::for_good(stop));
        }
        block?.iter().for_each(|record| histogram.add(record));
    }
    Ok(histogram)
}

fn folder_size(path: &Path) -> std::io::Result<u64> {
    let mut size = 0;
    let entries = match std::fs::read_dir(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let metadata = match entry.metadata() {
            // A build tidies up at this very moment.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            metadata => metadata?,
        };
        size += if metadata.is_dir() {
            folder_size(&entry.path())?
        } else {
            metadata.len()
        };
    }
    Ok(size)
}

/// What was left out, in words that follow a count.
pub fn reason_text(reason: SkipReason) -> &'static str {
    match reason {
        SkipReason::Unannotated => "games without an evaluation",
        SkipReason::Variant => "annotated games, or positions, of another variant",
        SkipReason::BadFen => "annotated games whose FEN is no legal position",
        SkipReason::IllegalMove => "games cut at an illegal move",
        SkipReason::MalformedGame => "games cut where their text breaks off",
        SkipReason::OversizedGame => "stretches of 16 MiB without a game",
        SkipReason::MalformedEval => "evaluations that cannot be read",
        SkipReason::EvalBeforeFirstMove => "evaluations before the first move",
        SkipReason::FinishedPosition => "evaluations of a mate or stalemate",
        SkipReason::SecondEval => "second evaluations of one move",
        SkipReason::MalformedLine => "lines that cannot be read",
        SkipReason::IllegalPosition => "lines whose position is not legal",
        SkipReason::Bot => "annotated games with a bot",
        SkipReason::Termination => "annotated games that ended in a filtered way",
        SkipReason::OtherSpeed => "annotated games of another speed",
        SkipReason::OtherMonth => "annotated games of another month",
        SkipReason::BadMonth => "annotated games of a month of wrong evaluations",
        SkipReason::Unrated => "annotated games of unrated players",
        SkipReason::RatingOutOfRange => "annotated games of other ratings",
        SkipReason::EarlyPly => "evaluations before the lowest ply",
        SkipReason::LowDepth => "evaluations of too low a depth",
        SkipReason::Mate => "evaluations that are mates",
        SkipReason::EvalOutOfRange => "evaluations out of range",
        SkipReason::NotQuiet => "evaluations of positions that are not quiet",
        SkipReason::Thinned => "evaluations between every N-th of a game",
    }
}
