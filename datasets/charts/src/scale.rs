//! Axis scales: values to pixels, and round ticks.

/// Linear mapping from values to pixels.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    values: (f64, f64),
    pixels: (f64, f64),
}

impl Scale {
    /// Creates a scale that maps the first value to the first pixel, the second to the second.
    pub fn new(values: (f64, f64), pixels: (f64, f64)) -> Scale {
        Scale { values, pixels }
    }

    /// Creates a scale over all finite values with a margin at both ends.
    pub fn around(values: impl IntoIterator<Item = f64>, pixels: (f64, f64)) -> Scale {
        let finite = values.into_iter().filter(|value| value.is_finite());
        let bounds = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let (low, high) = if bounds.0 <= bounds.1 {
            bounds
        } else {
            (0.0, 0.0)
        };
        let room = match 0.06 * (high - low) {
            0.0 => (0.1 * high.abs()).max(0.01),
            room => room,
        };
        Scale::new((low - room, high + room), pixels)
    }

    /// Returns the pixel of a value, clamped to the ends of the scale.
    pub fn at(&self, value: f64) -> f64 {
        let ((low, high), (from, to)) = (self.values, self.pixels);
        let share = match high - low {
            0.0 => 0.5,
            span => ((value - low) / span).clamp(0.0, 1.0),
        };
        from + (to - from) * share
    }

    /// Returns about `about` round values.
    pub fn ticks(&self, about: u32) -> Vec<Tick> {
        ticks(self.values.0, self.values.1, about)
    }
}

/// Labelled position on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Position.
    pub value: f64,
    /// Label: the value with as many digits as the step needs.
    pub text: String,
}

/// Returns about `about` round numbers from `low` to `high`; `low` alone for an invalid range.
pub fn ticks(low: f64, high: f64, about: u32) -> Vec<Tick> {
    let span = high - low;
    if !(span > 0.0 && span.is_finite()) {
        let text = low.to_string();
        return vec![Tick { value: low, text }];
    }
    let step = round_step(span, about);
    let digits = (-step.log10().floor()).max(0.0) as usize;
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    let tick = |i| {
        let value = i as f64 * step;
        let text = format!("{value:.digits$}");
        Tick { value, text }
    };
    (first..=last).map(tick).collect()
}

/// Returns the step that divides `span` into at most `parts` parts: 1, 2 or 5 times a power of ten.
pub(crate) fn round_step(span: f64, parts: u32) -> f64 {
    let rough = span / f64::from(parts);
    let power = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|factor| factor * power);
    let fits = |step: &f64| *step >= 0.999 * rough;
    steps.into_iter().find(fits).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_in_range() {
        for (low, high, about, expected) in [
            (1.0, 5.0, 4, "1 2 3 4 5"),
            (0.21, 0.3, 5, "0.22 0.24 0.26 0.28 0.30"),
            (-1.0, 1.0, 4, "-1.0 -0.5 0.0 0.5 1.0"),
            (0.0, 1300.0, 3, "0 500 1000"),
            (0.94, 0.99, 3, "0.94 0.96 0.98"),
            (0.0, 1.0, 1, "0 1"),
            // Degenerate ranges.
            (1.0, 1.0, 9, "1"),
            (f64::INFINITY, f64::INFINITY, 9, "inf"),
        ] {
            let found: Vec<String> = ticks(low, high, about)
                .into_iter()
                .map(|t| t.text)
                .collect();
            assert_eq!(found.join(" "), expected, "{low} to {high}");
        }
    }

    #[test]
    fn scales_any_values() {
        for values in [
            vec![],
            vec![0.0],
            vec![f64::NAN],
            vec![3.0, 3.0],
            vec![-1e9, 1e9],
        ] {
            let scale = Scale::around(values.clone(), (10.0, 20.0));
            for value in values.into_iter().filter(|value| value.is_finite()) {
                assert!(scale.at(value) > 10.0 && scale.at(value) < 20.0);
            }
            assert_eq!(scale.at(f64::INFINITY), 20.0);
            assert!(scale.ticks(5).len() < 12 && !scale.ticks(5).is_empty());
        }
        assert_eq!(Scale::new((1.0, 1.0), (10.0, 20.0)).at(1.0), 15.0);
    }
}
