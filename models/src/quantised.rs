//! Integer inference.
//!
//! The first layer is a sum of the active inputs' columns, kept in an
//! [`Accumulator`] of i16 that a move updates by a few columns. Then come three
//! small dense layers. Scales are powers of two (times 127), each the largest
//! for which no sum can overflow, proved from the weights when a net is
//! loaded. Integer sums have one value in any order, so every platform gives
//! the same centipawns.
//!
//! | stage | type | one is |
//! |---|---|---|
//! | accumulator | i16 | `127 << first_shift` |
//! | first activation | 0..=127 | 127 |
//! | second layer's weights | i8 range | `1 << second_shift` |
//! | second and third activation | 0..=`127 << second_shift` | `127 << second_shift` |
//! | third and fourth layer's weights | i16 | `1 << weight_shift` |

use crate::{Feature, INPUTS, Layer, NetError, Network};

/// The widest accumulator this build plays with, a multiple of 32 lanes.
pub const MAX_FIRST: usize = 512;
/// The widest second and third hidden layer this build plays with.
pub const MAX_LATER: usize = 32;

/// The top of a first activation: 7 bits, so that products of u8 and i8 can
/// be added in pairs without saturation.
const ACTIVATION_MAX: i32 = 127;

/// The first layer's sums for one view of a board.
///
/// An accumulator belongs to one side: it holds the features as that side
/// sees them. It never drifts: integers added and removed cancel exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub struct Accumulator([i16; MAX_FIRST]);

/// A small dense layer of the later kind: i16 weights, i32 sums.
#[derive(Clone, Debug)]
struct Dense {
    /// `[outputs][MAX_LATER]`, rows padded with zeros.
    weight: Vec<[i16; MAX_LATER]>,
    bias: Vec<i32>,
    /// log2 of the weights' scale.
    shift: u32,
}

/// The network as integers, ready to play.
#[derive(Clone, Debug)]
pub struct QuantisedNetwork {
    /// `[INPUTS][MAX_FIRST]`: one column an input, contiguous.
    columns: Vec<[i16; MAX_FIRST]>,
    first_bias: Accumulator,
    first_shift: u32,
    /// `[second][MAX_FIRST]`. i16 holding values of the i8 range: the
    /// compiler's multiply-add of i16 pairs is faster than widening bytes.
    second_weight: Vec<[i16; MAX_FIRST]>,
    second_bias: Vec<i32>,
    second_shift: u32,
    third: Dense,
    fourth: Dense,
}

impl QuantisedNetwork {
    /// Quantises a network.
    ///
    /// # Errors
    /// [`NetError::TooLarge`] or [`NetError::Unquantisable`].
    pub fn new(network: &Network) -> Result<QuantisedNetwork, NetError> {
        let shape = network.shape();
        if shape.first > MAX_FIRST || shape.second > MAX_LATER || shape.third > MAX_LATER {
            return Err(NetError::TooLarge {
                found: vec![shape.first, shape.second, shape.third],
            });
        }
        let [first, second, third, fourth] = network.layers();
        let first_shift = first_shift(first)?;
        let (columns, first_bias) = quantise_first(first, first_shift);
        let second_shift = second_shift(second)?;
        let scale = (1u32 << second_shift) as f32;
        let second_weight = (0..second.outputs())
            .map(|o| padded(second.row(o).iter().map(|&w| (w * scale).round() as i16)))
            .collect();
        let second_one = (ACTIVATION_MAX << second_shift) as f64;
        let second_bias = quantise_bias(second, second_one);
        Ok(QuantisedNetwork {
            columns,
            first_bias,
            first_shift,
            second_weight,
            second_bias,
            second_shift,
            third: Dense::new(third, 2, second_one)?,
            fourth: Dense::new(fourth, 3, second_one)?,
        })
    }

    /// Reads a safetensors net and quantises it.
    ///
    /// # Errors
    /// As [`Network::from_bytes`] and [`QuantisedNetwork::new`].
    pub fn from_bytes(bytes: &[u8]) -> Result<QuantisedNetwork, NetError> {
        QuantisedNetwork::new(&Network::from_bytes(bytes)?.0)
    }

    /// The accumulator of an empty board.
    pub fn bias(&self) -> Accumulator {
        self.first_bias.clone()
    }

    /// Switches an input on.
    #[inline]
    pub fn add(&self, accumulator: &mut Accumulator, feature: Feature) {
        let column = &self.columns[feature.index()];
        for (sum, weight) in accumulator.0.iter_mut().zip(column) {
            // Wrapping: between the steps of one move a sum may leave the
            // range that every whole position is proved to keep.
            *sum = sum.wrapping_add(*weight);
        }
    }

    /// Switches an input off.
    #[inline]
    pub fn remove(&self, accumulator: &mut Accumulator, feature: Feature) {
        let column = &self.columns[feature.index()];
        for (sum, weight) in accumulator.0.iter_mut().zip(column) {
            *sum = sum.wrapping_sub(*weight);
        }
    }

