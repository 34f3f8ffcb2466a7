//! The picture of `ingest stats --plot`.

use std::path::Path;

use anyhow::Result;
use datasets::{Error, Month, SourceEntry, Tally};
use host::durable;

use crate::histogram::{Histogram, LABEL_BIN, LABEL_RANGE, PLY_BIN};
use crate::picture::{
    Area, BAR_HEIGHT, COLOURS, Column, Picture, Shares, percent, short_count, text_width, thousands,
};
use crate::stats::{Report, reason_text};

const WIDTH: f64 = 1200.0;
const MARGIN: f64 = 24.0;
const GAP: f64 = 20.0;
const FULL: f64 = WIDTH - 2.0 * MARGIN;
const HALF: f64 = (FULL - GAP) / 2.0;
const CHART_HEIGHT: f64 = 310.0;
/// What a card with bars or shares needs besides them.
const CARD_HEIGHT: f64 = 86.0;
/// Room for the names of bars that go over the whole width.
const WIDE_NAMES: f64 = 440.0;
/// More sources than this are added up.
const MAX_SOURCES: usize = 6;
const TRAIN: &str = COLOURS[0];
const VALIDATION: &str = COLOURS[1];
const GAMES: &str = COLOURS[2];
const OTHER: &str = COLOURS[3];

/// Draws the report as an SVG.
///
/// # Errors
/// If the file cannot be written.
pub fn draw(file: &Path, name: &str, report: &Report) -> Result<()> {
    let svg = picture(name, report).into_svg();
    durable::write(file, svg.as_bytes()).map_err(Error::unwritable(file))?;
    Ok(())
}

fn picture(name: &str, report: &Report) -> Picture {
    let positions = report.positions_train + report.positions_validation;
    let note = format!(
        "{} positions to train on, {} of held-out games, from {}",
        thousands(report.positions_train),
        thousands(report.positions_validation),
        sources(report),
    );
    let source_bars = report.sources.len().clamp(1, MAX_SOURCES + 1) as f64;
    let skipped_bars = report.skipped.len().max(1) as f64;
    let rows = [
        58.0,
        76.0,
        CHART_HEIGHT,
        CHART_HEIGHT,
        CHART_HEIGHT,
        CHART_HEIGHT,
        CARD_HEIGHT + BAR_HEIGHT * source_bars,
        CARD_HEIGHT + BAR_HEIGHT * skipped_bars,
    ];
    let height = rows.iter().map(|row| row + GAP).sum::<f64>() + 2.0 * MARGIN - GAP;
    let mut picture = Picture::new(WIDTH, height, &format!("{name}: {note}"));
    // The left and the right half of each row, and the whole.
    let mut y = MARGIN;
    let [
        head,
        figures,
        labels,
        plies,
        ratings,
        months,
        sources,
        skipped,
    ] = rows.map(|height| {
        let area = |x, width| Area {
            x,
            y,
            width,
            height,
        };
        let row = [
            area(MARGIN, HALF),
            area(MARGIN + HALF + GAP, HALF),
            area(MARGIN, FULL),
        ];
        y += height + GAP;
        row
    });
    picture.heading(head[2], name, &note);
    draw_figures(&mut picture, figures[2], report, positions);
    draw_labels(&mut picture, labels[2], report);
    draw_plies(&mut picture, plies[0], report);
    draw_kinds(&mut picture, plies[1], report);
    draw_ratings(&mut picture, ratings[0], report);
    draw_destinations(&mut picture, ratings[1], report);
    draw_months(&mut picture, months[2], report);
    draw_sources(&mut picture, sources[2], report);
    draw_skipped(&mut picture, skipped[2], report);
    picture
}

fn sources(report: &Report) -> String {
    match report.sources {
        [] => "no source".to_string(),
        [source] => source.name.clone(),
        sources => format!("{} sources", sources.len()),
    }
}

fn draw_figures(picture: &mut Picture, area: Area, report: &Report, positions: u64) {
    let annotated = format!(
        "annotated, {}",
        percent(report.games_annotated, report.games)
    );
    // Exact figures are below; here they are to be taken in at a glance.
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
    let width = (area.width + GAP) / figures.len() as f64;
    for (i, (figure, name)) in figures.iter().enumerate() {
        let x = area.x + width * i as f64;
        picture.figure(
            Area {
                x,
                width: width - GAP,
                ..area
            },
            figure,
            name,
        );
    }
}

/// Columns of the share of training positions in each bin, marks of that of
/// validation positions.
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

