//! SVG picture of `ingest stats --plot`.

use std::path::Path;

use anyhow::Result;
use charts::{
    Anchor, Bar, Colour, Column, Mark, Panel, Shares, Tone, WIDE, WIDTH, fitted, percent, sheet,
    short_count, thousands,
};
use datasets::{Error, Month, SourceCounts, SourceEntry};
use host::durable;

use crate::report::histogram::{Histogram, LABEL_BIN, LABEL_RANGE, PLY_BIN};
use crate::report::reason::reason_text;
use crate::report::summary::Report;

/// Height of a chart's columns, in pixels.
const CHART: f64 = 220.0;
/// Width for the names of full-width bars, in pixels.
const WIDE_NAMES: f64 = 400.0;
/// Sources shown one by one; the rest are summed.
const MAX_SOURCES: usize = 6;
/// Months labelled one by one; with more, only years are labelled.
const MAX_MONTHS: usize = 16;
const TRAIN: Colour = Colour::Blue;
const VALIDATION: Colour = Colour::Orange;
const GAMES: Colour = Colour::Green;
const OTHER: Colour = Colour::Grey;

/// Draws the report as an SVG.
///
/// # Errors
/// If the file cannot be written.
pub fn draw(file: &Path, name: &str, report: &Report) -> Result<()> {
    let svg = picture(name, report);
    durable::write(file, svg.as_bytes()).map_err(Error::unwritable(file))?;
    Ok(())
}

fn picture(name: &str, report: &Report) -> String {
    let note = format!(
        "{} positions to train on, {} of held-out games, from {}",
        thousands(report.positions_train),
        thousands(report.positions_validation),
        sources(report),
    );
    let rows = vec![
        vec![figures(report)],
        vec![labels(report)],
        vec![plies(report), kinds(report)],
        vec![ratings(report), destinations(report)],
        vec![months(report)],
        vec![largest_sources(report)],
        vec![skipped(report)],
    ];
    sheet(Some((name, &note)), rows)
}

fn sources(report: &Report) -> String {
    match report.sources {
        [] => "no source".to_string(),
        [source] => source.name.clone(),
        sources => format!("{} sources", sources.len()),
    }
}

