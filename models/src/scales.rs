//! Scales of integer inference: for each layer the finest at which no sum can overflow in any
//! position.
//!
//! The proof uses the weights of the net that is loaded. Each number with a limited type has a
//! [`Bound`]: the largest value that the floats can reach, against the range of the type at a scale
//! less the largest rounding error. A net that exceeds a bound at the coarsest scale is refused.
//!
//! Sums may be added in any order: each bound is on the sum of magnitudes. Accumulators wrap, so
//! only their final sum is bounded.

use std::fmt;
use std::ops::RangeInclusive;

use crate::accumulator::ACTIVATION_MAX;
use crate::feature::THREATS;
use crate::{INPUTS, Layer, MAX_ACTIVE, MAX_FIRST, MAX_LATER, NetError};

/// Part of a layer that has to fit an integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Sum of a neuron: its bias and the products of its inputs.
    Sum,
    /// A single weight.
    Weight,
    /// A single bias.
    Bias,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Bound::Sum => "a neuron's sum",
            Bound::Weight => "a weight",
            Bound::Bias => "a bias",
        })
    }
}

/// Limit on the floats of a layer: largest value reached, and largest value allowed at a shift.
struct Limit<'a> {
    bound: Bound,
    reach: f64,
    most: &'a dyn Fn(u32) -> f64,
}

/// Returns the largest shift that keeps every limit.
fn finest(layer: usize, shifts: RangeInclusive<u32>, limits: &[Limit]) -> Result<u32, NetError> {
    let keeps = |limit: &Limit, shift: u32| limit.reach <= (limit.most)(shift);
    let coarsest = *shifts.start();
    match limits.iter().find(|limit| !keeps(limit, coarsest)) {
        None => Ok(shifts
            .rev()
            .find(|&shift| limits.iter().all(|limit| keeps(limit, shift)))
            .unwrap_or(coarsest)),
        Some(limit) => Err(NetError::Unquantisable {
            layer,
            bound: limit.bound,
            reach: limit.reach,
            most: (limit.most)(coarsest),
        }),
    }
}

/// Returns log2 of the scale of first-layer sums over [`ACTIVATION_MAX`], at most `finest_shift`:
/// every sum, and every single weight, fits i16.
///
/// # Errors
/// [`NetError::Unquantisable`].
pub fn first_shift(layer: &Layer, finest_shift: u32) -> Result<u32, NetError> {
    // Rounding errors: one half for each active input and the bias, plus the rounding term of the
    // shift in the bias.
    let most = |shift: u32| {
        let slack = MAX_ACTIVE as f64 + power(shift);
        (f64::from(i16::MAX) - slack) / one(shift)
    };
    let limits = [
        Limit {
            bound: Bound::Sum,
            reach: first_layer_reach(layer),
            most: &most,
        },
        Limit {
            bound: Bound::Weight,
            reach: largest(floats(&layer.weight)),
            most: &most,
        },
    ];
    finest(0, 0..=finest_shift, &limits)
}

/// Returns the largest magnitude of a first-layer neuron's sum in any position or part of one.
pub fn first_layer_reach(layer: &Layer) -> f64 {
    largest((0..layer.outputs()).flat_map(|neuron| {
        let (lowest, highest) = first_layer_range(layer, neuron);
        [lowest, highest]
    }))
}

/// Returns the lowest and highest sum of a first-layer neuron in any position or part of one: its
/// bias, at most one piece a square and 32 in all, one en-passant square, every threat and flag.
fn first_layer_range(layer: &Layer, neuron: usize) -> (f64, f64) {
    let row = layer.row(neuron);
    let extreme = |sign: f64| -> f64 {
        let gain = |input: usize| (sign * f64::from(row[input])).max(0.0);
        let mut squares: Vec<f64> = (0..64)
            .map(|s| (0..12).map(|p| gain(p * 64 + s)).fold(0.0, f64::max))
            .collect();
        squares.sort_by(|a, b| b.total_cmp(a));
        let en_passant = (0..64).map(|s| gain(12 * 64 + s)).fold(0.0, f64::max);
        let threats: f64 = THREATS.map(gain).sum();
        let flags: f64 = (14 * 64..INPUTS).map(gain).sum();
        squares[..32].iter().sum::<f64>() + en_passant + threats + flags
    };
    let bias = f64::from(layer.bias[neuron]);
    (bias - extreme(-1.0), bias + extreme(1.0))
}

/// Returns log2 of the scale of second-layer weights, which fit i8 after multiplication by
/// `weight_one`. At most 8, so that activations, `127 << shift`, fit i16.
///
/// # Errors
/// [`NetError::Unquantisable`].
pub fn second_shift(layer: &Layer, weight_one: f32) -> Result<u32, NetError> {
    // Largest sum of products of first-layer activations and weights, over both views.
    let products = (2 * MAX_FIRST as i32 * ACTIVATION_MAX * ACTIVATION_MAX) as f64;
    let limits = [
        Limit {
            bound: Bound::Weight,
            reach: largest(floats(&layer.weight)),
            most: &|shift| f64::from(i8::MAX) / (power(shift) * f64::from(weight_one)),
        },
        Limit {
            bound: Bound::Bias,
            reach: largest(floats(&layer.bias)),
            most: &|shift| (f64::from(i32::MAX) - products - 1.0) / one(shift),
        },
    ];
    finest(1, 3..=8, &limits)
}

