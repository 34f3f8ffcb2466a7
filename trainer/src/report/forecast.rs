//! Forecast of the held-out loss with more data, a wider first layer or more epochs, from short
//! fits.
//!
//! Each of the three is an [`Axis`] with a [`PowerLaw`] through its fits. The terms of data and
//! network add up (Rosenfeld et al., "A constructive prediction of the generalization error across
//! scales", 2020; Hoffmann et al., "Training compute-optimal large language models", 2022), so
//! gains of width and epochs, measured on [part of the data](Extent::on_base), are subtracted from
//! the loss of all of it.
//!
//! Intervals are a parametric bootstrap (Efron 1979): the losses are redrawn with the spread
//! between seeds, and the laws fitted again. They do not cover a curve that bends beyond its fits.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::report::learning_curves::{Axis, Extent, Laws, Noise, ShortFit, Sizes, share};
use crate::report::power_law::{PowerLaw, SizedLoss};

/// Limits of the intervals, as shares of the draws.
const INTERVAL: (f64, f64) = (0.05, 0.95);

/// Short fits of a planned run.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// Path of the dataset.
    pub data: PathBuf,
    /// Fingerprint of the dataset.
    pub fingerprint: String,
    /// Description of the planned net's architecture.
    pub architecture: String,
    /// Device of the fits.
    pub device: String,
    /// Size of the planned run, with all data.
    pub whole: Extent,
    /// Training positions of the planned run.
    pub positions: u64,
    /// Loss of the material balance on the held-out games; `None` without fits.
    pub material: Option<f64>,
    /// Results, in the order of the fits.
    pub fits: Vec<ShortFit>,
    /// Axes without fits, with the reason.
    #[serde(skip)]
    pub left_out: Vec<(Axis, String)>,
}

/// Forecast value with its 90 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Value by the laws through the measured losses.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Forecast along an axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Doubled {
    /// The axis.
    pub axis: Axis,
    /// Law along it; for width and epochs, on [part of the data](Extent::on_base).
    pub law: Option<PowerLaw>,
    /// Loss of the planned run with twice as much.
    pub loss: Option<Estimate>,
    /// Decrease from the planned run.
    pub gain: Option<Estimate>,
    /// Reason why nothing can be told.
    pub unknown: Option<String>,
}

/// Short fits with the forecast from them.
#[derive(Debug, Serialize)]
pub struct Forecast {
    /// The fits.
    #[serde(flatten)]
    pub measured: Measured,
    /// Spread between seeds.
    pub noise: Option<Noise>,
    /// Loss of the planned run.
    pub now: Option<Estimate>,
    /// Forecast along each axis.
    pub doubled: Vec<Doubled>,
    /// Sentence that says what to double next.
    pub verdict: String,
}

impl Forecast {
    /// Returns the forecast from short fits. The same fits give the same forecast.
    pub fn new(measured: Measured) -> Forecast {
        let sizes = Sizes::new(&measured.fits);
        let noise = sizes.noise();
        let draws = sizes.draws(noise, measured.whole);
        let exact = Laws::fit(&sizes.means, measured.whole);
        let estimate = |value: &dyn Fn(&Laws) -> Option<f64>| {
            let values = draws.iter().filter_map(value).collect();
            Some(Estimate::new(value(&exact)?, values))
        };
        // As certain as the intervals.
        let steepens = |axis: Axis| {
            let steep = draws.iter().filter(|laws| laws.steepens(axis)).count();
            noise.is_some() && steep as f64 >= INTERVAL.1 * draws.len() as f64
        };
        let too_short = too_small(&measured, &sizes.means)
            .or_else(|| steepens(Axis::Data).then(|| falls_faster(Axis::Data)));
        let doubled = Axis::ALL.map(|axis| {
            let left_out = measured.left_out.iter().find(|(left, _)| *left == axis);
            let gain = estimate(&|laws| laws.gain(axis));
            let unknown = match (left_out, &too_short, gain) {
                (Some((_, why)), ..) => Some(why.clone()),
                (_, Some(why), _) => Some(why.clone()),
                _ if steepens(axis) => Some(falls_faster(axis)),
                (.., Some(gain)) => gain.unclear(noise),
                (.., None) => Some("there are no fits".to_string()),
            };
            Doubled {
                axis,
                law: exact.of(axis),
                loss: estimate(&|laws| laws.doubled(axis)).filter(|_| too_short.is_none()),
                gain,
                unknown,
            }
        });
        Forecast {
            now: estimate(&|laws| laws.now()).filter(|_| too_short.is_none()),
            verdict: verdict(&doubled, &draws),
            doubled: doubled.to_vec(),
            noise,
            measured,
        }
    }

