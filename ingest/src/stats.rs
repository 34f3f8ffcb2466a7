//! `ingest stats`: what is in a dataset.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use datasets::{Dataset, Filters, Month, Phase, SkipReason, SourceEntry, Split};
use serde::Serialize;

use crate::histogram::Histogram;
use crate::output::print;
use crate::plot;

/// The report of `ingest stats --json`.
#[derive(Serialize)]
struct Report<'a> {
    games: u64,
    games_annotated: u64,
    games_kept: u64,
    labels: u64,
    mates: u64,
    gaps: u64,
    duplicates_merged: u64,
    positions_train: u64,
    positions_validation: u64,
    seen_on_both_sides: u64,
    skipped: &'a BTreeMap<SkipReason, u64>,
    months: &'a BTreeMap<Month, u64>,
    /// Everything in the folder.
    bytes_on_disk: u64,
    bytes_per_position: f64,
    fingerprint: &'a str,
    format_version: u64,
    tool: &'a str,
    filters: Filters,
    sources: &'a [SourceEntry],
    train: Histogram,
    validation: Histogram,
}

/// Runs `ingest stats`.
///
/// # Errors
/// If the dataset cannot be read, or the plot not written.
pub fn run(path: &Path, json: bool, plot: Option<&Path>) -> Result<()> {
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
        positions_train: counts.positions_train,
        positions_validation: counts.positions_validation,
        seen_on_both_sides: counts.seen_on_both_sides,
        skipped: &tally.skipped,
        months: &tally.months,
        bytes_on_disk,
        bytes_per_position: bytes_on_disk as f64 / positions.max(1) as f64,
        fingerprint: dataset.fingerprint(),
        format_version: manifest.format_version,
        tool: &manifest.tool,
        filters: manifest.filters,
        sources: &manifest.sources,
        train: count(&dataset, Split::Train)?,
        validation: count(&dataset, Split::Validation)?,
    };
    if let Some(file) = plot {
        plot::draw(file, &report.train, &report.validation)?;
    }
    if json {
        print(&(serde_json::to_string_pretty(&report)? + "\n"))
    } else {
        print(&table(path, &report))
    }
}

fn count(dataset: &Dataset, split: Split) -> Result<Histogram> {
    let mut histogram = Histogram::new();
    for block in dataset.blocks(split)? {
        block?.iter().for_each(|record| histogram.add(record));
    }
    Ok(histogram)
}

fn folder_size(path: &Path) -> std::io::Result<u64> {
    let mut size = 0;
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
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
    }
}

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

fn table(path: &Path, report: &Report) -> String {
    let positions = report.positions_train + report.positions_validation;
    let both = |select: fn(&Histogram) -> u64| select(&report.train) + select(&report.validation);
    let share = |part: u64| format!("{:.1} %", percent(part, positions));
    let mut rows: Vec<(&str, String)> = vec![
        ("fingerprint", report.fingerprint.to_string()),
        (
            "games",
            format!(
                "{} ({} annotated, {:.1} %; {} kept)",
                report.games,
                report.games_annotated,
                percent(report.games_annotated, report.games),
                report.games_kept
            ),
        ),
        (
            "labels",
            format!(
                "{} ({} mates; {} plies without one)",
                report.labels, report.mates, report.gaps
            ),
        ),
        ("duplicates", format!("{} merged", report.duplicates_merged)),
        ("training", format!("{} positions", report.positions_train)),
        (
            "validation",
            format!(
                "{} positions of held-out games; {} more were in training too",
                report.positions_validation, report.seen_on_both_sides
            ),
        ),
        (
            "on disk",
            format!(
                "{} bytes, {:.1} a position",
                report.bytes_on_disk, report.bytes_per_position
            ),
        ),
        (Phase::Opening.name(), share(both(|h| h.phases[0]))),
        (Phase::Middlegame.name(), share(both(|h| h.phases[1]))),
        (Phase::Endgame.name(), share(both(|h| h.phases[2]))),
        ("in check", share(both(|h| h.in_check))),
        ("Black to move", share(both(|h| h.black_to_move))),
    ];
    for (&reason, count) in report.skipped {
        rows.push(("left out", format!("{count} {}", reason_text(reason))));
    }
    for source in report.sources {
        let SourceEntry {
            name,
            bytes,
            sha256,
            damage,
            tally,
        } = source;
        let digest = sha256.get(..12).unwrap_or(sha256);
        let damage = damage
            .as_deref()
            .map(|d| format!(", {d}"))
            .unwrap_or_default();
        let row = format!(
            "{name}: {bytes} bytes, {} labels, sha256 {digest}{damage}",
            tally.labels
        );
        rows.push(("source", row));
    }
    let rows = rows
        .iter()
        .map(|(name, value)| format!("  {name:<22} {value}\n"));
    format!("{}\n{}", path.display(), rows.collect::<String>())
}