fn figures(report: &Report) -> Panel {
    let positions = report.positions_train + report.positions_validation;
    let annotated = format!(
        "annotated, {}",
        percent(report.games_annotated, report.games)
    );
    // Round figures: the exact ones stand below.
    let count = |count: u64| match count {
        ..10_000_000 => thousands(count),
        _ => short_count(count as f64),
    };
    let figures = [
        (count(report.games), "games".to_string()),
        (count(report.games_annotated), annotated),
        (count(report.labels), "labels".to_string()),
        (count(report.gaps), "plies without a label".to_string()),
        (count(positions), "distinct positions".to_string()),
        (
            format!("{:.1}", report.bytes_per_position),
            "bytes a position".to_string(),
        ),
    ];
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
fn shares_of(
    report: &Report,
    counts: impl Fn(&Histogram) -> Vec<u64>,
    hint: impl Fn(usize) -> String,
) -> Vec<Column> {
    let shares = |histogram: &Histogram| {
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

fn both_sides(panel: &mut Panel) {
    let entries = [
        (Mark::Fill, TRAIN, "to train on"),
        (Mark::Line, VALIDATION, "held out"),
    ];
    panel.legend((40.0, 12.0), &entries);
}

fn percents(value: f64) -> String {
    format!("{value} %")
}

fn labels(report: &Report) -> Panel {
    let note = "Share of positions by half pawns; all beyond 10 pawns in the outermost columns, \
                mates at the ends.";
    let title = "Evaluations, White's point of view";
    let mut panel = Panel::new(title, note, (WIDE, CHART));
    both_sides(&mut panel);
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

fn plies(report: &Report) -> Panel {
    let note = "Share of positions by ten.";
    let mut panel = Panel::new("Half-moves played", note, (WIDTH, CHART));
    both_sides(&mut panel);
    let bins = report.train.plies.len();
    let columns = shares_of(
        report,
        |histogram| histogram.plies.clone(),
        |i| {
            let from = i * PLY_BIN;
            if i + 1 == bins {
                format!("{from} and more")
            } else {
                format!("{from} to {}", from + PLY_BIN - 1)
            }
        },
    );
    let mut names: Vec<(f64, String)> = (0..bins)
        .step_by(2)
        .map(|bin| (bin as f64, (bin * PLY_BIN).to_string()))
        .collect();
    names.push((bins as f64 - 0.5, "more".to_string()));
    panel.columns(16.0, &columns, &names, percents, TRAIN);
    panel
}

fn kinds(report: &Report) -> Panel {
    let note = "By pieces: opening 25 to 32, middlegame 13 to 24, endgame to 12.";
    let [opening, middlegame, endgame] = report.both(|h| h.phases);
    let [black_won, draw, white_won, unknown] = report.both(|h| h.results);
    let [black_to_move, in_check] = report.both(|h| [h.black_to_move, h.in_check]);
    let all = report.positions_train + report.positions_validation;
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

fn ratings(report: &Report) -> Panel {
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
            count_column(
                report.ratings.get(bin),
                &format!("{bin} to {}", u32::from(*bin) + 99),
                "games",
            )
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

fn count_column(count: Option<&u64>, what: &str, unit: &str) -> Column {
    let count = count.copied().unwrap_or_default();
    Column {
        value: count as f64,
        mark: None,
        hint: format!("{what}: {} {unit}", thousands(count)),
    }
}

fn destinations(report: &Report) -> Panel {
    const NAMES: f64 = 190.0;
    let note = "Equal positions and their colour twins are merged.";
    let games = [
        ("games", report.games, GAMES),
        ("annotated", report.games_annotated, GAMES),
        ("kept", report.games_kept, GAMES),
    ];
    let merged = match report.merged_or_beyond_cap {
        0 => ("duplicates, merged", report.duplicates_merged, OTHER),
        count => ("merged, or beyond the cap", count, OTHER),
    };
    let labels = [
        ("labels", report.labels, OTHER),
        ("to train on", report.positions_train, TRAIN),
        ("held out", report.positions_validation, VALIDATION),
        merged,
        ("held out, but trained on", report.seen_on_both_sides, OTHER),
    ];
    let bars = |counts: &[(&str, u64, Colour)], whole| -> Vec<Bar> {
        let bars = counts.iter().map(|&(name, count, colour)| Bar {
            name: name.to_string(),
            count,
            whole,
            colour,
        });
        bars.collect()
    };
    let below = Panel::bars_height(games.len()) + 10.0;
    let size = (WIDTH, below + Panel::bars_height(labels.len()));
    let mut panel = Panel::new("What became of games and labels", note, size);
    panel.bars(0.0, NAMES, &bars(&games, report.games));
    panel.bars(below, NAMES, &bars(&labels, report.labels));
    panel
}

/// Chart of labels by month. Up to [`MAX_MONTHS`], months without labels are left out; beyond, the
/// axis is continuous from the first month to the last.
fn months(report: &Report) -> Panel {
    let unknown = report.months.get(&Month::default()).copied().unwrap_or(0);
    let known = report.months.keys().filter_map(|month| month.calendar());
    let mut months: Vec<(u32, u32)> = known.collect();
    let by_month = months.len() <= MAX_MONTHS;
    let mut note = "Labels by the month of their game".to_string();
    if by_month {
        note += "; months without any are left out";
    } else {
        let number = |(year, month)| year * 12 + month - 1;
        let all = number(months[0])..=number(months[months.len() - 1]);
        months = all.map(|n| (n / 12, n % 12 + 1)).collect();
    }
    if unknown > 0 {
        note += &format!("; {} of an unknown month", thousands(unknown));
    }
    note += ".";
    let columns: Vec<Column> = months
        .iter()
        .map(|&(year, month)| {
            let month = Month::new(year, month);
            count_column(report.months.get(&month), &month.to_string(), "labels")
        })
        .collect();
    let names = (months.iter().enumerate()).filter_map(|(i, &(year, month))| {
        let name = match (by_month, month) {
            (true, _) => Month::new(year, month).to_string(),
            (false, 1) => year.to_string(),
            // The first year is named only where the next year's name leaves it room.
            (false, ..=6) if i == 0 => year.to_string(),
            _ => return None,
        };
        Some((i as f64 + 0.5, name))
    });
    let mut panel = Panel::new("Months", &note, (WIDE, 170.0));
    panel.columns(
        0.0,
        &columns,
        &names.collect::<Vec<_>>(),
        short_count,
        TRAIN,
    );
    panel
}

fn largest_sources(report: &Report) -> Panel {
    let mut sources: Vec<&SourceEntry> = report.sources.iter().collect();
    sources.sort_by_key(|source| std::cmp::Reverse(source.tally.labels));
    let (shown, rest) = sources.split_at(sources.len().min(MAX_SOURCES));
    let bar = |name, count, colour| Bar {
        name,
        count,
        whole: report.labels,
        colour,
    };
    let shown = shown.iter();
    let shown = shown.map(|source| bar(source_name(source), source.tally.labels, TRAIN));
    let mut bars: Vec<Bar> = shown.collect();
    if !rest.is_empty() {
        let labels = rest.iter().map(|source| source.tally.labels).sum();
        bars.push(bar(format!("{} more", rest.len()), labels, OTHER));
    }
    wide_bars("Sources", "Labels by source, the largest first.", &bars)
}

fn wide_bars(title: &str, note: &str, bars: &[Bar]) -> Panel {
    let mut panel = Panel::new(title, note, (WIDE, Panel::bars_height(bars.len())));
    panel.bars(0.0, WIDE_NAMES, bars);
    panel
}

/// Returns a source's name, shortened to the width of the column, and its months.
fn source_name(source: &SourceEntry) -> String {
    let name = fitted(&source.name, WIDE_NAMES - 150.0);
    match source.months() {
        Some((first, last)) if first == last => format!("{name}, {first}"),
        Some((first, last)) => format!("{name}, {first} to {last}"),
        None => name,
    }
}

fn skipped(report: &Report) -> Panel {
    let note = "Games (green) as a share of all games, evaluations (grey) as a share of those that were read.";
    let (games, evaluations) = (report.games, report.evaluations());
    let mut bars: Vec<Bar> = (report.skipped.iter())
        .map(|(&reason, &count)| {
            let (whole, colour) = match reason.counts_games() {
                true => (games, GAMES),
                false => (evaluations, OTHER),
            };
            Bar {
                name: reason_text(reason).to_string(),
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
    wide_bars("Left out", note, &bars)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use charts::text_width;
    use datasets::{Filters, SkipReason};
    use svg::parser::Event;

    use super::*;

    /// Draws a report of `months` months from July 2013 on, with `labels` labels in each.
    fn report_svg(months: u32, labels: u64) -> String {
        let month = |i: u32| Month::new(2013 + (i + 6) / 12, (i + 6) % 12 + 1);
        let months: BTreeMap<Month, u64> = (0..months).map(|i| (month(i), labels)).collect();
        let ratings = (600..3200).step_by(100).map(|rating| (rating, labels));
        let skipped = [
            (SkipReason::Unannotated, 15 * labels),
            (SkipReason::BadMonth, labels / 20),
            (SkipReason::NotQuiet, labels / 3),
        ];
        let tally = SourceCounts {
            labels: 60 * labels / months.len().max(1) as u64,
            months: months.clone(),
            ..SourceCounts::default()
        };
        let entry: SourceEntry = serde_json::from_value(serde_json::json!({
            "name": "lichess_db_standard_rated_2026-06.pgn.zst",
            "bytes": labels,
            "digest": "",
            "damage": null,
            "tally": tally,
        }))
        .expect("an entry of a manifest");
        let mut histogram = Histogram::new();
        for (i, count) in histogram.labels.iter_mut().enumerate() {
            *count = labels / (1 + i.abs_diff(20).pow(2) as u64);
        }
        histogram.plies.fill(labels);
        histogram.phases = [labels; 3];
        histogram.results = [labels; 4];
        histogram.mates = [labels / 100; 2];
        let report = Report {
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
            months: &months,
            ratings: &ratings.collect(),
            unrated: labels / 7,
            bytes_on_disk: 1000 * labels,
            bytes_per_position: 20.4,
            fingerprint: "",
            format_version: 1,
            tool: "",
            filters: &Filters::default(),
            sources: &vec![entry; months.len()],
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
        for (months, labels) in [
            (0, 0),
            (1, 3),
            (1, 74_000),
            (16, 1_000_000),
            (17, 7),
            (150, 18_000_000),
        ] {
            let svg = report_svg(months, labels);
            assert!(!svg.contains("NaN") && !svg.contains("inf\""));
            let (texts, cards) = places(&svg);
            assert!(texts.len() > 60 && cards.len() == 9);
            for (i, (text, [left, right, top, bottom])) in texts.iter().enumerate() {
                for (other, [l, r, t, b]) in &texts[i + 1..] {
                    let apart = right < l || r < left || bottom < t || b < top;
                    assert!(apart, "{months} months: {text:?} lies on {other:?}");
                }
                let crossed = cards.iter().find(|[l, r, t, b]| {
                    let touches = right > l && r > left && bottom > t && b > top;
                    touches && !(left >= l && right <= r && top >= t && bottom <= b)
                });
                assert_eq!(crossed, None, "{months} months: {text:?} leaves its card");
                assert!(
                    *left >= 0.0 && *right <= WIDE + 72.0,
                    "{text:?} leaves the picture"
                );
            }
        }
    }
}