/// Returns log2 of the scale of a later layer's weights: weights fit i16 and sums fit i32. Inputs
/// lie in `0..=activation_one`.
///
/// # Errors
/// [`NetError::Unquantisable`].
pub fn later_shift(
    layer: &Layer,
    layer_index: usize,
    activation_one: i32,
) -> Result<u32, NetError> {
    let activation_one = f64::from(activation_one);
    // Rounding errors: one half for each weight and the bias, plus half of the scale for rounding
    // the shift.
    let slack = |shift: u32| MAX_LATER as f64 / 2.0 * activation_one + power(shift);
    let sums = (0..layer.outputs()).map(|neuron| {
        let terms = layer.row(neuron).iter().chain([&layer.bias[neuron]]);
        terms.map(|&term| f64::from(term).abs()).sum()
    });
    let limits = [
        Limit {
            bound: Bound::Sum,
            reach: largest(sums),
            most: &|shift| (f64::from(i32::MAX) - slack(shift)) / (power(shift) * activation_one),
        },
        Limit {
            bound: Bound::Weight,
            reach: largest(floats(&layer.weight)),
            most: &|shift| f64::from(i16::MAX) / power(shift),
        },
    ];
    finest(layer_index, 4..=12, &limits)
}

fn floats(values: &[f32]) -> impl Iterator<Item = f64> {
    values.iter().copied().map(f64::from)
}

/// Returns the largest magnitude.
fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |most, value| most.max(value.abs()))
}

fn power(shift: u32) -> f64 {
    f64::from(1u32 << shift)
}

/// Returns the integer form of 1 for activations at a shift.
fn one(shift: u32) -> f64 {
    f64::from(ACTIVATION_MAX << shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Architecture, Network};

    /// Returns a first layer of one neuron.
    fn neuron(weight: impl Fn(usize) -> f32, bias: f32) -> Layer {
        Layer {
            weight: (0..INPUTS).map(weight).collect(),
            bias: vec![bias],
        }
    }

    #[test]
    fn the_range_of_a_neuron_counts_reachable_inputs() {
        // Equal weights: 32 pieces, en passant, 30 threats and six flags.
        let (low, high) = first_layer_range(&neuron(|_| 1.0, 0.5), 0);
        assert_eq!((low, high), (0.5, 69.5));
        // Both kings on one square count as one piece, the better of them.
        let kings = neuron(
            |input| {
                [(5 * 64, 2.0), (11 * 64, 3.0)]
                    .map(|(i, w)| if i == input { w } else { 0.0 })
                    .iter()
                    .sum()
            },
            0.0,
        );
        assert_eq!(first_layer_range(&kings, 0), (0.0, 3.0));
        // Unused inputs of the last plane cannot be reached.
        let unused = neuron(
            |input| {
                if (THREATS.end..14 * 64).contains(&input) {
                    9.0
                } else {
                    0.0
                }
            },
            0.0,
        );
        assert_eq!(first_layer_range(&unused, 0), (0.0, 0.0));
    }

    /// Checks each scale: a layer that just fits gets it, and its widest sums fit in exact
    /// integers; a slightly larger one gets the next coarser scale or none.
    #[test]
    fn accumulators_fit_at_the_very_edge() {
        for seed in 0..4 {
            let network = Network::random(Architecture::ARTICLE, seed);
            let layer = &network.layers()[0];
            let reach = largest((0..layer.outputs()).flat_map(|neuron| {
                let (low, high) = first_layer_range(layer, neuron);
                [low, high]
            }));
            for shift in 0..=5u32 {
                let most = (f64::from(i16::MAX) - MAX_ACTIVE as f64 - power(shift)) / one(shift);
                let edge = scaled(layer, most / reach * 0.999_999);
                assert_eq!(first_shift(&edge, 5), Ok(shift));
                assert_eq!(first_shift(&edge, 3), Ok(shift.min(3)));
                let beyond = first_shift(&scaled(layer, most / reach * 1.000_001), 5);
                match shift {
                    0 => assert!(matches!(
                        beyond,
                        Err(NetError::Unquantisable {
                            layer: 0,
                            bound: Bound::Sum,
                            ..
                        })
                    )),
                    _ => assert_eq!(beyond, Ok(shift - 1)),
                }
                for neuron in 0..edge.outputs() {
                    let (low, high) = widest_integers(&edge, neuron, shift);
                    assert!(
                        low >= i16::MIN.into() && high <= i16::MAX.into(),
                        "{low} {high}"
                    );
                }
            }
        }
    }

    fn scaled(layer: &Layer, factor: f64) -> Layer {
        let scale = |values: &[f32]| {
            let values = values
                .iter()
                .map(|&value| (f64::from(value) * factor) as f32);
            values.collect()
        };
        Layer {
            weight: scale(&layer.weight),
            bias: scale(&layer.bias),
        }
    }

    /// Returns the least and greatest sum of a neuron over positions, with rounded weights, in
    /// integers that cannot overflow.
    fn widest_integers(layer: &Layer, neuron: usize, shift: u32) -> (i64, i64) {
        let one = (ACTIVATION_MAX << shift) as f32;
        let row: Vec<i64> = layer
            .row(neuron)
            .iter()
            .map(|w| (w * one).round() as i64)
            .collect();
        let extreme = |sign: i64| {
            let gain = |input: usize| (sign * row[input]).max(0);
            let mut squares: Vec<i64> = (0..64)
                .map(|s| (0..12).map(|p| gain(p * 64 + s)).max().unwrap())
                .collect();
            squares.sort_by(|a, b| b.cmp(a));
            let en_passant = (0..64).map(|s| gain(12 * 64 + s)).max().unwrap();
            let rest = THREATS.chain(14 * 64..INPUTS).map(gain).sum::<i64>();
            squares[..32].iter().sum::<i64>() + en_passant + rest
        };
        let bias = (layer.bias[neuron] * one + ((1i64 << shift) >> 1) as f32).round() as i64;
        (bias - extreme(-1), bias + extreme(1))
    }
}