    /// The value in centipawns, from the view of the side to move, to which
    /// the accumulator must belong. `transient` are the features that change
    /// with every move and are therefore never in the accumulator: the
    /// en-passant square and the check flag.
    pub fn evaluate(&self, accumulator: &Accumulator, transient: &[Feature]) -> i32 {
        if transient.is_empty() {
            return self.propagate(accumulator);
        }
        let mut complete = accumulator.clone();
        for &feature in transient {
            self.add(&mut complete, feature);
        }
        self.propagate(&complete)
    }

    fn propagate(&self, accumulator: &Accumulator) -> i32 {
        let top = ACTIVATION_MAX as i16;
        let first = accumulator
            .0
            .map(|sum| (sum >> self.first_shift).clamp(0, top));
        let top = ACTIVATION_MAX << self.second_shift;
        let mut second = [0i16; MAX_LATER];
        for ((out, row), bias) in second
            .iter_mut()
            .zip(&self.second_weight)
            .zip(&self.second_bias)
        {
            *out = (bias + dot(row, &first)).clamp(0, top) as i16;
        }
        let mut third = [0i16; MAX_LATER];
        let rounding = (1i32 << self.third.shift) >> 1;
        for ((out, row), bias) in third
            .iter_mut()
            .zip(&self.third.weight)
            .zip(&self.third.bias)
        {
            let sum = bias + dot(row, &second);
            *out = ((sum.saturating_add(rounding)) >> self.third.shift).clamp(0, top) as i16;
        }
        let sum = self.fourth.bias[0] + dot(&self.fourth.weight[0], &third);
        let one = i64::from(top) << self.fourth.shift;
        let hundredfold = i64::from(sum) * 100;
        ((hundredfold + hundredfold.signum() * one / 2) / one) as i32
    }
}

#[inline]
fn dot<const N: usize>(a: &[i16; N], b: &[i16; N]) -> i32 {
    a.iter()
        .zip(b)
        .map(|(&x, &y)| i32::from(x) * i32::from(y))
        .sum()
}

/// The widest sum each neuron of the first layer can reach in any position,
/// in floats: its bias, on each square at most one piece and at most 32 in
/// all, one en-passant square, all flags. Returns `(lowest, highest)`.
fn first_layer_range(layer: &Layer, neuron: usize) -> (f64, f64) {
    let row = layer.row(neuron);
    let extreme = |sign: f64| -> f64 {
        let gain = |input: usize| (sign * f64::from(row[input])).max(0.0);
        let mut squares: Vec<f64> = (0..64)
            .map(|s| (0..12).map(|p| gain(p * 64 + s)).fold(0.0, f64::max))
            .collect();
        squares.sort_by(|a, b| b.total_cmp(a));
        let en_passant = (0..64).map(|s| gain(12 * 64 + s)).fold(0.0, f64::max);
        let flags: f64 = (14 * 64..INPUTS).map(gain).sum();
        squares[..32].iter().sum::<f64>() + en_passant + flags
    };
    let bias = f64::from(layer.bias[neuron]);
    (bias - extreme(-1.0), bias + extreme(1.0))
}

/// The largest shift for which no accumulator can leave i16.
fn first_shift(layer: &Layer) -> Result<u32, NetError> {
    let sums = (0..layer.outputs())
        .map(|neuron| first_layer_range(layer, neuron))
        .map(|(low, high)| high.max(-low));
    // Each weight has to fit by itself as well, whatever its neuron's bias.
    let terms = layer.weight.iter().chain(&layer.bias);
    let reach = sums
        .chain(terms.map(|&term| f64::from(term).abs()))
        .fold(0.0, f64::max);
    // Each of the at most MAX_ACTIVE + 1 terms is off by at most one half when
    // rounded, and the bias carries the rounding of the shift.
    let fits = |shift: u32| {
        let slack = crate::MAX_ACTIVE as f64 + f64::from(1u32 << shift);
        reach * f64::from(ACTIVATION_MAX << shift) + slack <= f64::from(i16::MAX)
    };
    (0..=5)
        .rev()
        .find(|&shift| fits(shift))
        .ok_or_else(|| NetError::Unquantisable {
            layer: 0,
            why: format!(
                "a neuron's sum can reach {reach:.1}, i16 holds {}",
                i16::MAX / 127
            ),
        })
}

fn quantise_first(layer: &Layer, shift: u32) -> (Vec<[i16; MAX_FIRST]>, Accumulator) {
    let one = (ACTIVATION_MAX << shift) as f32;
    let columns = (0..INPUTS)
        .map(|input| {
            padded((0..layer.outputs()).map(|o| (layer.row(o)[input] * one).round() as i16))
        })
        .collect();
    let rounding = ((1i32 << shift) >> 1) as f32;
    let bias = padded(
        layer
            .bias
            .iter()
            .map(|b| (b * one + rounding).round() as i16),
    );
    (columns, Accumulator(bias))
}