fn both_sides(picture: &mut Picture, card: Area) {
    picture.legend(card, ("to train on", TRAIN), ("held out", VALIDATION));
}

fn percents(value: f64) -> String {
    format!("{value} %")
}

fn draw_labels(picture: &mut Picture, area: Area, report: &Report) {
    let note = "Share of positions by half pawns; all beyond 10 pawns in the outermost columns, \
                mates at the ends.";
    let inside = picture.card(area, "Evaluations, White's point of view", note);
    both_sides(picture, area);
    // An empty column parts the mates from the rest.
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
    picture.columns(inside, &columns, &names, percents, TRAIN);
}

fn draw_plies(picture: &mut Picture, area: Area, report: &Report) {
    let inside = picture.card(area, "Half-moves played", "Share of positions by ten.");
    both_sides(picture, area);
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
    picture.columns(inside, &columns, &names, percents, TRAIN);
}

fn draw_kinds(picture: &mut Picture, area: Area, report: &Report) {
    let note = "By pieces: opening 25 to 32, middlegame 13 to 24, endgame to 12.";
    let inside = picture.card(area, "Kinds of positions", note);
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
    picture.shares(inside, &lines);
}

fn draw_ratings(picture: &mut Picture, area: Area, report: &Report) {
    let note = match report.unrated {
        0 => "Kept games by the mean of both players' ratings.".to_string(),
        unrated => format!(
            "Kept games by the mean of both players' ratings; {} unrated.",
            thousands(unrated)
        ),
    };
    let inside = picture.card(area, "Ratings", &note);
    let bounds = report
        .ratings
        .keys()
        .next()
        .zip(report.ratings.keys().next_back());
    let Some((&low, &high)) = bounds else { return };
    let bins: Vec<u16> = (low..=high).step_by(Tally::RATING_BIN.into()).collect();
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
    picture.columns(inside, &columns, &names, short_count, GAMES);
}

fn count_column(count: Option<&u64>, what: &str, unit: &str) -> Column {
    let count = count.copied().unwrap_or_default();
    Column {
        value: count as f64,
        mark: None,
        hint: format!("{what}: {} {unit}", thousands(count)),
    }
}

fn draw_destinations(picture: &mut Picture, area: Area, report: &Report) {
    const NAMES: f64 = 190.0;
    let note = "Equal positions and their colour twins are merged.";
    let inside = picture.card(area, "What became of games and labels", note);
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
    let named = |(name, count, colour): (&str, _, _)| (name.to_string(), count, colour);
    picture.bars(inside, NAMES, &games.map(named), report.games);
    let y = inside.y + BAR_HEIGHT * games.len() as f64 + GAP / 2.0;
    picture.bars(
        Area { y, ..inside },
        NAMES,
        &labels.map(named),
        report.labels,
    );
}

fn draw_months(picture: &mut Picture, area: Area, report: &Report) {
    let unknown = report.months.get(&Month::default()).copied().unwrap_or(0);
    let note = match unknown {
        0 => "Labels by the month of their game.".to_string(),
        unknown => format!(
            "Labels by the month of their game; {} of an unknown month.",
            thousands(unknown)
        ),
    };
    let inside = picture.card(area, "Months", &note);
    let mut known = report.months.keys().filter_map(|month| month.calendar());
    let Some(first) = known.next() else { return };
    let last = known.next_back().unwrap_or(first);
    // Many months are shown by whole years, to be named by them.
    let number = |(year, month)| year * 12 + month - 1;
    let by_month = number(last) - number(first) < 16;
    let months = match by_month {
        true => number(first)..=number(last),
        false => number((first.0, 1))..=number((last.0, 12)),
    };
    let months: Vec<(u32, u32)> = months.map(|n| (n / 12, n % 12 + 1)).collect();
    let columns: Vec<Column> = months
        .iter()
        .map(|&(year, month)| {
            let month = Month::new(year, month);
            count_column(report.months.get(&month), &month.to_string(), "labels")
        })
        .collect();
    let names: Vec<(f64, String)> = (months.iter().enumerate())
        .filter(|&(_, &(_, month))| by_month || month == 1)
        .map(|(i, &(year, month))| match by_month {
            true => (i as f64 + 0.5, Month::new(year, month).to_string()),
            false => (i as f64 + 6.0, year.to_string()),
        })
        .collect();
    picture.columns(inside, &columns, &names, short_count, TRAIN);
}

