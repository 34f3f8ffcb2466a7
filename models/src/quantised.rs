//! Integer inference.
//!
//! The first layer is a sum of the active inputs' columns, kept in an
//! [`Accumulator`] of i16 that a move updates by a few columns. Then come three
//! small dense layers. Scales are powers of two (times 127), each the largest
//! for which no sum can overflow, proved from the weights when a net is loaded
//! (`scales.rs`). Integer sums have one value in any order, so every platform
//! gives the same centipawns.
//!
//! | stage | type | one is |
//! |---|---|---|
//! | accumulator | i16 | `127 << first_shift` |
//! | first activation | 0..=127 | 127 |
//! | second layer's weights | i8 range | `1 << second_shift` |
//! | second and third activation | 0..=`127 << second_shift` | `127 << second_shift` |
//! | third and fourth layer's weights | i16 | `1 << weight_shift` |

use crate::{Feature, INPUTS, Layer, NetError, Network, scales};

/// The widest accumulator this build plays with, a multiple of 32 lanes.
pub const MAX_FIRST: usize = 512;
/// The widest second and third hidden layer this build plays with.
pub const MAX_LATER: usize = 32;

/// The top of a first activation: 7 bits, so that products of u8 and i8 can
/// be added in pairs without saturation.
pub(crate) const ACTIVATION_MAX: i32 = 127;

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
    /// [`NetError::TooLarge`], [`NetError::NotFinite`], or
    /// [`NetError::Unquantisable`] where a sum could overflow.
    pub fn new(network: &Network) -> Result<QuantisedNetwork, NetError> {
        let shape = network.shape();
        if shape.first > MAX_FIRST || shape.second > MAX_LATER || shape.third > MAX_LATER {
            return Err(NetError::TooLarge {
                found: vec![shape.first, shape.second, shape.third],
            });
        }
        network.check_finite()?;
        let [first, second, third, fourth] = network.layers();
        let first_shift = scales::first_shift(first)?;
        let (columns, first_bias) = quantise_first(first, first_shift);
        let second_shift = scales::second_shift(second)?;
        let scale = (1u32 << second_shift) as f32;
        let second_weight = (0..second.outputs())
            .map(|o| padded(second.row(o).iter().map(|&w| (w * scale).round() as i16)))
            .collect();
        let second_one = ACTIVATION_MAX << second_shift;
        let second_bias = quantise_bias(second, second_one.into());
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
            let sum = bias + dot(row, &second) + rounding;
            *out = (sum >> self.third.shift).clamp(0, top) as i16;
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

fn quantise_bias(layer: &Layer, one: f64) -> Vec<i32> {
    layer
        .bias
        .iter()
        .map(|&b| (f64::from(b) * one).round() as i32)
        .collect()
}

impl Dense {
    /// Quantises layer `index`, whose inputs lie in `0..=activation_one`.
    fn new(layer: &Layer, index: usize, activation_one: i32) -> Result<Dense, NetError> {
        let shift = scales::later_shift(layer, index, activation_one)?;
        let scale = (1u32 << shift) as f32;
        Ok(Dense {
            weight: (0..layer.outputs())
                .map(|o| padded(layer.row(o).iter().map(|&w| (w * scale).round() as i16)))
                .collect(),
            bias: quantise_bias(layer, f64::from(scale) * f64::from(activation_one)),
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
    use crate::{Bound, CastlingSide, Color, Piece, Shape, Square};

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

    /// Layer, bound, and what is put into the layer to break that bound alone.
    type Breaks = (usize, Bound, fn(&mut Layer));

    #[test]
    fn each_bound_refuses_what_breaks_it() {
        let breaks: [Breaks; 8] = [
            (0, Bound::Sum, |layer| layer.weight[..768].fill(9.0)),
            (0, Bound::Sum, |layer| layer.bias[3] = -258.0),
            (0, Bound::Weight, |layer| {
                layer.bias.fill(-100.0);
                layer.weight[900] = 270.0;
            }),
            (1, Bound::Weight, |layer| layer.weight[7] = -16.0),
            (1, Bound::Bias, |layer| layer.bias[7] = 3e6),
            (2, Bound::Sum, |layer| layer.weight.fill(200.0)),
            (2, Bound::Weight, |layer| layer.weight[7] = 2100.0),
            (3, Bound::Sum, |layer| layer.bias[0] = -5000.0),
        ];
        for (index, expected, put) in breaks {
            let mut layers = Network::random(Shape::DEFAULT, 1).layers().clone();
            put(&mut layers[index]);
            match QuantisedNetwork::new(&Network::new(Shape::DEFAULT, layers)) {
                Err(NetError::Unquantisable {
                    layer,
                    bound,
                    reach,
                    most,
                }) => {
                    assert_eq!((layer, bound), (index, expected));
                    assert!(reach > most, "{reach} {most}");
                }
                other => panic!("layer {index}, {expected}: {:?}", other.err()),
            }
        }
    }

    /// The sums of the later layers at their widest; those of 515 a weight are
    /// at the edge of i32 where the second layer's shift is 6, as with the
    /// first of its weights. With overflow checks on, as tests are built, a sum
    /// beyond its type panics; and the value is the float's.
    #[test]
    fn the_widest_sums_do_not_overflow() {
        for (weight, bias) in [(0.4, 2e5), (0.9, 9e5), (15.8, 2e6)] {
            for third in [1.0, 100.0, 515.0] {
                for sign in [1.0, -1.0] {
                    let mut layers = Network::random(Shape::DEFAULT, 1).layers().clone();
                    layers[0].bias.fill(200.0);
                    layers[1].weight.fill(sign * weight);
                    layers[1].bias.fill(sign * bias);
                    layers[2].weight.fill(sign * third);
                    layers[2].bias.fill(sign * 30.0);
                    layers[3].weight.fill(sign * third);
                    layers[3].bias.fill(sign * 30.0);
                    let network = Network::new(Shape::DEFAULT, layers);
                    let quantised = QuantisedNetwork::new(&network).unwrap();
                    let integer = quantised.evaluate(&quantised.bias(), &[]);
                    let float = network.evaluate(&[]) * 100.0;
                    assert!(
                        (integer as f32 - float).abs() <= 1.0,
                        "{integer} against {float}"
                    );
                }
            }
        }
    }

    #[test]
    fn refuses_what_is_no_number() {
        for layer in 0..4 {
            let mut layers = Network::random(Shape::DEFAULT, 1).layers().clone();
            layers[layer].bias[0] = f32::NAN;
            let network = Network::new(Shape::DEFAULT, layers);
            assert_eq!(
                QuantisedNetwork::new(&network).unwrap_err(),
                NetError::NotFinite(format!("layers.{layer}.bias"))
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