    /// Returns the sizes along an axis with their mean losses, ascending.
    pub fn means(&self, axis: Axis) -> Vec<(f64, f64)> {
        let means = Sizes::new(&self.measured.fits).means.into_iter();
        let along = means.filter_map(|(extent, mean)| {
            let size = axis.size(extent, self.measured.whole)?;
            Some((size, mean.loss))
        });
        let mut along: Vec<(f64, f64)> = along.collect();
        along.sort_by(|a, b| a.0.total_cmp(&b.0));
        along
    }
}

impl Estimate {
    /// Returns the estimate with the interval of `draws`.
    fn new(value: f64, mut draws: Vec<f64>) -> Estimate {
        draws.sort_by(f64::total_cmp);
        let last = draws.len().saturating_sub(1) as f64;
        let quantile = |share: f64| draws.get((share * last).round() as usize).copied();
        Estimate {
            value,
            low: quantile(INTERVAL.0).unwrap_or(f64::NEG_INFINITY),
            high: quantile(INTERVAL.1).unwrap_or(f64::INFINITY),
        }
    }

    /// Returns the reason why this gain is not one; `None` if it is larger than its spread.
    fn unclear(&self, noise: Option<Noise>) -> Option<String> {
        if noise.is_none() {
            return Some("one fit a size shows no spread; give --seeds 2 or more".to_string());
        }
        let spread = (self.high - self.low) / 2.0;
        (self.low <= 0.0 || self.value <= spread).then(|| {
            format!(
                "the gain of {:.4} is within its spread of {spread:.4}; more --seeds narrow it",
                self.value
            )
        })
    }
}

/// Returns the reason why the smallest fits say nothing; `None` if they beat material.
fn too_small(measured: &Measured, means: &[(Extent, SizedLoss)]) -> Option<String> {
    let material = measured.material?;
    let base = measured.whole.on_base();
    let (_, mean) = means.iter().find(|(extent, _)| *extent == base)?;
    (mean.loss >= material).then(|| {
        format!(
            "an eighth of the data is too little: its loss of {:.4} is not below material's of \
             {material:.4}, and before that losses follow no power law",
            mean.loss
        )
    })
}

/// Returns why losses that fall faster with each doubling along an axis say nothing.
fn falls_faster(axis: Axis) -> String {
    format!(
        "the loss falls faster with each doubling of the {}, which no power law does: the fits are \
         too short; train longer with --epochs",
        axis.name()
    )
}

/// Returns the answer to what pays next.
fn verdict(doubled: &[Doubled; 3], draws: &[Laws]) -> String {
    let gain = |doubled: &&Doubled| doubled.gain.map_or(f64::NEG_INFINITY, |gain| gain.value);
    let known = doubled.iter().filter(|doubled| doubled.unknown.is_none());
    let Some(best) = known.max_by(|a, b| gain(a).total_cmp(&gain(b))) else {
        return "cannot tell what would pay next".to_string();
    };
    let clearly_less = |other: Axis| {
        let less = |draw: &&Laws| draw.gain(other) < draw.gain(best.axis);
        draws.iter().filter(less).count() as f64 >= INTERVAL.1 * draws.len() as f64
    };
    let others = doubled
        .iter()
        .filter(|other| other.axis != best.axis && other.gain.is_some());
    let close: Vec<&str> = others
        .filter(|other| !clearly_less(other.axis))
        .map(|other| other.axis.name())
        .collect();
    let rest = match close.is_empty() {
        true => String::new(),
        false => format!(
            "; cannot tell whether twice the {} gains more",
            close.join(" or ")
        ),
    };
    let (name, gain) = (best.axis.name(), gain(&best));
    format!("what would pay next: twice the {name}, for {gain:.4} less loss{rest}")
}

