//! Picture of a forecast: held-out loss by size.

use charts::{Anchor, Colour, Mark, Panel, Scale, Tone, WIDTH};

use crate::report::forecast::{Estimate, Forecast};
use crate::report::learning_curves::{Axis, BASE, share};
use crate::report::power_law::PowerLaw;

/// Plot area in the panel.
const LEFT: f64 = 56.0;
const TOP: f64 = 34.0;
/// Leaves room for half of the last number below.
const RIGHT: f64 = WIDTH - 8.0;
const BOTTOM: f64 = 290.0;
const HEIGHT: f64 = 335.0;

/// Points of a drawn law.
const STEPS: i32 = 40;

/// Returns the picture as a standalone SVG.
pub fn svg(forecast: &Forecast) -> String {
    charts::sheet(None, vec![vec![panel(forecast)]])
}

fn panel(forecast: &Forecast) -> Panel {
    let note = format!(
        "Dots: means of short fits; width and epochs on {} of the data. Dashed: forecast, with \
         90 % intervals. {}.",
        share(BASE),
        forecast.verdict
    );
    let mut panel = Panel::new("Held-out loss by size", &note, (WIDTH, HEIGHT));
    let x = Scale::new((BASE.log2() - 0.2, 1.2), (LEFT, RIGHT));
    let curves: Vec<Curve> = Axis::ALL
        .into_iter()
        .filter_map(|axis| Curve::of(axis, forecast))
        .collect();
    let values = curves.iter().flat_map(|curve| {
        let dots = curve.dots.iter().map(|dot| dot.1);
        let ends = curve.intervals.iter().flat_map(|(_, ends)| *ends);
        dots.chain(ends).chain([curve.law.at(2.0)])
    });
    let y = Scale::around(values, (BOTTOM, TOP));
    panel.levels(&y, (LEFT, RIGHT), 5);
    for size in [0.125, 0.25, 0.5, 1.0, 2.0f64] {
        let text = match size {
            1.0 => "planned".to_string(),
            2.0 => "twice".to_string(),
            _ => share(size),
        };
        let at = (x.at(size.log2()), BOTTOM + 20.0);
        panel.text(at, Anchor::Middle, Tone::Faint, &text);
    }
    let at = ((LEFT + RIGHT) / 2.0, BOTTOM + 40.0);
    panel.text(
        at,
        Anchor::Middle,
        Tone::Faint,
        "size, beside the planned run",
    );
    let legend = curves
        .iter()
        .map(|curve| (Mark::Line, curve.colour, curve.axis.name()));
    panel.legend((LEFT, 14.0), &legend.collect::<Vec<_>>());
    let place = |(size, loss): (f64, f64)| (x.at(size.log2()), y.at(loss));
    for curve in &curves {
        let sizes = curve.dots.iter().map(|dot| dot.0);
        let (first, last) = (sizes.clone().fold(2.0, f64::min), sizes.fold(0.0, f64::max));
        let between = |from: f64, to: f64| -> Vec<(f64, f64)> {
            let size = |i| from * (to / from).powf(f64::from(i) / f64::from(STEPS));
            let sizes = (0..=STEPS).map(size);
            sizes
                .map(|size| place((size, curve.law.at(size))))
                .collect()
        };
        panel.line(&between(first, last), curve.colour);
        panel.dashed(&between(last, 2.0), curve.colour);
        for &(size, [low, high]) in &curve.intervals {
            panel.line(&[place((size, low)), place((size, high))], curve.colour);
        }
        for &(size, loss) in &curve.dots {
            let hint = format!("{} {size}: {loss:.4}", curve.axis.name());
            panel.dot(place((size, loss)), 3.5, curve.colour, &hint);
        }
    }
    panel
}

/// Drawn law of an axis.
struct Curve {
    axis: Axis,
    colour: Colour,
    law: PowerLaw,
    /// Sizes and mean losses of the fits.
    dots: Vec<(f64, f64)>,
    /// Forecast sizes with the ends of their intervals.
    intervals: Vec<(f64, [f64; 2])>,
}

impl Curve {
    /// Returns the curve of an axis; `None` without fits.
    fn of(axis: Axis, forecast: &Forecast) -> Option<Curve> {
        let doubled = &forecast.doubled[axis as usize];
        let law = doubled.law?;
        let ends = |estimate: Estimate| {
            let finite = estimate.low.is_finite() && estimate.high.is_finite();
            finite.then_some([estimate.low, estimate.high])
        };
        let mut intervals = Vec::new();
        if axis == Axis::Data {
            intervals.extend(forecast.now.and_then(ends).map(|ends| (1.0, ends)));
            intervals.extend(doubled.loss.and_then(ends).map(|ends| (2.0, ends)));
        } else if let Some([low, high]) = doubled.gain.and_then(ends) {
            // On the base's share of the data.
            intervals.push((2.0, [law.at(1.0) - high, law.at(1.0) - low]));
        }
        Some(Curve {
            axis,
            colour: Colour::SERIES[axis as usize],
            law,
            dots: forecast.means(axis),
            intervals,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::forecast::testing::measured;

    #[test]
    fn draws_what_there_is() {
        let mut measured = measured(|fit| 0.1 + 0.03 * fit.data.powf(-0.4), 1e-4, 1);
        let picture = |measured| {
            let svg = svg(&Forecast::new(measured));
            assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
            assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{svg}");
            svg
        };
        let whole = picture(measured.clone());
        for words in ["data", "width", "epochs", "planned", "twice"] {
            assert!(whole.contains(words), "{words}: {whole}");
        }
        assert_eq!(whole.matches("<circle").count(), 3 + 4 + 3);
        measured.fits.retain(|fit| fit.seed == 0);
        picture(measured.clone());
        measured.fits.clear();
        assert!(picture(measured).contains("cannot"));
    }
}
