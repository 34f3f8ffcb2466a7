//! Sizes of the short fits that a forecast needs, at little more than the cost of the planned run.

use models::MAX_FIRST;

use crate::report::learning_curves::{Axis, Extent};
use crate::training::plan::{FEW_STEPS, Plan};

/// Fits to carry out, and axes that cannot be forecast.
#[derive(Debug, PartialEq)]
pub struct ShortFits {
    /// Size and seed of each fit, the largest last.
    pub fits: Vec<(Extent, u64)>,
    /// Axes without fits, with the reason.
    pub left_out: Vec<(Axis, String)>,
}

/// Returns the size of a planned run.
pub fn extent(plan: &Plan) -> Extent {
    Extent {
        data: 1.0,
        first: plan.architecture.first,
        epochs: plan.epochs,
    }
}

/// Returns the arithmetic of a fit relative to that of the planned run. Most of it is the first
/// layer's.
pub fn cost(fit: Extent, whole: Extent) -> f64 {
    let width = fit.first as f64 / whole.first as f64;
    fit.data * width * fit.epochs as f64 / whole.epochs as f64
}

impl ShortFits {
    /// Plans the fits for the run `whole`; `base` is the same run on [part](Extent::on_base) of its
    /// positions. Fits on that part are repeated with `seeds` seeds, which shows the spread of the
    /// loss.
    pub fn new(whole: &Plan, base: &Plan, seeds: u64) -> ShortFits {
        let size = extent(whole);
        let on_base = size.on_base();
        if let Err(why) = check_steps(base, base.epochs) {
            return ShortFits {
                fits: Vec::new(),
                left_out: Axis::ALL.map(|axis| (axis, why.clone())).to_vec(),
            };
        }
        let (mut repeated, mut left_out) = (vec![on_base], Vec::new());
        match narrower(whole) {
            Ok(widths) => repeated.extend(widths.map(|first| Extent { first, ..on_base })),
            Err(why) => left_out.push((Axis::Width, why)),
        }
        match shorter(base) {
            Ok(epochs) => repeated.extend(epochs.map(|epochs| Extent { epochs, ..on_base })),
            Err(why) => left_out.push((Axis::Epochs, why)),
        }
        let seeds = (0..seeds).map(|n| whole.seed.wrapping_add(n));
        let repeated = repeated.into_iter();
        let repeated = repeated.flat_map(|extent| seeds.clone().map(move |seed| (extent, seed)));
        let larger = [0.25, 0.5].map(|data| (Extent { data, ..size }, whole.seed));
        ShortFits {
            fits: repeated.chain(larger).collect(),
            left_out,
        }
    }

    /// Returns the arithmetic of all fits relative to that of the planned run.
    pub fn cost(&self, whole: Extent) -> f64 {
        self.fits.iter().map(|&(fit, _)| cost(fit, whole)).sum()
    }
}

/// Returns an eighth, a quarter and a half of the first layer's width, or why it has none.
fn narrower(whole: &Plan) -> Result<[usize; 3], String> {
    let first = whole.architecture.first;
    let multiple = whole.architecture.activation.neurons();
    if first < 8 * multiple {
        return Err(format!("a first layer of {first} neurons has no eighth"));
    }
    if 2 * first > MAX_FIRST {
        let twice = 2 * first;
        return Err(format!(
            "{twice} neurons are beyond the engine's {MAX_FIRST}"
        ));
    }
    Ok([8, 4, 2].map(|part| first / part / multiple * multiple))
}

/// Returns about a quarter and a half of the epochs, or why there are none.
fn shorter(base: &Plan) -> Result<[u64; 2], String> {
    if base.epochs < 3 {
        return Err("it takes --epochs 3 or more".to_string());
    }
    let quarter = (base.epochs / 4).max(1);
    check_steps(base, quarter)?;
    Ok([quarter, base.epochs.div_ceil(2)])
}

/// Checks that so many epochs of `base` have the steps to learn more than material.
fn check_steps(base: &Plan, epochs: u64) -> Result<(), String> {
    let steps = base.steps() * epochs;
    match steps < FEW_STEPS {
        true => Err(format!(
            "{steps} steps on an eighth of the data, where it takes {FEW_STEPS} to learn much more \
             than material; add games or --epochs, or choose a smaller --batch"
        )),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::time::Duration;

    use models::{Activation, Architecture};

    use crate::batch::filter::{Dropped, Filter, Selection};
    use crate::training::device::Device;
    use crate::training::plan::ResultShare;
    use crate::training::regularisation::Regularisation;
    use crate::training::schedule::Decay;

    fn plan(positions: u64, architecture: Architecture, epochs: u64) -> Plan {
        Plan {
            out: PathBuf::new(),
            architecture,
            init: None,
            device: Device::Cpu,
            selection: Selection {
                filter: Filter::NONE,
                positions,
                dropped: Dropped::default(),
            },
            epochs,
            restarts: Vec::new(),
            batch: 512,
            result_share: ResultShare::NONE,
            loss_exponent: 1.0,
            regularisation: Regularisation::for_positions(positions),
            learning_rate: 3e-3,
            decay: Decay::Cosine,
            warm_up: None,
            clip_norm: 1.0,
            seed: 7,
            checkpoint_every: Duration::MAX,
            resume: false,
        }
    }

    fn short_fits(positions: u64, architecture: Architecture, epochs: u64) -> ShortFits {
        let [whole, base] = [1, 8].map(|part| plan(positions / part, architecture, epochs));
        ShortFits::new(&whole, &base, 2)
    }

    const SHAPE: Architecture = Architecture::hidden([256, 32, 32]);

    #[test]
    fn all_fits_cost_little_more_than_the_run() {
        for epochs in [3, 4, 5, 8, 20, 101] {
            let short = short_fits(10_000_000, SHAPE, epochs);
            assert!(short.left_out.is_empty(), "{short:?}");
            // Base, three widths and two numbers of epochs twice, and two larger shares.
            assert_eq!(short.fits.len(), 2 * 6 + 2);
            let whole = extent(&plan(10_000_000, SHAPE, epochs));
            let cost = short.cost(whole);
            assert!((1.3..1.5).contains(&cost), "{cost} for {epochs} epochs");
            for (index, fit) in short.fits.iter().enumerate() {
                assert!(!short.fits[..index].contains(fit), "{fit:?} twice");
            }
        }
    }

    #[test]
    fn axes_that_show_nothing_are_left_out() {
        let left_out = |short: ShortFits| -> Vec<Axis> {
            short.left_out.into_iter().map(|(axis, _)| axis).collect()
        };
        let few = short_fits(100_000, SHAPE, 5);
        assert!(few.fits.is_empty(), "{few:?}");
        assert_eq!(left_out(few), Axis::ALL);
        assert_eq!(left_out(short_fits(500_000, SHAPE, 5)), [Axis::Epochs]);
        assert_eq!(left_out(short_fits(10_000_000, SHAPE, 2)), [Axis::Epochs]);
        let wide = Architecture::hidden([MAX_FIRST / 2 + 1, 32, 32]);
        assert_eq!(left_out(short_fits(10_000_000, wide, 5)), [Axis::Width]);
        let narrow = Architecture::hidden([7, 8, 8]);
        assert_eq!(left_out(short_fits(10_000_000, narrow, 5)), [Axis::Width]);
    }

    #[test]
    fn products_of_pairs_keep_even_widths() {
        let pairs = Architecture {
            activation: Activation::PairwiseClippedRelu,
            ..Architecture::hidden([44, 8, 8])
        };
        assert_eq!(narrower(&plan(1, pairs, 5)), Ok([4, 10, 22]));
    }
}
