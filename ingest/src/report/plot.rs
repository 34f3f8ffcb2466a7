//! SVG picture of `ingest stats --plot`.

use std::path::Path;

use anyhow::Result;
use charts::{
    Anchor, Bar, Colour, Column, Mark, Panel, Shares, Tone, WIDE, WIDTH, percent, sheet,
    short_count,
};
use datasets::{SourceCounts, StoreError};
use host::{durable, thousands};

use crate::report::histogram::{Histogram, LABEL_BIN, LABEL_RANGE};
use crate::report::reason::reason_text;
use crate::report::summary::{Counted, Report};

/// Height of a chart's columns, in pixels.
pub(super) const CHART: f64 = 220.0;
/// Width for the names of bars, in pixels.
const NAMES: f64 = 400.0;
pub(super) const TRAIN: Colour = Colour::Blue;
pub(super) const VALIDATION: Colour = Colour::Orange;
const GAMES: Colour = Colour::Green;
pub(super) const OTHER: Colour = Colour::Grey;

/// Draws the report as an SVG.
///
/// # Errors
/// If the file cannot be written.
pub fn draw<H: Counted>(file: &Path, name: &str, report: &Report<H>) -> Result<()> {
    let svg = picture(name, report);
    durable::write(file, svg.as_bytes()).map_err(StoreError::unwritable(file))?;
    Ok(())
}

fn picture<H: Counted>(name: &str, report: &Report<H>) -> String {
    let what = report.noun();
    let note = format!(
        "{} {what} to train on, {} of held-out games, from {}",
        thousands(report.positions_train),
        thousands(report.positions_validation),
        sources(report),
    );
    sheet(Some((name, &note)), H::panels(report))
}

/// Returns the panels of a dataset of evaluations, in rows.
pub(super) fn panels(report: &Report<Histogram>) -> Vec<Vec<Panel>> {
    let annotated = format!(
        "annotated, {}",
        percent(report.games_annotated, report.games)
    );
    let counts = [
        (report.games, "games"),
        (report.games_annotated, &annotated),
        (report.labels, "labels"),
        (report.gaps, "plies without a label"),
        (report.rows(), "distinct positions"),
    ];
    vec![
        vec![figures(report, &counts)],
        vec![labels(report)],
        vec![kinds(report), ratings(report)],
        vec![skipped(report)],
    ]
}

fn sources<H>(report: &Report<H>) -> String {
    match report.sources {
        [] => "no source".to_string(),
        [source] => source.name.clone(),
        sources => format!("{} sources", sources.len()),
    }
}

/// Draws counts with their names, and the bytes a position.
pub(super) fn figures<H>(report: &Report<H>, counts: &[(u64, &str)]) -> Panel {
    // Round figures: the exact ones stand below.
    let rounded = |count: u64| match count {
        ..10_000_000 => thousands(count),
        _ => short_count(count as f64),
    };
    let counts = counts.iter().map(|&(count, name)| (rounded(count), name));
    let bytes = format!("{:.1}", report.bytes_per_position);
    let figures: Vec<_> = counts.chain([(bytes, "bytes a position")]).collect();
    let mut panel = Panel::new("", "", (WIDE, 50.0));
    let width = WIDE / figures.len() as f64;
    for (i, (figure, name)) in figures.iter().enumerate() {
        let middle = width * (i as f64 + 0.5);
        panel.text((middle, 22.0), Anchor::Middle, Tone::Heading, figure);
        panel.text((middle, 46.0), Anchor::Middle, Tone::Faint, name);
    }
    panel
}

/// Returns a column per bin with its share of training positions, and a mark for that of validation
/// positions.
pub(super) fn shares_of<H>(
    report: &Report<H>,
    counts: impl Fn(&H) -> Vec<u64>,
    hint: impl Fn(usize) -> String,
) -> Vec<Column> {
    let shares = |histogram: &H| {
        let counts = counts(histogram);
        let total = counts.iter().sum::<u64>().max(1) as f64;
        counts
            .into_iter()
            .map(move |count| (count, 100.0 * count as f64 / total))
    };
    let (train, validation) = (shares(&report.train), shares(&report.validation));
    train
        .zip(validation)
        .enumerate()
        .map(|(i, ((train, share), (validation, mark)))| Column {
            value: share,
            mark: Some(mark),
            hint: format!(
                "{}: {} to train on ({share:.2} %), {} held out ({mark:.2} %)",
                hint(i),
                thousands(train),
                thousands(validation)
            ),
        })
        .collect()
}

pub(super) fn percents(value: f64) -> String {
    format!("{value} %")
}

