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

use crate::accumulator::ACTIVATION_MAX;
use crate::layers::{First, Fourth, Second, Third};
use crate::{Accumulator, Feature, Kernel, MAX_FIRST, MAX_LATER, NetError, Network};

/// The network as integers, ready to play.
#[derive(Clone, Debug)]
pub struct QuantisedNetwork {
    pub(crate) first: First,
    pub(crate) second: Second,
    pub(crate) third: Third,
    pub(crate) fourth: Fourth,
    kernel: Kernel,
    counts_threats: bool,
}

impl QuantisedNetwork {
    /// Quantises a network, to run on [`Kernel::best`].
    ///
    /// # Errors
    /// [`NetError::TooLarge`], [`NetError::NotFinite`], or
    /// [`NetError::Unquantisable`] where a sum could overflow.
    pub fn new(network: &Network) -> Result<QuantisedNetwork, NetError> {
        let shape = network.shape();
        if shape.first > MAX_FIRST || shape.second > MAX_LATER || shape.third > MAX_LATER {
            return Err(NetError::TooLarge { found: shape });
        }
        network.check_finite()?;
        let [first, second, third, fourth] = network.layers();
        let second = Second::new(second)?;
        let one = ACTIVATION_MAX << second.shift;
        let first = First::new(first)?;
        Ok(QuantisedNetwork {
            counts_threats: first.counts_threats(),
            first,
            third: Third::new(third, one)?,
            fourth: Fourth::new(fourth, one)?,
            second,
            kernel: Kernel::best(),
        })
    }

    /// Reads a safetensors net and quantises it.
    ///
    /// # Errors
    /// As [`Network::from_bytes`] and [`QuantisedNetwork::new`].
    pub fn from_bytes(bytes: &[u8]) -> Result<QuantisedNetwork, NetError> {
        QuantisedNetwork::new(&Network::from_bytes(bytes)?.0)
    }

    /// The same network on another kernel.
    pub fn with_kernel(self, kernel: Kernel) -> QuantisedNetwork {
        QuantisedNetwork { kernel, ..self }
    }

    /// What it runs on.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Whether the value depends on the [`Threats`](crate::Threats): if not, nobody
    /// need look for them.
    #[inline]
    pub fn counts_threats(&self) -> bool {
        self.counts_threats
    }

    /// The accumulator of a board from nothing, all but its transient features.
    pub fn accumulator(&self, features: &[Feature]) -> Accumulator {
        let mut accumulator = Accumulator::ZERO;
        self.update(&self.first.bias, features, &[], &mut accumulator);
        accumulator
    }

    /// Makes `child` the accumulator of a board that has other features than
    /// `parent`'s board: some `added`, some `removed`. It is fastest for what
    /// most moves change.
    #[inline]
    pub fn update(
        &self,
        parent: &Accumulator,
        added: &[Feature],
        removed: &[Feature],
        child: &mut Accumulator,
    ) {
        self.kernel
            .update(&self.first, parent, (added, removed), child);
    }

    /// The value in centipawns, from the view of the side to move, to which
    /// the accumulator must belong. `transient` are the features that change
    /// with every move and are therefore never in the accumulator: the
    /// en-passant square, the threats and the check flag.
    #[inline]
    pub fn evaluate(&self, accumulator: &Accumulator, transient: &[Feature]) -> i32 {
        self.kernel.evaluate(self, accumulator, transient)
    }

    /// The value in centipawns of all the features of a position, from nothing.
    pub fn evaluate_features(&self, features: &[Feature]) -> i32 {
        self.evaluate(&self.accumulator(features), &[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bound, CastlingSide, Color, Layer, Piece, Shape, Square, Threats};

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
            let integer = quantised.evaluate_features(&position());
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
        let accumulator = quantised.accumulator(&position());
        let before = accumulator.clone();
        let transient = quantised.evaluate(&accumulator, &[Feature::IN_CHECK]);
        assert_eq!(accumulator, before);
        let mut checked = position();
        checked.push(Feature::IN_CHECK);
        assert_eq!(quantised.evaluate_features(&checked), transient);
        assert_ne!(quantised.evaluate(&accumulator, &[]), transient);
    }

    #[test]
    fn only_nets_of_the_present_layout_count_threats() {
        let net = |bytes: &[u8]| QuantisedNetwork::from_bytes(bytes).unwrap();
        assert!(net(include_bytes!("../default.safetensors")).counts_threats());
        for before in [
            &include_bytes!("../games1191.safetensors")[..],
            include_bytes!("../linear.safetensors"),
        ] {
            let net = net(before);
            assert!(!net.counts_threats());
            let threats: Vec<Feature> = Threats::ALL.features().collect();
            let accumulator = net.accumulator(&position());
            let value = net.evaluate(&accumulator, &[]);
            assert_eq!(net.evaluate(&accumulator, &threats), value);
        }
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
                    let integer = quantised.evaluate_features(&[]);
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
        assert_eq!(error, NetError::TooLarge { found: shape });
    }
}
