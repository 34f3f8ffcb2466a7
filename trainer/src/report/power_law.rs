//! Power laws `floor + scale * size^-exponent`, fitted to losses by least squares.
//!
//! Losses of a learning curve follow such a law between the region of too little data, where a net
//! guesses, and the floor that more data does not lower (Hestness et al., "Deep
//! learning scaling is predictable, empirically", 2017). The size of the network has the same effect
//! (Kaplan et al., "Scaling laws for neural language models", 2020).

use serde::Serialize;

/// Mean loss at a size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizedLoss {
    /// Size relative to a whole of 1: a share of the data, of the width or of the epochs.
    pub size: f64,
    /// Mean loss.
    pub loss: f64,
    /// Number of fits in the mean.
    pub fits: usize,
}

/// Loss as a function of size. Floor and scale are not negative.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PowerLaw {
    /// Loss that remains at any size.
    pub floor: f64,
    /// Loss above the floor at size 1; 0 if the losses do not fall.
    pub scale: f64,
    /// Exponent: doubling the size divides the loss above the floor by `2^exponent`.
    pub exponent: f64,
}

/// Range of exponents. Those of published curves are 0.05 to 0.35 for data and network; training
/// longer can reach its floor faster. At the lower end, a law falls almost with the logarithm.
const EXPONENTS: (f64, f64) = (0.05, 2.0);

/// Exponents tried before the search between two of them.
const COARSE: i32 = 20;

/// Steps of that search, each of which cuts the interval by a third.
const REFINEMENTS: usize = 30;

impl PowerLaw {
    /// Fits the law with the smallest squared error, each point weighted by its fits. The law is
    /// linear in floor and scale, so only the exponent is searched (variable projection, Golub and
    /// Pereyra 1973).
    pub fn fit(points: &[SizedLoss]) -> PowerLaw {
        let (low, high) = EXPONENTS;
        let step = (high / low).powf(1.0 / f64::from(COARSE));
        let coarse = (0..=COARSE).map(|i| low * step.powi(i));
        let error = |exponent: f64| PowerLaw::with_exponent(exponent, points).error(points);
        let best = coarse.min_by(|&a, &b| error(a).total_cmp(&error(b)));
        let best = best.expect("there are exponents");
        let (mut from, mut to) = ((best / step).max(low), (best * step).min(high));
        for _ in 0..REFINEMENTS {
            let third = (to - from) / 3.0;
            match error(from + third) <= error(to - third) {
                true => to -= third,
                false => from += third,
            }
        }
        PowerLaw::with_exponent((from + to) / 2.0, points)
    }

    /// Returns the loss at a size.
    pub fn at(&self, size: f64) -> f64 {
        self.floor + self.scale * size.powf(-self.exponent)
    }

    /// Returns how much doubling a size of 1 lowers the loss.
    pub fn gain(&self) -> f64 {
        self.at(1.0) - self.at(2.0)
    }

    /// Fits floor and scale for an exponent.
    fn with_exponent(exponent: f64, points: &[SizedLoss]) -> PowerLaw {
        let law = |floor, scale| PowerLaw {
            floor,
            scale,
            exponent,
        };
        // Sums over x = size^-exponent and y = loss.
        let (mut n, mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for point in points {
            let (weight, power) = (point.fits as f64, point.size.powf(-exponent));
            n += weight;
            x += weight * power;
            y += weight * point.loss;
            xx += weight * power * power;
            xy += weight * power * point.loss;
        }
        let scale = (n * xy - x * y) / (n * xx - x * x);
        let floor = (y - scale * x) / n;
        if floor >= 0.0 && scale >= 0.0 {
            return law(floor, scale);
        }
        // The optimum within bounds lies on one of them.
        let (flat, to_zero) = (law(y / n, 0.0), law(0.0, (xy / xx).max(0.0)));
        match flat.error(points) <= to_zero.error(points) {
            true => flat,
            false => to_zero,
        }
    }

    /// Returns the weighted sum of squared errors.
    fn error(&self, points: &[SizedLoss]) -> f64 {
        let errors = points.iter().map(|point| {
            let error = self.at(point.size) - point.loss;
            point.fits as f64 * error * error
        });
        errors.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::Random;

    fn points(sizes: &[f64], loss: impl Fn(f64) -> f64) -> Vec<SizedLoss> {
        let point = |&size: &f64| SizedLoss {
            size,
            loss: loss(size),
            fits: 1,
        };
        sizes.iter().map(point).collect()
    }

    const EIGHTH_TO_HALF: [f64; 3] = [0.125, 0.25, 0.5];

    #[test]
    fn recovers_random_laws_from_three_points() {
        let mut random = Random(1);
        for _ in 0..200 {
            let mut between = |low: f64, high: f64| {
                let share = (f64::from(random.uniform()) + 1.0) / 2.0;
                low + (high - low) * share
            };
            let law = PowerLaw {
                floor: between(0.05, 0.2),
                scale: between(0.01, 0.1),
                exponent: between(0.1, 1.5),
            };
            for sizes in [
                &EIGHTH_TO_HALF[..],
                &[0.2, 0.4, 1.0],
                &[0.125, 0.25, 0.5, 1.0],
            ] {
                let found = PowerLaw::fit(&points(sizes, |size| law.at(size)));
                for size in [0.125, 0.5, 1.0, 2.0] {
                    let apart = (found.at(size) - law.at(size)).abs();
                    assert!(apart < 1e-6, "{apart} at {size}: {found:?} for {law:?}");
                }
                assert!((found.gain() - law.gain()).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn losses_that_do_not_fall_gain_nothing() {
        for loss in [
            |_| 0.2,
            |size: f64| 0.2 + 0.01 * size,
            |size: f64| 0.3 - 0.1 / size.sqrt(),
        ] {
            let found = PowerLaw::fit(&points(&EIGHTH_TO_HALF, loss));
            assert!(found.gain().abs() < 1e-9, "{found:?}");
        }
    }

    #[test]
    fn floors_are_not_negative() {
        // Losses that fall faster and faster, which no power law does.
        let found = PowerLaw::fit(&points(&EIGHTH_TO_HALF, |size| 0.3 - 0.5 * size * size));
        assert!(found.floor >= 0.0 && found.scale >= 0.0, "{found:?}");
        assert!(found.at(2.0) >= 0.0 && found.at(2.0) < found.at(1.0));
    }

    #[test]
    fn means_of_several_fits_weigh_more() {
        let mut points = points(&[0.125, 0.25, 0.5, 1.0], |size| 0.1 + 0.05 / size.sqrt());
        points[1].loss += 0.01;
        let equal = PowerLaw::fit(&points);
        points[1].fits = 100;
        let weighted = PowerLaw::fit(&points);
        let error = |law: PowerLaw| (law.at(0.25) - points[1].loss).abs();
        assert!(error(weighted) < error(equal), "{weighted:?}, {equal:?}");
    }
}