impl fmt::Display for Forecast {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Measured { fits, material, .. } = &self.measured;
        if !fits.is_empty() {
            writeln!(
                f,
                "{:>6}{:>7}{:>8}{:>7}  held-out loss",
                "data", "width", "epochs", "seeds"
            )?;
        }
        for (extent, mean) in Sizes::new(fits).means {
            let Extent {
                data,
                first,
                epochs,
            } = extent;
            let (data, seeds, loss) = (share(data), mean.fits, mean.loss);
            writeln!(f, "{data:>6}{first:>7}{epochs:>8}{seeds:>7}  {loss:.4}")?;
        }
        if let Some(material) = material {
            writeln!(f, "{:28}  {material:.4} by material alone", "")?;
        }
        if let Some(Noise { deviation, degrees }) = self.noise {
            let degrees = match degrees {
                1 => "1 degree of freedom".to_string(),
                _ => format!("{degrees} degrees of freedom"),
            };
            writeln!(f, "spread between seeds: {deviation:.4} ({degrees})")?;
        }
        if let (Some(now), Some(_)) = (self.now, self.noise) {
            writeln!(
                f,
                "\n{:18}{:>8}{:>18}{:>8}",
                "forecast", "loss", "90 % interval", "gain"
            )?;
            row(f, "all the data", now, None)?;
        }
        let mut reasons = self.doubled.iter().map(|doubled| &doubled.unknown);
        if let Some(Some(why)) = reasons.next()
            && reasons.all(|other| other.as_ref() == Some(why))
        {
            return writeln!(f, "{why}\n\n{}", self.verdict);
        }
        for doubled in &self.doubled {
            let name = format!("twice the {}", doubled.axis.name());
            match (&doubled.unknown, doubled.loss) {
                (Some(why), _) => writeln!(f, "{name}: cannot tell: {why}")?,
                (None, Some(loss)) => row(f, &name, loss, doubled.gain)?,
                (None, None) => {}
            }
        }
        writeln!(f, "\n{}", self.verdict)
    }
}

fn row(f: &mut fmt::Formatter, name: &str, loss: Estimate, gain: Option<Estimate>) -> fmt::Result {
    let interval = format!("{:.4} to {:.4}", loss.low, loss.high);
    let gain = gain.map_or(String::new(), |gain| format!("{:.4}", gain.value));
    let line = format!("{name:18}{:>8.4}{interval:>18}{gain:>8}", loss.value);
    writeln!(f, "{}", line.trim_end())
}

/// Fits of known laws, for tests.
#[cfg(test)]
pub mod testing {
    use super::*;
    use crate::report::learning_curves::Normal;
    use models::Random;

    /// The planned run.
    pub const WHOLE: Extent = Extent {
        data: 1.0,
        first: 256,
        epochs: 8,
    };

    /// Returns the sizes that `trainer forecast` fits, with the number of seeds of each.
    fn extents() -> Vec<(Extent, u64)> {
        let base = WHOLE.on_base();
        let data = [0.25, 0.5].map(|data| (Extent { data, ..WHOLE }, 1));
        let width = [32, 64, 128].map(|first| (Extent { first, ..base }, 2));
        let epochs = [2, 4].map(|epochs| (Extent { epochs, ..base }, 2));
        let all = data.into_iter().chain(width).chain(epochs);
        all.chain([(base, 2)]).collect()
    }