fn draw_sources(picture: &mut Picture, area: Area, report: &Report) {
    let note = "Labels by source, the largest first.";
    let inside = picture.card(area, "Sources", note);
    let mut sources: Vec<&SourceEntry> = report.sources.iter().collect();
    sources.sort_by_key(|source| std::cmp::Reverse(source.tally.labels));
    let (shown, rest) = sources.split_at(sources.len().min(MAX_SOURCES));
    let mut bars: Vec<(String, u64, &str)> = shown
        .iter()
        .map(|source| (source_name(source), source.tally.labels, TRAIN))
        .collect();
    if !rest.is_empty() {
        let labels = rest.iter().map(|source| source.tally.labels).sum();
        bars.push((format!("{} more", rest.len()), labels, OTHER));
    }
    picture.bars(inside, WIDE_NAMES, &bars, report.labels);
}

/// A source's name, as much of it as there is room for, and its months.
fn source_name(source: &SourceEntry) -> String {
    let mut name = source.name.clone();
    while text_width(&name, 13.0) > WIDE_NAMES - 150.0 {
        name.pop();
    }
    if name.len() < source.name.len() {
        name.push('…');
    }
    match source.months() {
        Some((first, last)) if first == last => format!("{name}, {first}"),
        Some((first, last)) => format!("{name}, {first} to {last}"),
        None => name,
    }
}

fn draw_skipped(picture: &mut Picture, area: Area, report: &Report) {
    let note = "Games (green) as a share of all games, evaluations (grey) as a share of those that were read.";
    let inside = picture.card(area, "Left out", note);
    let (games, evaluations) = (report.games, report.evaluations());
    for (i, (&reason, &count)) in report.skipped.iter().enumerate() {
        let (whole, colour) = match reason.counts_games() {
            true => (games, GAMES),
            false => (evaluations, OTHER),
        };
        let y = inside.y + BAR_HEIGHT * i as f64;
        let bar = [(reason_text(reason).to_string(), count, colour)];
        picture.bars(Area { y, ..inside }, WIDE_NAMES, &bar, whole);
    }
    if report.skipped.is_empty() {
        picture.bars(inside, WIDE_NAMES, &[("nothing".to_string(), 0, OTHER)], 1);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use datasets::{Filters, SkipReason};
    use svg::parser::Event;

    use super::*;

    /// A report with so many months from July 2013 on, and so many labels in
    /// each.
    fn draw_report(months: u32, labels: u64) -> String {
        let month = |i: u32| Month::new(2013 + (i + 6) / 12, (i + 6) % 12 + 1);
        let months: BTreeMap<Month, u64> = (0..months).map(|i| (month(i), labels)).collect();
        let ratings = (600..3200).step_by(100).map(|rating| (rating, labels));
        let skipped = [
            (SkipReason::Unannotated, 15 * labels),
            (SkipReason::BadMonth, labels / 20),
            (SkipReason::NotQuiet, labels / 3),
        ];
        let entry = SourceEntry {
            name: "lichess_db_standard_rated_2026-06.pgn.zst".to_string(),
            bytes: labels,
            sha256: String::new(),
            damage: None,
            tally: Tally {
                labels: 60 * labels / months.len().max(1) as u64,
                months: months.clone(),
                ..Tally::default()
            },
        };
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
        picture("lichess.dataset", &report).into_svg()
    }

    /// Left, right, top and bottom.
    type Edges = [f64; 4];

    /// The places of the texts, and of the cards they lie in.
    fn places(svg: &str) -> (Vec<(String, Edges)>, Vec<Edges>) {
        let (mut texts, mut cards, mut place) = (Vec::new(), Vec::new(), None);
        for event in svg::read(svg).unwrap() {
            match event {
                Event::Tag(tag, _, attributes) => {
                    let number = |name| attributes.get(name)?.parse::<f64>().ok();
                    let anchor = attributes.get("text-anchor").map(|a| a.to_string());
                    let start = number("x").zip(number("y"));
                    let size = number("width").zip(number("height"));
                    if tag == "text" {
                        place = start.zip(number("font-size")).zip(anchor);
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
                    let width = text_width(text, size);
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
            let svg = draw_report(months, labels);
            assert!(!svg.contains("NaN") && !svg.contains("inf\""));
            let (texts, cards) = places(&svg);
            assert!(texts.len() > 60 && cards.len() == 14);
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
                    *left >= 0.0 && *right <= WIDTH,
                    "{text:?} leaves the picture"
                );
            }
        }
    }
}