fn labels(report: &Report<Histogram>) -> Panel {
    let note = "Share of positions by half pawns; all beyond 10 pawns in the outermost columns, \
                mates at the ends.";
    let title = "Evaluations, White's point of view";
    let mut panel = Panel::new(title, note, (WIDE, CHART));
    let sides = [
        (Mark::Fill, TRAIN, "to train on"),
        (Mark::Line, VALIDATION, "held out"),
    ];
    panel.legend((40.0, 12.0), &sides);
    // An empty column separates the mates from the rest.
    let counts = |histogram: &Histogram| {
        let [white_mates, black_mates] = histogram.mates;
        [&[black_mates, 0][..], &histogram.labels, &[0, white_mates]].concat()
    };
    let bins = report.train.labels.len();
    let pawns = |bin: usize| f64::from(bin as i32 * LABEL_BIN - LABEL_RANGE) / 100.0;
    let columns = shares_of(report, counts, |i| match i {
        0 => "Black mates".to_string(),
        i if i == bins + 3 => "White mates".to_string(),
        i => format!(
            "{:+.1} to {:+.1}",
            pawns(i.saturating_sub(2)),
            pawns(i.saturating_sub(1))
        ),
    });
    let mut names: Vec<(f64, String)> = (0..=bins)
        .step_by(4)
        .map(|bin| {
            (
                (bin + 2) as f64,
                format!("{:+}", pawns(bin)).replace("+0", "0"),
            )
        })
        .collect();
    names.push((0.5, "mate".to_string()));
    names.push((bins as f64 + 3.5, "mate".to_string()));
    panel.columns(16.0, &columns, &names, percents, TRAIN);
    panel
}

fn kinds(report: &Report<Histogram>) -> Panel {
    let note = "By pieces: opening 25 to 32, middlegame 13 to 24, endgame to 12.";
    let [opening, middlegame, endgame] = report.both(|h| h.phases);
    let [black_won, draw, white_won, unknown] = report.both(|h| h.results);
    let [black_to_move, in_check] = report.both(|h| [h.black_to_move, h.in_check]);
    let all = report.rows();
    let lines = [
        Shares {
            title: "Phase",
            parts: vec![
                ("opening", opening),
                ("middlegame", middlegame),
                ("endgame", endgame),
            ],
        },
        Shares {
            title: "Result",
            parts: vec![
                ("White", white_won),
                ("draw", draw),
                ("Black", black_won),
                ("unknown", unknown),
            ],
        },
        Shares {
            title: "To move",
            parts: vec![("White", all - black_to_move), ("Black", black_to_move)],
        },
        Shares {
            title: "Check",
            parts: vec![("in check", in_check), ("not in check", all - in_check)],
        },
    ];
    let size = (WIDTH, Panel::shares_height(lines.len()));
    let mut panel = Panel::new("Kinds of positions", note, size);
    panel.shares(&lines);
    panel
}

fn ratings<H>(report: &Report<H>) -> Panel {
    let note = match report.unrated {
        0 => "Kept games by the mean of both players' ratings.".to_string(),
        unrated => format!(
            "Kept games by the mean of both players' ratings; {} unrated.",
            thousands(unrated)
        ),
    };
    let mut panel = Panel::new("Ratings", &note, (WIDTH, CHART));
    let bounds = report
        .ratings
        .keys()
        .next()
        .zip(report.ratings.keys().next_back());
    let Some((&low, &high)) = bounds else {
        return panel;
    };
    let bins: Vec<u16> = (low..=high)
        .step_by(SourceCounts::RATING_BIN.into())
        .collect();
    let columns: Vec<Column> = bins
        .iter()
        .map(|bin| {
            let count = report.ratings.get(bin).copied().unwrap_or_default();
            let high = u32::from(*bin) + 99;
            Column {
                value: count as f64,
                mark: None,
                hint: format!("{bin} to {high}: {} games", thousands(count)),
            }
        })
        .collect();
    let step = match bins.len() {
        ..10 => 100,
        10..25 => 200,
        25.. => 500,
    };
    let names: Vec<(f64, String)> = (bins.iter().enumerate())
        .filter(|&(_, bin)| bin % step == 0)
        .map(|(i, bin)| (i as f64, bin.to_string()))
        .collect();
    panel.columns(0.0, &columns, &names, short_count, GAMES);
    panel
}