/// The largest shift for which the second layer's weights fit i8. At most 8,
/// so that its activations, `127 << shift`, fit i16.
fn second_shift(layer: &Layer) -> Result<u32, NetError> {
    let largest = layer.weight.iter().fold(0f32, |m, w| m.max(w.abs()));
    let fits = |shift: u32| {
        let one = f64::from(ACTIVATION_MAX << shift);
        // 512 products of at most 127 * 127 leave i32 room for such a bias.
        let bias = layer
            .bias
            .iter()
            .fold(0f64, |m, b| m.max(f64::from(b.abs())))
            * one;
        f64::from(largest) * f64::from(1u32 << shift) <= 127.0 && bias < 2e9
    };
    (3..=8)
        .rev()
        .find(|&shift| fits(shift))
        .ok_or_else(|| NetError::Unquantisable {
            layer: 1,
            why: format!("its largest weight is {largest:.1}, i8 holds 15.8 at the coarsest scale"),
        })
}

fn quantise_bias(layer: &Layer, one: f64) -> Vec<i32> {
    layer
        .bias
        .iter()
        .map(|&b| (f64::from(b) * one).round() as i32)
        .collect()
}

impl Dense {
    /// Quantises a layer whose inputs lie in `0..=activation_one`.
    fn new(layer: &Layer, index: usize, activation_one: f64) -> Result<Dense, NetError> {
        let fits = |shift: u32| {
            let scale = f64::from(1u32 << shift);
            (0..layer.outputs()).all(|o| {
                let row = layer.row(o);
                let weights: f64 = row
                    .iter()
                    .map(|&w| (f64::from(w) * scale).abs() + 0.5)
                    .sum();
                let bias = (f64::from(layer.bias[o]) * scale * activation_one).abs() + 1.0;
                let widest = row.iter().fold(0f64, |m, &w| m.max(f64::from(w).abs()));
                weights * activation_one + bias <= f64::from(i32::MAX)
                    && widest * scale <= f64::from(i16::MAX) - 1.0
            })
        };
        let shift =
            (4..=12)
                .rev()
                .find(|&shift| fits(shift))
                .ok_or_else(|| NetError::Unquantisable {
                    layer: index,
                    why: "a sum of its weights can leave i32 at the coarsest scale".to_string(),
                })?;
        let scale = (1u32 << shift) as f32;
        Ok(Dense {
            weight: (0..layer.outputs())
                .map(|o| padded(layer.row(o).iter().map(|&w| (w * scale).round() as i16)))
                .collect(),
            bias: quantise_bias(layer, f64::from(scale) * activation_one),
            shift,
        })
    }
}

fn padded<const N: usize>(values: impl Iterator<Item = i16>) -> [i16; N] {
    let mut array = [0; N];
    for (slot, value) in array.iter_mut().zip(values) {
        *slot = value;
    }
    array
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CastlingSide, Color, Piece, Shape, Square};

    fn position() -> Vec<Feature> {
        let square = |i| Square::new(i).unwrap();
        vec![
            Feature::piece(Color::White, Color::White, Piece::King, square(4)),
            Feature::piece(Color::White, Color::White, Piece::Rook, square(7)),
            Feature::piece(Color::White, Color::Black, Piece::King, square(60)),
            Feature::castling(Color::White, Color::White, CastlingSide::King),
        ]
    }

    #[test]
    fn agrees_with_floats_within_a_few_centipawns() {
        for seed in 0..20 {
            let network = Network::random(Shape::DEFAULT, seed);
            let quantised = QuantisedNetwork::new(&network).unwrap();
            let mut accumulator = quantised.bias();
            for feature in position() {
                quantised.add(&mut accumulator, feature);
            }
            let integer = quantised.evaluate(&accumulator, &[]);
            let float = network.evaluate(&position()) * 100.0;
            assert!(
                (integer as f32 - float).abs() <= 3.0,
                "{integer} against {float}"
            );
        }
    }

    #[test]
    fn transient_features_count_without_staying() {
        let quantised = QuantisedNetwork::new(&Network::random(Shape::DEFAULT, 3)).unwrap();
        let mut accumulator = quantised.bias();
        for feature in position() {
            quantised.add(&mut accumulator, feature);
        }
        let before = accumulator.clone();
        let transient = quantised.evaluate(&accumulator, &[Feature::IN_CHECK]);
        assert_eq!(accumulator, before);
        quantised.add(&mut accumulator, Feature::IN_CHECK);
        assert_eq!(quantised.evaluate(&accumulator, &[]), transient);
        quantised.remove(&mut accumulator, Feature::IN_CHECK);
        assert_eq!(accumulator, before);
    }

    #[test]
    fn refuses_what_could_overflow() {
        for layer in 0..4 {
            let mut layers = Network::random(Shape::DEFAULT, 1).layers().clone();
            layers[layer].weight.fill(3e4);
            let network = Network::new(Shape::DEFAULT, layers);
            let error = QuantisedNetwork::new(&network).unwrap_err();
            assert!(
                matches!(error, NetError::Unquantisable { layer: l, .. } if l == layer),
                "{error}"
            );
        }
    }

    #[test]
    fn refuses_what_it_has_no_room_for() {
        let shape = Shape {
            first: 513,
            ..Shape::DEFAULT
        };
        let error = QuantisedNetwork::new(&Network::random(shape, 1)).unwrap_err();
        assert_eq!(
            error,
            NetError::TooLarge {
                found: vec![513, 32, 32]
            }
        );
    }
}
