//! Statistics of a dataset of moves: by the mover's rating, speed, time left and phase.

use std::path::Path;

use anyhow::Result;
use charts::{Bar, Column, Mark, Panel, WIDE, WIDTH};
use datasets::{MoveRecord, Phase, SourceCounts, Speed};
use host::thousands;
use serde::Serialize;

use crate::report::plot::{CHART, OTHER, TRAIN, VALIDATION, figures, percents, shares_of, skipped};
use crate::report::summary::{Counted, Report};
use crate::report::table::{bars, facts, months, phases};

/// Bands of 100 rating points; the last one is open.
const BANDS: usize = 36;
/// Upper ends of the classes of time left, in seconds.
const TIMES: [u32; 9] = [2, 8, 32, 64, 128, 256, 512, 1024, 4096];

/// Histograms over the moves of a dataset. In each, the last count is of the unknown.
#[derive(Clone, Debug, Serialize)]
pub struct MoveHistogram {
    /// Moves by the player's rating: bands of 100 from 0, the last one open.
    pub ratings: Vec<u64>,
    /// Moves by speed, the fastest first.
    pub speeds: Vec<u64>,
    /// Moves by seconds on the player's clock: below 2, 8, 32, 64, 128, 256, 512, 1024 and 4096, and
    /// more.
    pub seconds_left: Vec<u64>,
    /// Moves by phase: opening, middlegame, endgame.
    pub phases: [u64; 3],
}

impl Counted for MoveHistogram {
    type Row = MoveRecord;

    fn new() -> MoveHistogram {
        MoveHistogram {
            ratings: vec![0; BANDS + 1],
            speeds: vec![0; Speed::NAMES.len() + 1],
            seconds_left: vec![0; TIMES.len() + 2],
            phases: [0; 3],
        }
    }

    fn add(&mut self, played: &MoveRecord) {
        let band = |rating| usize::from(rating / SourceCounts::RATING_BIN).min(BANDS - 1);
        let rating = played.rating().map_or(BANDS, band);
        let speed = played
            .speed()
            .map_or(Speed::NAMES.len(), |speed| speed as usize);
        let class = |seconds| TIMES.partition_point(|&end| end <= seconds);
        let time = played.time_left().map_or(TIMES.len() + 1, class);
        self.ratings[rating] += 1;
        self.speeds[speed] += 1;
        self.seconds_left[time] += 1;
        self.phases[Phase::of(&played.position()) as usize] += 1;
    }

    fn text(path: &Path, report: &Report<MoveHistogram>) -> Result<String> {
        let all = report.rows();
        let unrated = format!("{} unrated", thousands(report.unrated));
        let moves = ("moves", thousands(report.labels));
        let mut text = facts(path, report, &unrated, moves, &[])?;
        let counts = |counts: fn(&MoveHistogram) -> &[u64]| both(report, counts);
        let named = |names: Vec<String>, counts: Vec<u64>| names.into_iter().zip(counts).collect();
        let rows: Vec<_> = named(band_names(), counts(|h| &h.ratings));
        let rated = |(_, count): &(String, u64)| *count > 0;
        let first = rows[..BANDS].iter().position(rated).unwrap_or(BANDS);
        let end = rows[..BANDS]
            .iter()
            .rposition(rated)
            .map_or(first, |last| last + 1);
        let rows = [&rows[first..end], &rows[BANDS..]].concat();
        text += &bars("rating of the player, moves", &rows, all);
        let rows: Vec<_> = named(speed_names(), counts(|h| &h.speeds));
        text += &bars("speed", &rows, all);
        let rows: Vec<_> = named(time_names(), counts(|h| &h.seconds_left));
        text += &bars("seconds on the player's clock", &rows, all);
        text += &bars("phase", &phases(report.both(|h| h.phases)), all);
        text += &bars("months, moves", &months(report), report.labels);
        Ok(text)
    }

