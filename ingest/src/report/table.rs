//! Text report of `ingest stats`.

use std::path::Path;

use anyhow::Result;
use charts::percent;
use datasets::{Kind, Month, MoveRecord, Phase, Row, SourceEntry};
use host::thousands;

use crate::report::histogram::{Histogram, LABEL_BIN, LABEL_RANGE};
use crate::report::reason::left_out;
use crate::report::summary::{Report, labels_of};

/// Rows of a table before they are summed: months to years, ratings to bins of 500.
const MANY_ROWS: usize = 12;

/// Returns the report of a dataset of evaluations as text.
///
/// # Errors
/// If the filters cannot be serialised.
pub fn text(path: &Path, report: &Report<Histogram>) -> Result<String> {
    let positions = report.rows();
    let [black_to_move, in_check] = report.both(|h| [h.black_to_move, h.in_check]);
    let annotated = format!(
        "{} annotated, {}",
        thousands(report.games_annotated),
        percent(report.games_annotated, report.games)
    );
    let shares = [
        ("in check", percent(in_check, positions)),
        (
            "to move",
            format!("Black in {}", percent(black_to_move, positions)),
        ),
    ];
    let labels = format!(
        "{} ({} mates; {} plies without one)",
        thousands(report.labels),
        thousands(report.mates),
        thousands(report.gaps)
    );
    let mut text = facts(path, report, &annotated, ("labels", labels), &shares)?;
    let [white_mates, black_mates] = report.both(|h| h.mates);
    let mut evaluations = vec![("Black mates".to_string(), black_mates)];
    evaluations.extend(label_bands(report));
    evaluations.push(("White mates".to_string(), white_mates));
    text += &bars("evaluation in pawns, White's view", &evaluations, positions);
    text += &bars("phase", &phases(report.both(|h| h.phases)), positions);
    text += &bars(
        "ratings, mean of both, kept games",
        &ratings(report),
        report.games_kept,
    );
    text += &bars("months, labels", &months(report), report.labels);
    Ok(text)
}

/// Returns counts by phase with their names.
pub(super) fn phases(counts: [u64; 3]) -> Vec<(String, u64)> {
    let names = Phase::ALL.map(|phase| phase.name().to_string());
    names.into_iter().zip(counts).collect()
}

