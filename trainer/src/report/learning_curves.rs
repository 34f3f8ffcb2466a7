//! Learning curves: mean losses of fits by their size, and the laws through them.

use models::Random;
use serde::Serialize;

use crate::report::power_law::{PowerLaw, SizedLoss};

/// Share of the data in the smallest fits, and in those that vary width or epochs.
pub const BASE: f64 = 0.125;

/// Redrawn sets of losses.
const DRAWS: usize = 1000;

/// Quantity that a net may have more of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Axis {
    /// Training positions.
    Data,
    /// Neurons of the first layer.
    Width,
    /// Passes over the positions.
    Epochs,
}

impl Axis {
    /// All axes.
    pub const ALL: [Axis; 3] = [Axis::Data, Axis::Width, Axis::Epochs];

    /// Returns the name in tables and pictures.
    pub fn name(self) -> &'static str {
        match self {
            Axis::Data => "data",
            Axis::Width => "width",
            Axis::Epochs => "epochs",
        }
    }

    /// Returns the size of a fit along the axis, relative to `whole`. `None` if it belongs to
    /// another axis.
    pub fn size(self, fit: Extent, whole: Extent) -> Option<f64> {
        let base = whole.on_base();
        let Extent {
            data,
            first,
            epochs,
        } = fit;
        let (of, size) = match self {
            Axis::Data => (Extent { data, ..whole }, data),
            Axis::Width => {
                let size = first as f64 / whole.first as f64;
                (Extent { first, ..base }, size)
            }
            Axis::Epochs => {
                let size = epochs as f64 / whole.epochs as f64;
                (Extent { epochs, ..base }, size)
            }
        };
        (fit == of).then_some(size)
    }
}

/// Size of a fit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Extent {
    /// Share of the dataset's training positions.
    pub data: f64,
    /// Neurons of the first layer.
    pub first: usize,
    /// Passes over the positions.
    pub epochs: u64,
}

impl Extent {
    /// Returns the same size on [`BASE`] of the data.
    pub fn on_base(self) -> Extent {
        Extent { data: BASE, ..self }
    }
}

/// Result of a short fit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ShortFit {
    /// Size of the fit.
    #[serde(flatten)]
    pub extent: Extent,
    /// Seed of the starting weights, of the order and of the choice of positions.
    pub seed: u64,
    /// Training positions.
    pub positions: u64,
    /// Loss of the kept net on the held-out games.
    pub loss: f64,
    /// Duration in seconds.
    pub seconds: f64,
}

/// Formats a share of the data: `1/8`.
pub fn share(share: f64) -> String {
    match share {
        1.0 => "all".to_string(),
        _ => format!("1/{:.0}", 1.0 / share),
    }
}

/// Spread of the loss between fits that differ in their seed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Noise {
    /// Pooled standard deviation.
    pub deviation: f64,
    /// Degrees of freedom: fits without the first of each size.
    pub degrees: usize,
}

/// Mean losses by size, and the losses they are made of.
pub struct Sizes {
    /// Mean losses, in the order of the fits.
    pub means: Vec<(Extent, SizedLoss)>,
    losses: Vec<Vec<f64>>,
}

impl Sizes {
    /// Returns the means of fits by size, in the order of the fits.
    pub fn new(fits: &[ShortFit]) -> Sizes {
        let mut extents: Vec<Extent> = Vec::new();
        for fit in fits {
            if !extents.contains(&fit.extent) {
                extents.push(fit.extent);
            }
        }
        let of = |extent: &Extent| -> Vec<f64> {
            let fits = fits.iter().filter(|fit| fit.extent == *extent);
            fits.map(|fit| fit.loss).collect()
        };
        let losses: Vec<Vec<f64>> = extents.iter().map(of).collect();
        let means = extents.iter().zip(&losses).map(|(&extent, losses)| {
            let loss = SizedLoss {
                size: extent.data,
                loss: losses.iter().sum::<f64>() / losses.len() as f64,
                fits: losses.len(),
            };
            (extent, loss)
        });
        Sizes {
            means: means.collect(),
            losses,
        }
    }