    /// Returns fits of `loss` plus normal noise of `deviation`.
    pub fn measured(loss: impl Fn(Extent) -> f64, deviation: f64, noise_seed: u64) -> Measured {
        let mut normal = Normal(Random(noise_seed));
        let fits = extents().into_iter().flat_map(|(extent, seeds)| {
            let fits = (0..seeds).map(|seed| ShortFit {
                extent,
                seed,
                positions: 1000,
                loss: loss(extent) + deviation * normal.next(),
                seconds: 1.0,
            });
            fits.collect::<Vec<_>>()
        });
        Measured {
            data: "a.dataset".into(),
            fingerprint: String::new(),
            architecture: String::new(),
            device: "cpu".to_string(),
            whole: WHOLE,
            positions: 8000,
            material: Some(0.3),
            fits: fits.collect(),
            left_out: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{WHOLE, measured};
    use super::*;

    /// Returns a loss that falls with data much more than with width, and not with epochs.
    fn hungry(extent: Extent) -> f64 {
        let width = extent.first as f64 / 256.0;
        0.1 + 0.03 * extent.data.powf(-0.4) + 0.004 * width.powf(-0.5)
    }

    #[test]
    fn forecasts_the_sum_of_two_laws() {
        let forecast = Forecast::new(measured(hungry, 1e-5, 1));
        let near = |found: Option<Estimate>, expected: f64| {
            let found = found.unwrap();
            assert!(
                (found.value - expected).abs() < 1e-3,
                "{found:?} for {expected}"
            );
        };
        near(forecast.now, hungry(WHOLE));
        let [data, width, epochs] = &forecast.doubled[..] else {
            panic!("three axes")
        };
        near(data.loss, hungry(Extent { data: 2.0, ..WHOLE }));
        near(
            width.loss,
            hungry(Extent {
                first: 512,
                ..WHOLE
            }),
        );
        assert!(data.unknown.is_none() && width.unknown.is_none());
        assert!(epochs.unknown.is_some(), "{epochs:?}");
        assert!(
            forecast
                .verdict
                .starts_with("what would pay next: twice the data")
        );
        assert!(
            !forecast.verdict.contains("cannot tell"),
            "{}",
            forecast.verdict
        );
        let text = forecast.to_string();
        for words in [
            "1/8    256",
            "twice the epochs: cannot tell",
            "all the data",
        ] {
            assert!(text.contains(words), "{text}");
        }
    }

    /// The 90 % interval holds the true loss of twice the data in some 90 % of repetitions.
    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        let truth = hungry(Extent { data: 2.0, ..WHOLE });
        let repetitions = 20;
        let held = (0..repetitions).filter(|&seed| {
            let forecast = Forecast::new(measured(hungry, 3e-4, 100 + seed));
            let loss = forecast.doubled[0].loss.unwrap();
            (loss.low..=loss.high).contains(&truth)
        });
        let held = held.count();
        assert!(held >= 16, "{held} of {repetitions}");
    }

    #[test]
    fn cannot_tell_when_the_spread_exceeds_the_gains() {
        let forecast = Forecast::new(measured(hungry, 0.02, 3));
        assert!(
            forecast
                .doubled
                .iter()
                .all(|doubled| doubled.unknown.is_some())
        );
        assert_eq!(forecast.verdict, "cannot tell what would pay next");
        // Nor without a spread.
        let mut once = measured(hungry, 0.0, 1);
        once.fits.retain(|fit| fit.seed == 0);
        let forecast = Forecast::new(once);
        assert!(forecast.noise.is_none());
        assert!(forecast.to_string().contains("--seeds 2"), "{forecast}");
    }

    #[test]
    fn cannot_tell_before_the_net_beats_material() {
        let mut small = measured(hungry, 1e-5, 1);
        small.material = Some(0.12);
        let forecast = Forecast::new(small);
        let text = forecast.to_string();
        assert!(
            text.contains("an eighth of the data is too little"),
            "{text}"
        );
        assert_eq!(forecast.verdict, "cannot tell what would pay next");
    }

    #[test]
    fn cannot_tell_while_losses_fall_ever_faster() {
        // Measured on 6.5 million positions; docs/training.md has the run.
        let measured_losses = |extent: Extent| match extent.data {
            0.125 => 0.1228 + 0.01 * (256.0 / extent.first as f64).log2(),
            0.25 => 0.1180,
            _ => 0.1076,
        };
        let forecast = Forecast::new(measured(measured_losses, 5e-4, 1));
        assert!(forecast.now.is_none());
        let text = forecast.to_string();
        assert_eq!(text.matches("falls faster").count(), 1, "{text}");
        assert_eq!(forecast.verdict, "cannot tell what would pay next");
        // On the width alone, it hides only what the width gains.
        let wide = |extent: Extent| match extent.first {
            256 => hungry(extent),
            first => hungry(extent) + 0.02 - 1e-4 * first as f64,
        };
        let forecast = Forecast::new(measured(wide, 1e-5, 1));
        let [data, width, _] = &forecast.doubled[..] else {
            panic!("three axes")
        };
        assert!(data.unknown.is_none() && forecast.now.is_some());
        assert!(
            width
                .unknown
                .as_ref()
                .unwrap()
                .contains("doubling of the width")
        );
    }

    #[test]
    fn equal_gains_are_not_told_apart() {
        let equal = |extent: Extent| {
            let width = extent.first as f64 / 256.0;
            0.1 + 0.02 * extent.data.powf(-0.4) + 0.02 * width.powf(-0.4)
        };
        let forecast = Forecast::new(measured(equal, 3e-4, 5));
        let verdict = forecast.verdict;
        assert!(verdict.contains("cannot tell"), "{verdict}");
    }

    #[test]
    fn without_fits_the_reasons_are_given() {
        let mut none = measured(hungry, 0.0, 1);
        none.fits.clear();
        none.material = None;
        none.left_out = Axis::ALL
            .map(|axis| (axis, "too few steps".to_string()))
            .to_vec();
        let text = Forecast::new(none).to_string();
        assert_eq!(text.matches("too few steps").count(), 1, "{text}");
        assert!(
            text.ends_with("cannot tell what would pay next\n"),
            "{text}"
        );
    }
}