    fn panels(report: &Report<MoveHistogram>) -> Vec<Vec<Panel>> {
        let counts = [
            (report.games, "games"),
            (report.games_kept, "kept"),
            (report.unrated, "of unrated players"),
            (report.labels, "moves read"),
            (report.rows(), "moves kept"),
        ];
        vec![
            vec![figures(report, &counts)],
            vec![ratings(report)],
            vec![speeds(report), times(report)],
            vec![skipped(report)],
        ]
    }
}

/// Returns the counts of both sides of the split together.
fn both(report: &Report<MoveHistogram>, counts: fn(&MoveHistogram) -> &[u64]) -> Vec<u64> {
    let (train, validation) = (counts(&report.train), counts(&report.validation));
    train.iter().zip(validation).map(|(a, b)| a + b).collect()
}

fn band_names() -> Vec<String> {
    let bands = (0..BANDS).map(|band| match band + 1 {
        BANDS => format!("from {}", band * 100),
        _ => format!("{} to {}", band * 100, band * 100 + 99),
    });
    bands.chain(["unknown".to_string()]).collect()
}

fn speed_names() -> Vec<String> {
    let names = Speed::NAMES.iter().map(|(_, name)| *name);
    names.chain(["unknown"]).map(str::to_string).collect()
}

fn time_names() -> Vec<String> {
    let starts = [0].into_iter().chain(TIMES);
    let ends = TIMES.map(|end| format!(" to {}", end - 1));
    let names = starts.zip(ends.into_iter().chain([" or more".to_string()]));
    let names = names.map(|(start, end)| format!("{start}{end}"));
    names.chain(["unknown".to_string()]).collect()
}

fn ratings(report: &Report<MoveHistogram>) -> Panel {
    let note =
        "Share of moves by the player's rating, in bands of 100; unknown ratings at the end.";
    let mut panel = Panel::new("Ratings", note, (WIDE, CHART));
    let sides = [
        (Mark::Fill, TRAIN, "to train on"),
        (Mark::Line, VALIDATION, "held out"),
    ];
    panel.legend((40.0, 12.0), &sides);
    let names = band_names();
    let columns: Vec<Column> = shares_of(report, |h| h.ratings.clone(), |i| names[i].clone());
    let mut labels: Vec<(f64, String)> = (0..BANDS - 1)
        .step_by(4)
        .map(|band| (band as f64, (band * 100).to_string()))
        .collect();
    labels.push((BANDS as f64 + 0.5, "unknown".to_string()));
    panel.columns(16.0, &columns, &labels, percents, TRAIN);
    panel
}

fn speeds(report: &Report<MoveHistogram>) -> Panel {
    bars_of(
        "Speeds",
        "Moves by Lichess's classes.",
        report,
        &speed_names(),
        |h| &h.speeds,
    )
}

fn times(report: &Report<MoveHistogram>) -> Panel {
    let note = "Moves by seconds on the player's clock.";
    bars_of("Time left", note, report, &time_names(), |h| {
        &h.seconds_left
    })
}

/// Draws a bar for each count.
fn bars_of(
    title: &str,
    note: &str,
    report: &Report<MoveHistogram>,
    names: &[String],
    counts: fn(&MoveHistogram) -> &[u64],
) -> Panel {
    const NAMES: f64 = 120.0;
    let rows = names.iter().zip(both(report, counts)).enumerate();
    let bars: Vec<Bar> = rows
        .map(|(i, (name, count))| Bar {
            name: name.clone(),
            count,
            whole: report.rows(),
            colour: if i + 1 == names.len() { OTHER } else { TRAIN },
        })
        .collect();
    let mut panel = Panel::new(title, note, (WIDTH, Panel::bars_height(bars.len())));
    panel.bars(0.0, NAMES, &bars);
    panel
}

#[cfg(test)]
impl MoveHistogram {
    /// Returns histograms with `count` moves in each bin.
    pub fn with_all(count: u64) -> MoveHistogram {
        let mut histogram = MoveHistogram::new();
        let MoveHistogram {
            ratings,
            speeds,
            seconds_left,
            phases,
        } = &mut histogram;
        for counts in [ratings, speeds, seconds_left] {
            counts.fill(count);
        }
        *phases = [count; 3];
        histogram
    }
}
