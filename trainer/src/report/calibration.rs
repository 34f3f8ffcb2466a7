//! Calibration: predicted win chance against the labels' mean.

use charts::{Anchor, Colour, Mark, Panel, Scale, Tone, WIDTH};
use serde::Serialize;

use network::target::win_chance;

/// Bins of the predicted win chance, -1 to 1.
const BINS: usize = 20;
/// Bins of the labels' win chance, the resolution of their quantiles.
const LABEL_BINS: usize = 200;
/// Minimum number of positions in a drawn bin.
const LEAST: u64 = 20;

/// Positions with about the same prediction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// Number of positions.
    pub count: u64,
    /// Mean of the predicted win chances, -1 to 1, for the side to move.
    pub predicted: f64,
    /// Mean of the labels' win chances.
    pub labelled: f64,
    /// Lowest decile of the labels, to 0.01.
    pub low: f64,
    /// Highest decile of the labels, to 0.01.
    pub high: f64,
}

/// Calibration of a net.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// Calibration error: mean distance of a bin's mean prediction from its mean label, weighted by
    /// positions.
    pub error: Option<f64>,
    /// Nonempty bins of 20 equal widths, by predicted win chance.
    pub bins: Vec<Bin>,
}

/// Accumulates a [`Calibration`] position by position.
#[derive(Clone, Debug)]
pub struct CalibrationTally {
    bins: Vec<Sums>,
}

#[derive(Clone, Debug)]
struct Sums {
    predicted: f64,
    labelled: f64,
    labels: [u64; LABEL_BINS],
}

impl Default for CalibrationTally {
    fn default() -> CalibrationTally {
        let empty = Sums {
            predicted: 0.0,
            labelled: 0.0,
            labels: [0; LABEL_BINS],
        };
        CalibrationTally {
            bins: vec![empty; BINS],
        }
    }
}

impl CalibrationTally {
    /// Adds a position without a mate label; evaluation and label are in pawns.
    pub fn add(&mut self, value: f32, label: f32) {
        let (predicted, labelled) = (win_chance(value).into(), win_chance(label).into());
        let sums = &mut self.bins[bin(predicted, BINS)];
        sums.predicted += predicted;
        sums.labelled += labelled;
        sums.labels[bin(labelled, LABEL_BINS)] += 1;
    }

    /// Returns the calibration so far.
    pub fn calibration(&self) -> Calibration {
        let bins: Vec<Bin> = self.bins.iter().filter_map(Sums::bin).collect();
        let count: u64 = bins.iter().map(|bin| bin.count).sum();
        let distance = |bin: &Bin| bin.count as f64 * (bin.predicted - bin.labelled).abs();
        let error = bins.iter().map(distance).sum::<f64>() / count as f64;
        Calibration {
            error: (count > 0).then_some(error),
            bins,
        }
    }
}

impl Sums {
    fn bin(&self) -> Option<Bin> {
        let count: u64 = self.labels.iter().sum();
        let quantile = |share: f64| {
            let mut below = 0;
            let mut at = self.labels.iter().position(|&labels| {
                below += labels;
                below as f64 > share * count as f64
            });
            // The last label is in the last nonempty bin.
            at = at.or(self.labels.iter().rposition(|&labels| labels > 0));
            at.map(|at| (at as f64 + 0.5) * 2.0 / LABEL_BINS as f64 - 1.0)
        };
        Some(Bin {
            count,
            predicted: self.predicted / count as f64,
            labelled: self.labelled / count as f64,
            low: quantile(0.1)?,
            high: quantile(0.9)?,
        })
    }
}

/// Returns the bin of a win chance among `bins` of equal width.
fn bin(chance: f64, bins: usize) -> usize {
    (((chance + 1.0) / 2.0 * bins as f64) as usize).min(bins - 1)
}

/// Returns the picture as a standalone SVG.
pub fn svg(calibration: &Calibration) -> String {
    charts::sheet(None, vec![vec![panel(calibration)]])
}

