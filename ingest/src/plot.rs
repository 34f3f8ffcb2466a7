//! The picture of `ingest stats --plot`.

use std::path::Path;

use anyhow::{Result, anyhow};
use datasets::Phase;
use plotters::prelude::*;

use crate::histogram::{Histogram, LABEL_BIN, LABEL_RANGE, PLY_BIN};

const TRAIN: RGBColor = RGBColor(46, 110, 166);
const VALIDATION: RGBColor = RGBColor(222, 132, 40);

/// One bar chart: its title, the names of its bars, and the counts of
/// training and validation positions.
struct Chart<'a> {
    title: &'a str,
    /// Whether a name stands below its bar, or where its bin begins.
    named_bars: bool,
    names: Vec<String>,
    train: &'a [u64],
    validation: &'a [u64],
}

/// Draws labels, plies and phases as an SVG.
///
/// # Errors
/// If the file cannot be written.
pub fn draw(file: &Path, train: &Histogram, validation: &Histogram) -> Result<()> {
    let root = SVGBackend::new(file, (900, 900)).into_drawing_area();
    let failed = |error: &dyn std::fmt::Display| {
        anyhow!(datasets::Error::Unwritable {
            path: file.to_path_buf(),
            error: error.to_string()
        })
    };
    root.fill(&WHITE).map_err(|e| failed(&e))?;
    let label_name = |bin: usize| {
        format!(
            "{:.1}",
            f64::from(bin as i32 * LABEL_BIN - LABEL_RANGE) / 100.0
        )
    };
    let charts = [
        Chart {
            title: "Labels in pawns, White's view (bins of 0.5; the outermost hold all beyond)",
            named_bars: false,
            names: (0..train.labels.len()).map(label_name).collect(),
            train: &train.labels,
            validation: &validation.labels,
        },
        Chart {
            title: "Game ply (bins of ten; the last holds all beyond)",
            named_bars: false,
            names: (0..train.plies.len())
                .map(|bin| (bin * PLY_BIN).to_string())
                .collect(),
            train: &train.plies,
            validation: &validation.plies,
        },
        Chart {
            title: "Phase",
            named_bars: true,
            names: Phase::ALL.map(|phase| phase.name().to_string()).to_vec(),
            train: &train.phases,
            validation: &validation.phases,
        },
    ];
    for (area, chart) in root.split_evenly((3, 1)).iter().zip(&charts) {
        draw_chart(area, chart).map_err(|error| failed(&error))?;
    }
    root.present().map_err(|error| failed(&error))
}

/// Bars of shares, training beside validation.
fn draw_chart<B: DrawingBackend>(
    area: &DrawingArea<B, plotters::coord::Shift>,
    chart: &Chart,
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    let shares = |counts: &[u64]| -> Vec<f64> {
        let total = counts.iter().sum::<u64>().max(1) as f64;
        counts
            .iter()
            .map(|&count| 100.0 * count as f64 / total)
            .collect()
    };
    let (train, validation) = (shares(chart.train), shares(chart.validation));
    let highest = train
        .iter()
        .chain(&validation)
        .fold(1.0, |a: f64, &b| a.max(b));
    let bars = chart.names.len();
    let mut context = ChartBuilder::on(area)
        .caption(chart.title, ("sans-serif", 18))
        .margin(10)
        .x_label_area_size(30)
        .y_label_area_size(50)
        .build_cartesian_2d(0.0..bars as f64, 0.0..highest * 1.05)?;
    context
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(if chart.named_bars {
            2 * bars + 1
        } else {
            bars.min(21)
        })
        .x_label_formatter(&|x| {
            let named = (x.fract() == 0.5) == chart.named_bars;
            let name = chart.names.get(*x as usize).filter(|_| named);
            name.cloned().unwrap_or_default()
        })
        .y_label_formatter(&|y| format!("{y:.0} %"))
        .draw()?;
    for (shares, color, name, offset) in [
        (&train, TRAIN, "training", 0.1),
        (&validation, VALIDATION, "validation", 0.5),
    ] {
        let bar = |(i, &share): (usize, &f64)| {
            let left = i as f64 + offset;
            Rectangle::new([(left, 0.0), (left + 0.4, share)], color.filled())
        };
        context
            .draw_series(shares.iter().enumerate().map(bar))?
            .label(name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 10, y + 5)], color.filled()));
    }
    context
        .configure_series_labels()
        .border_style(BLACK)
        .background_style(WHITE)
        .draw()
}