pub(super) fn skipped<H>(report: &Report<H>) -> Panel {
    let note = format!(
        "Games (green) as a share of all games, {} (grey) as a share of those that were read.",
        report.kind
    );
    let (games, evaluations) = (report.games, report.evaluations());
    let mut bars: Vec<Bar> = (report.skipped.iter())
        .map(|(&reason, &count)| {
            let (whole, colour) = match reason.counts_games() {
                true => (games, GAMES),
                false => (evaluations, OTHER),
            };
            Bar {
                name: reason_text(report.kind, reason),
                count,
                whole,
                colour,
            }
        })
        .collect();
    if bars.is_empty() {
        bars.push(Bar {
            name: "nothing".to_string(),
            count: 0,
            whole: 1,
            colour: OTHER,
        });
    }
    let mut panel = Panel::new("Left out", &note, (WIDE, Panel::bars_height(bars.len())));
    panel.bars(0.0, NAMES, &bars);
    panel
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use charts::text_width;
    use datasets::{Filters, Kind, SkipReason};
    use svg::parser::Event;

    use super::*;
    use crate::report::moves::MoveHistogram;

    /// Draws reports with `labels` labels, or moves, in each bin.
    fn report_svgs(labels: u64) -> [String; 2] {
        let mut histogram = Histogram::new();
        for (i, count) in histogram.labels.iter_mut().enumerate() {
            *count = labels / (1 + i.abs_diff(20).pow(2) as u64);
        }
        histogram.phases = [labels; 3];
        histogram.results = [labels; 4];
        histogram.mates = [labels / 100; 2];
        [
            svg_of(Kind::Evaluations, labels, histogram),
            svg_of(Kind::Moves, labels, MoveHistogram::with_all(labels)),
        ]
    }

    fn svg_of<H: Counted + Clone>(kind: Kind, labels: u64, histogram: H) -> String {
        let ratings = (600..3200).step_by(100).map(|rating| (rating, labels));
        let skipped = [
            (SkipReason::Unannotated, 15 * labels),
            (SkipReason::BadMonth, labels / 20),
            (SkipReason::NotQuiet, labels / 3),
        ];
        let report = Report {
            kind,
            games: 15 * labels,
            games_annotated: labels,
            games_kept: labels,
            labels: 60 * labels,
            mates: labels,
            gaps: labels,
            duplicates_merged: 10 * labels,
            merged_or_beyond_cap: 0,
            positions_train: 45 * labels,
            positions_validation: 4 * labels,
            seen_on_both_sides: labels,
            skipped: &skipped.into(),
            examples: &[].into(),
            months: &BTreeMap::new(),
            ratings: &ratings.collect(),
            unrated: labels / 7,
            bytes_on_disk: 1000 * labels,
            bytes_per_position: 20.4,
            fingerprint: "",
            format_version: 1,
            tool: "",
            filters: &Filters::default(),
            sources: &[],
            train: histogram.clone(),
            validation: histogram,
        };
        picture("lichess.dataset", &report)
    }

    /// Left, right, top and bottom edge.
    type Edges = [f64; 4];

    /// Returns the edges of each text and of each card of the picture.
    fn places(svg: &str) -> (Vec<(String, Edges)>, Vec<Edges>) {
        let (mut texts, mut cards, mut place) = (Vec::new(), Vec::new(), None);
        let mut origin = (0.0, 0.0);
        for event in svg::read(svg).unwrap() {
            match event {
                Event::Tag(tag, _, attributes) => {
                    let number = |name| attributes.get(name)?.parse::<f64>().ok();
                    let anchor = attributes.get("text-anchor").map(|a| a.to_string());
                    let start = number("x").zip(number("y"));
                    let size = number("width").zip(number("height"));
                    let class = attributes.get("class").map(|class| &**class);
                    if let Some(moved) = attributes.get("transform") {
                        let moved = moved.trim_start_matches("translate(");
                        let (x, y) = moved.trim_end_matches(')').split_once(' ').unwrap();
                        origin = (x.parse().unwrap(), y.parse().unwrap());
                    } else if tag == "g" {
                        origin = (0.0, 0.0);
                    } else if tag == "text" {
                        let size = match class {
                            Some("heading") => 24.0,
                            Some("title") => 17.0,
                            _ => 13.0,
                        };
                        let start = start.map(|(x, y): (f64, f64)| (x + origin.0, y + origin.1));
                        place = start.zip(Some(size)).zip(anchor);
                    } else if let (Some((x, y)), Some((w, h)), Some(8.0)) =
                        (start, size, number("rx"))
                    {
                        cards.push([x, x + w, y, y + h]);
                    }
                }
                Event::Text(text) => {
                    let Some((((x, y), size), anchor)) = place.take() else {
                        continue;
                    };
                    let width = text_width(text) * size / 13.0;
                    let left = match &anchor[..] {
                        "start" => x,
                        "middle" => x - width / 2.0,
                        _ => x - width,
                    };
                    texts.push((text.to_string(), [left, left + width, y - 0.7 * size, y]));
                }
                Event::Error(error) => panic!("{error}"),
                _ => {}
            }
        }
        (texts, cards)
    }

    #[test]
    fn no_text_lies_on_another_or_beyond_its_card() {
        for labels in [0, 3, 7, 74_000, 1_000_000, 18_000_000] {
            for svg in report_svgs(labels) {
                assert_readable(&svg, labels);
            }
        }
    }

    fn assert_readable(svg: &str, labels: u64) {
        assert!(!svg.contains("NaN") && !svg.contains("inf\""));
        let (texts, cards) = places(svg);
        assert!(texts.len() > 60 && cards.len() == 5);
        for (i, (text, [left, right, top, bottom])) in texts.iter().enumerate() {
            for (other, [l, r, t, b]) in &texts[i + 1..] {
                let apart = right < l || r < left || bottom < t || b < top;
                assert!(apart, "{labels} labels: {text:?} lies on {other:?}");
            }
            let crossed = cards.iter().find(|[l, r, t, b]| {
                let touches = right > l && r > left && bottom > t && b > top;
                touches && !(left >= l && right <= r && top >= t && bottom <= b)
            });
            assert_eq!(crossed, None, "{labels} labels: {text:?} leaves its card");
            assert!(
                *left >= 0.0 && *right <= WIDE + 72.0,
                "{text:?} leaves the picture"
            );
        }
    }
}