/// Returns the report down to the histograms: the path, and a line a fact. `games` qualifies the
/// number of games; `labels` and `shares` depend on what the dataset holds.
///
/// # Errors
/// If the filters cannot be serialised.
pub(super) fn facts<H>(
    path: &Path,
    report: &Report<H>,
    games: &str,
    labels: (&'static str, String),
    shares: &[(&'static str, String)],
) -> Result<String> {
    let what = report.noun();
    let mut rows = vec![
        ("fingerprint", report.fingerprint.to_string()),
        ("filters", filters(report)?),
        (
            "games",
            format!(
                "{} ({games}; {} kept)",
                thousands(report.games),
                thousands(report.games_kept)
            ),
        ),
        labels,
        ("duplicates", duplicates(report)),
        (
            "training",
            format!("{} {what}", thousands(report.positions_train)),
        ),
        (
            "validation",
            format!(
                "{} {what} of held-out games; {} more were in training too",
                thousands(report.positions_validation),
                thousands(report.seen_on_both_sides)
            ),
        ),
        (
            "on disk",
            format!(
                "{} bytes, {:.1} a position",
                thousands(report.bytes_on_disk),
                report.bytes_per_position
            ),
        ),
    ];
    rows.extend_from_slice(shares);
    for (&reason, count) in report.skipped {
        let example = report.examples.get(&reason);
        rows.push(("left out", left_out(report.kind, reason, *count, example)));
    }
    let sources = report.sources.iter();
    rows.extend(sources.map(|entry| ("source", source(entry, report.kind))));
    let mut text = format!("{}\n", path.display());
    for (name, value) in rows {
        text += &format!("  {name:<12} {value}\n");
    }
    Ok(text)
}

/// Returns the filters by their manifest names.
fn filters<H>(report: &Report<H>) -> Result<String> {
    let filters = serde_json::to_value(report.filters)?;
    let named = filters.as_object().into_iter().flatten();
    let words: Vec<String> = named
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    Ok(words.join(", "))
}

fn source(entry: &SourceEntry, kind: Kind) -> String {
    let SourceEntry {
        name,
        bytes,
        digest,
        part,
        damage,
        tally,
        ..
    } = entry;
    let months = match entry.months() {
        Some((first, last)) if first == last => format!(" of {first}"),
        Some((first, last)) => format!(" of {first} to {last}"),
        None => String::new(),
    };
    let digest = digest.get(..12).unwrap_or(digest);
    let part = part.iter().map(|part| {
        let range = &part.read.range;
        let (start, end) = (thousands(range.start), thousands(range.end));
        format!(", of which {start} to {end}")
    });
    let damage = damage.iter().map(|damage| format!(", {damage}"));
    format!(
        "{name}: {} bytes{}, {} {}{months}, digest {digest}{}",
        thousands(*bytes),
        part.collect::<String>(),
        thousands(tally.labels),
        labels_of(kind),
        damage.collect::<String>()
    )
}

/// Returns the positions with centipawn labels, in bands that widen outwards.
fn label_bands(report: &Report<Histogram>) -> Vec<(String, u64)> {
    let ends = [
        -LABEL_RANGE,
        -500,
        -200,
        -100,
        -50,
        0,
        50,
        100,
        200,
        500,
        LABEL_RANGE,
    ];
    let bin = |end: i32| ((end + LABEL_RANGE) / LABEL_BIN) as usize;
    let count = |histogram: &Histogram, low, high| -> u64 {
        histogram.labels[bin(low)..bin(high)].iter().sum()
    };
    ends.windows(2)
        .map(|ends| {
            let (low, high) = (ends[0], ends[1]);
            let [count] = report.both(|histogram| [count(histogram, low, high)]);
            let pawns = |end: i32| f64::from(end) / 100.0;
            let name = match (low, high) {
                (low, high) if low == -LABEL_RANGE => format!("below {:+}", pawns(high)),
                (low, high) if high == LABEL_RANGE => format!("from {:+}", pawns(low)),
                _ => format!("from {:+} to {:+}", pawns(low), pawns(high)),
            };
            (name, count)
        })
        .collect()
}

fn ratings<H>(report: &Report<H>) -> Vec<(String, u64)> {
    let width = if report.ratings.len() > MANY_ROWS {
        500
    } else {
        100
    };
    let named = report.ratings.iter();
    let named = named.map(|(bin, &count)| (format!("from {}", bin - bin % width), count));
    let mut rows = sum_neighbours(named);
    if report.unrated > 0 {
        rows.push(("unrated".to_string(), report.unrated));
    }
    rows
}

pub(super) fn months<H>(report: &Report<H>) -> Vec<(String, u64)> {
    let years = report.months.len() > MANY_ROWS;
    let name = |month: Month| match month.calendar() {
        Some((year, _)) if years => year.to_string(),
        _ => month.to_string(),
    };
    sum_neighbours(
        report
            .months
            .iter()
            .map(|(&month, &count)| (name(month), count)),
    )
}

/// Sums neighbours of the same name.
fn sum_neighbours(counts: impl Iterator<Item = (String, u64)>) -> Vec<(String, u64)> {
    let mut rows: Vec<(String, u64)> = Vec::new();
    for (name, count) in counts {
        match rows.last_mut() {
            Some((last, sum)) if *last == name => *sum += count,
            _ => rows.push((name, count)),
        }
    }
    rows
}

/// Draws a bar for each count: one `#` per two percent of `whole`.
pub(super) fn bars(title: &str, rows: &[(String, u64)], whole: u64) -> String {
    let mut text = format!("  {title}\n");
    for (name, count) in rows {
        let length = (50 * count).div_ceil(whole.max(1)) as usize;
        let share = percent(*count, whole);
        text += &format!("    {name:<22} {share:>8} {}\n", "#".repeat(length));
    }
    text
}

fn duplicates<H>(report: &Report<H>) -> String {
    match report.merged_or_beyond_cap {
        0 if report.kind == Kind::Moves => format!(
            "{} repeated, or beyond {} of a position",
            thousands(report.duplicates_merged),
            MoveRecord::MOST
        ),
        0 => format!("{} merged", thousands(report.duplicates_merged)),
        count => format!("{} merged, or beyond the cap", thousands(count)),
    }
}