    /// Returns the pooled spread of the sizes with several fits; `None` without any.
    pub fn noise(&self) -> Option<Noise> {
        let squares = self
            .means
            .iter()
            .zip(&self.losses)
            .map(|((_, mean), losses)| {
                let squares = losses.iter().map(|loss| (loss - mean.loss).powi(2));
                squares.sum::<f64>()
            });
        let squares: f64 = squares.sum();
        let degrees = self.losses.iter().map(|losses| losses.len() - 1).sum();
        (degrees > 0).then(|| Noise {
            deviation: (squares / degrees as f64).sqrt(),
            degrees,
        })
    }

    /// Returns the laws through redrawn losses; none without a spread to draw from.
    pub fn draws(&self, noise: Option<Noise>, whole: Extent) -> Vec<Laws> {
        let Some(Noise { deviation, degrees }) = noise else {
            return Vec::new();
        };
        let mut normal = Normal(Random(1));
        let draw = |_| {
            // The spread is itself uncertain: a draw of it has a scaled inverse chi-squared
            // distribution, which makes the losses Student's t.
            let chi_squared: f64 = (0..degrees).map(|_| normal.next().powi(2)).sum();
            let deviation = deviation * (degrees as f64 / chi_squared).sqrt();
            let mut means = self.means.clone();
            for (_, mean) in &mut means {
                mean.loss += deviation / (mean.fits as f64).sqrt() * normal.next();
            }
            Laws::fit(&means, whole)
        };
        (0..DRAWS).map(draw).collect()
    }
}

/// Sequence of standard normal numbers (Box and Muller 1958).
pub struct Normal(pub Random);

impl Normal {
    /// Returns the next number.
    pub fn next(&mut self) -> f64 {
        // Above 0, for the logarithm.
        let mut unit = || ((self.0.bits() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        let (radius, angle) = ((-2.0 * unit().ln()).sqrt(), std::f64::consts::TAU * unit());
        radius * angle.cos()
    }
}

/// Laws of the axes that have fits.
pub struct Laws([Option<Curve>; 3]);

/// Law through the losses along an axis.
struct Curve {
    law: PowerLaw,
    steepens: bool,
}

impl Laws {
    /// Fits the laws through mean losses.
    pub fn fit(means: &[(Extent, SizedLoss)], whole: Extent) -> Laws {
        Laws(Axis::ALL.map(|axis| {
            let points = means.iter().filter_map(|&(extent, mean)| {
                let size = axis.size(extent, whole)?;
                Some(SizedLoss { size, ..mean })
            });
            let points: Vec<SizedLoss> = points.collect();
            (points.len() >= LEAST_SIZES).then(|| Curve {
                law: PowerLaw::fit(&points),
                steepens: steepens(points),
            })
        }))
    }

    /// Returns the law along an axis.
    pub fn of(&self, axis: Axis) -> Option<PowerLaw> {
        Some(self.0[axis as usize].as_ref()?.law)
    }

    /// Returns whether the last doubling along an axis gained more than the first, which no power
    /// law does.
    pub fn steepens(&self, axis: Axis) -> bool {
        self.0[axis as usize]
            .as_ref()
            .is_some_and(|curve| curve.steepens)
    }

    /// Returns the loss of the planned run.
    pub fn now(&self) -> Option<f64> {
        Some(self.of(Axis::Data)?.at(1.0))
    }

    /// Returns the decrease of the loss with twice as much along an axis.
    pub fn gain(&self, axis: Axis) -> Option<f64> {
        Some(self.of(axis)?.gain())
    }

    /// Returns the loss of the planned run with twice as much along an axis.
    pub fn doubled(&self, axis: Axis) -> Option<f64> {
        Some(self.now()? - self.gain(axis)?)
    }
}

/// Returns whether the gain of a doubling is larger at the largest sizes than at the smallest.
fn steepens(mut points: Vec<SizedLoss>) -> bool {
    points.sort_by(|a, b| a.size.total_cmp(&b.size));
    let gains = points
        .windows(2)
        .map(|pair| (pair[0].loss - pair[1].loss) / (pair[1].size / pair[0].size).log2());
    let gains: Vec<f64> = gains.collect();
    gains.last() > gains.first()
}

/// Fewest sizes that determine a law's three numbers.
const LEAST_SIZES: usize = 3;
