//! Regularisation by the size of the dataset, against overfitting of small ones.

/// Training positions up to which regularisation is strongest: nets soon memorise a thousand games,
/// but not a hundred thousand.
const FEW: f64 = (1 << 18) as f64;
/// Doublings of [`FEW`] over which regularisation falls to its weakest, in even steps.
const DOUBLINGS: f64 = 4.0;

/// Strength of the regularisation (docs/experiments.md, "How fast the own part, and in how many
/// steps").
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regularisation {
    /// Factor of an input's own weights in the first layer. At a sixteenth, Adam, whose steps do
    /// not depend on scale, moves them a sixteenth as fast as the shared weights. A power of two,
    /// so that dividing by it is exact.
    pub own_scale: f32,
    /// Weight decay, in units of the learning rate (decoupled, as in Loshchilov and Hutter,
    /// "Decoupled weight decay regularization", 2019).
    pub weight_decay: f64,
}

impl Regularisation {
    /// Returns the default for a number of training positions: from a sixteenth and 0.3 for few to
    /// 1 and 0.1 for many.
    pub fn for_positions(positions: u64) -> Regularisation {
        let doublings = (positions as f64 / FEW).log2().clamp(0.0, DOUBLINGS);
        let decay = 0.3 * 3f64.powf(-doublings / DOUBLINGS);
        Regularisation {
            own_scale: (doublings.floor() - DOUBLINGS).exp2() as f32,
            weight_decay: (decay * 1000.0).round() / 1000.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regularisation_falls_smoothly_with_positions() {
        let of = |positions| {
            let regularisation = Regularisation::for_positions(positions);
            (regularisation.own_scale, regularisation.weight_decay)
        };
        for few in [1, 70_000, 200_000, 1 << 18] {
            assert_eq!(of(few), (1.0 / 16.0, 0.3));
        }
        for many in [1 << 22, 8_000_000, 1 << 40] {
            assert_eq!(of(many), (1.0, 0.1));
        }
        assert_eq!(of(1 << 20), (0.25, 0.173));
        let mut before = of(100_000);
        for thousands in 100..5000 {
            let now = of(1000 * thousands);
            // Powers of two change at least by their double.
            assert!(now.0 == before.0 || now.0 == 2.0 * before.0);
            assert!(now.1 <= before.1 && before.1 - now.1 < 0.003);
            before = now;
        }
    }
}