/// Draws a calibration.
pub fn panel(calibration: &Calibration) -> Panel {
    const LEFT: f64 = 48.0;
    const RIGHT: f64 = WIDTH;
    const TOP: f64 = 30.0;
    const BOTTOM: f64 = 400.0;
    const COUNTS: f64 = 44.0;
    let note = match calibration.error {
        Some(error) => format!("Win chance, -1 lost to 1 won; {error:.3} off on average."),
        None => "Win chance, -1 lost to 1 won.".to_string(),
    };
    let size = (WIDTH, BOTTOM + COUNTS + 50.0);
    let mut panel = Panel::new("Calibration", &note, size);
    let x = Scale::new((-1.0, 1.0), (LEFT, RIGHT - 10.0));
    let y = Scale::new((-1.0, 1.0), (BOTTOM, TOP));
    panel.levels(&y, (LEFT, RIGHT), 4);
    for tick in x.ticks(4) {
        let at = x.at(tick.value);
        panel.rule((at, TOP), (at, BOTTOM));
        let at = (at, BOTTOM + COUNTS + 24.0);
        panel.text(at, Anchor::Middle, Tone::Faint, &tick.text);
    }
    let legend = [
        (Mark::Line, Colour::Blue, "mean label"),
        (Mark::Dashed, Colour::Grey, "perfect"),
        (Mark::Fill, Colour::Ground, "8 of 10 labels"),
    ];
    panel.legend((LEFT, 14.0), &legend);
    let bins: Vec<&Bin> = calibration
        .bins
        .iter()
        .filter(|bin| bin.count >= LEAST)
        .collect();
    let edge = |value: fn(&Bin) -> f64| {
        let places = bins.iter().map(|bin| {
            let (x, y) = (x.at(bin.predicted), y.at(value(bin)));
            format!("{x:.1} {y:.1}")
        });
        places.collect::<Vec<String>>()
    };
    let (mut outline, low) = (edge(|bin| bin.high), edge(|bin| bin.low));
    outline.extend(low.into_iter().rev());
    if !outline.is_empty() {
        let outline = format!("M{}Z", outline.join("L"));
        panel.shape(&outline, Colour::Ground, 1.0);
    }
    let ends = [-1.0, 1.0].map(|chance| (x.at(chance), y.at(chance)));
    panel.dashed(&ends, Colour::Grey);
    let places = bins
        .iter()
        .map(|bin| (x.at(bin.predicted), y.at(bin.labelled)));
    let places: Vec<(f64, f64)> = places.collect();
    panel.line(&places, Colour::Blue);
    for (bin, place) in bins.iter().zip(places) {
        let hint = format!(
            "{} positions: {:.3} predicted, {:.3} labelled",
            bin.count, bin.predicted, bin.labelled
        );
        panel.dot(place, 3.5, Colour::Blue, &hint);
    }
    let counts = calibration.bins.iter().map(|bin| bin.count);
    let most = counts.max().unwrap_or(1) as f64;
    let width = (x.at(1.0) - x.at(-1.0)) / BINS as f64;
    for bin in &calibration.bins {
        let height = COUNTS * bin.count as f64 / most;
        let slot = crate::report::calibration::bin(bin.predicted, BINS) as f64;
        let at = (LEFT + width * slot + 1.0, BOTTOM + 6.0 + COUNTS - height);
        panel.rectangle(at, (width - 2.0, height), Colour::Grey, "");
    }
    let at = (LEFT - 8.0, BOTTOM + 6.0 + COUNTS);
    panel.text(at, Anchor::End, Tone::Faint, "count");
    let at = ((LEFT + RIGHT) / 2.0, BOTTOM + COUNTS + 44.0);
    panel.text(at, Anchor::Middle, Tone::Faint, "predicted by the net");
    panel
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_have_means_and_deciles() {
        let mut tally = CalibrationTally::default();
        // 100 positions predicted as level, with labels from -5 to 5 pawns, and one predicted as
        // won and won.
        for i in 0..100 {
            tally.add(0.01, (i as f32 - 49.5) / 10.0);
        }
        tally.add(50.0, 50.0);
        let calibration = tally.calibration();
        let [level, won] = calibration.bins[..] else {
            panic!("{calibration:?}")
        };
        assert_eq!((level.count, won.count), (100, 1));
        assert!(level.labelled.abs() < 1e-6, "{level:?}");
        assert!((level.predicted - f64::from(win_chance(0.01))).abs() < 1e-6);
        // A tenth of the labels is below -4 pawns, and a tenth above 4.
        assert!(
            (level.low - f64::from(win_chance(-4.0))).abs() < 0.011,
            "{level:?}"
        );
        assert!(
            (level.high - f64::from(win_chance(4.0))).abs() < 0.011,
            "{level:?}"
        );
        assert_eq!((won.predicted, won.labelled), (1.0, 1.0));
        let expected = 100.0 / 101.0 * f64::from(win_chance(0.01));
        assert!((calibration.error.unwrap() - expected).abs() < 1e-6);
    }

    #[test]
    fn draws_empty_and_full_calibrations() {
        let empty = CalibrationTally::default().calibration();
        assert_eq!((empty.error, empty.bins.len()), (None, 0));
        assert!(!panel(&empty).inline().contains("NaN"));
        let mut tally = CalibrationTally::default();
        for i in 0..4000 {
            let value = (i % 40) as f32 - 20.0;
            tally.add(value, 0.8 * value);
        }
        let svg = panel(&tally.calibration()).inline();
        assert!(svg.contains("mean label") && !svg.contains("NaN"));
    }
}
