//! Integer inference (NNUE).
//!
//! The first layer is a sum of the columns of active inputs, kept in an [`Accumulator`] of i16 that
//! a move updates by a few columns. Up to three small dense layers follow. Scales are powers of two
//! (times 127), each the largest for which no sum can overflow, proved from the weights when a net
//! is loaded (`scales.rs`). Integer sums do not depend on their order, so every platform gives the
//! same centipawns.
//!
//! | stage | type | one is |
//! |---|---|---|
//! | accumulator | i16 | `127 << first_shift` |
//! | first activation | 0..=127 | 127; of products 127 * 127 / 128 |
//! | second layer's weights | i8 range | `1 << second_shift`; of products 128 / 127 of it |
//! | second and third activation | 0..=`127 << second_shift` | `127 << second_shift` |
//! | third and fourth layer's weights | i16 | `1 << weight_shift` |

use crate::layers::{First, Lanes, Stack};
use crate::{
    Accumulator, Architecture, Feature, Kernel, Layer, MAX_FIRST, MAX_LATER, NetError, Network,
};

/// Most pieces on a board.
const MAX_PIECES: usize = 32;

/// Network of integers, ready to play.
#[derive(Clone, Debug)]
pub struct QuantisedNetwork {
    pub(crate) first: First,
    /// Layers behind the first, by bucket.
    pub(crate) stacks: Vec<Stack>,
    /// Bucket by number of pieces; a table, since dividing takes as long as a layer.
    buckets: [u8; MAX_PIECES + 1],
    architecture: Architecture,
    /// Accumulators of a position: one or two.
    pub(crate) views: usize,
    /// Blocks of the activations of a view.
    pub(crate) activations: usize,
    kernel: Kernel,
    counts_threats: bool,
}

/// Input of [`QuantisedNetwork::evaluate`].
#[derive(Clone, Copy, Debug)]
pub struct Accumulated<'a> {
    /// Accumulator of the side to move.
    pub own: &'a Accumulator,
    /// Accumulator of the other side; required if the network has both views
    /// ([`Architecture::view`]).
    pub other: Option<&'a Accumulator>,
    /// Features that change with every move and are never in accumulators, from the side to move's
    /// point of view: the en-passant square, the threats and the check flag. At most
    /// [`MAX_TRANSIENT`](crate::MAX_TRANSIENT). With a [mirrored](Architecture::mirrored)
    /// accumulator none may change when mirrored: a position with an en-passant square is evaluated
    /// from scratch.
    pub transient: &'a [Feature],
    /// Number of pieces on the board, kings and pawns included.
    pub pieces: usize,
}

impl QuantisedNetwork {
    /// Quantises a network for [`Kernel::best`].
    ///
    /// # Errors
    /// [`NetError::TooLarge`], [`NetError::NotFinite`], or [`NetError::Unquantisable`] if a sum
    /// could overflow.
    pub fn new(network: &Network) -> Result<QuantisedNetwork, NetError> {
        let architecture = network.architecture();
        if !QuantisedNetwork::fits(architecture) {
            return Err(NetError::TooLarge {
                found: architecture,
            });
        }
        network.check_finite()?;
        let first = First::new(&network.layers()[0], architecture)?;
        let stack = |bucket| {
            let layers: Vec<Layer> = network.stack(bucket).collect();
            Stack::new(&layers, architecture)
        };
        let stacks = (0..architecture.buckets).map(stack);
        Ok(QuantisedNetwork {
            counts_threats: first.counts_threats(),
            first,
            stacks: stacks.collect::<Result<_, NetError>>()?,
            buckets: std::array::from_fn(|pieces| architecture.bucket(pieces) as u8),
            architecture,
            views: architecture.views(),
            activations: Lanes::of(architecture).blocks,
            kernel: Kernel::best(),
        })
    }

    /// Returns whether this build supports networks of these sizes.
    pub fn fits(architecture: Architecture) -> bool {
        let later = [architecture.second, architecture.third];
        architecture.first <= MAX_FIRST && later.into_iter().flatten().all(|size| size <= MAX_LATER)
    }

    /// Reads a safetensors net and quantises it.
    ///
    /// # Errors
    /// As [`Network::from_bytes`] and [`QuantisedNetwork::new`].
    pub fn from_bytes(bytes: &[u8]) -> Result<QuantisedNetwork, NetError> {
        QuantisedNetwork::new(&Network::from_bytes(bytes)?.0)
    }

    /// Returns the network on another kernel.
    pub fn with_kernel(self, kernel: Kernel) -> QuantisedNetwork {
        QuantisedNetwork { kernel, ..self }
    }

    /// Returns the kernel.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Returns the architecture.
    #[inline]
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// Returns the layers behind the first for a position with `pieces` pieces.
    #[inline]
    pub(crate) fn stack(&self, pieces: usize) -> &Stack {
        &self.stacks[usize::from(self.buckets[pieces.min(MAX_PIECES)])]
    }

    /// Returns whether the value depends on the [`Threats`](crate::Threats); if not, callers need
    /// not compute them.
    #[inline]
    pub fn counts_threats(&self) -> bool {
        self.counts_threats
    }

    /// Computes the accumulator of a board from scratch. `features` exclude transient ones and are
    /// in the form of the first layer ([`Architecture::inputs`]).
    pub fn accumulator(&self, features: &[Feature]) -> Accumulator {
        let mut accumulator = Accumulator::ZERO;
        self.update(&self.first.bias, features, &[], &mut accumulator);
        accumulator
    }

    /// Sets `child` to `parent` with features `added` and `removed`. Fastest for the changes of
    /// most moves.
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

    /// Returns the value in centipawns, from the side to move's point of view.
    ///
    /// # Panics
    /// If the network has both views and the other accumulator is missing.
    #[inline]
    pub fn evaluate(&self, position: &Accumulated) -> i32 {
        self.kernel.evaluate(self, position)
    }

    /// Evaluates all features of a position from scratch, in centipawns.
    pub fn evaluate_features(&self, features: &[Feature]) -> i32 {
        self.evaluate_split(features, &[])
    }

    /// Evaluates a position from scratch with its [transient](Accumulated::transient) features
    /// apart, in centipawns.
    pub fn evaluate_split(&self, accumulated: &[Feature], transient: &[Feature]) -> i32 {
        let views = self.architecture.inputs(accumulated).into_iter();
        let views: Vec<Accumulator> = views.map(|inputs| self.accumulator(&inputs)).collect();
        let features = accumulated.iter().chain(transient);
        self.evaluate(&Accumulated {
            own: &views[0],
            other: views.get(1),
            transient,
            pieces: features.filter(|feature| feature.is_piece()).count(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::architectures;
    use crate::{Bound, CastlingSide, Color, Features, Piece, Square, Threats, View};

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
        let small = architectures().map(|architecture| (architecture, 9.0));
        for (architecture, most) in [(Architecture::ARTICLE, 3.0)].into_iter().chain(small) {
            for seed in 0..20 {
                let network = Network::random(architecture, seed);
                let quantised = QuantisedNetwork::new(&network).unwrap();
                let integer = quantised.evaluate_features(&position());
                let float = network.evaluate(&position()) * 100.0;
                assert!(
                    (integer as f32 - float).abs() <= most,
                    "{architecture}: {integer} against {float}"
                );
            }
        }
    }

    #[test]
    fn only_mirrored_networks_value_a_mirrored_position_the_same() {
        let mirror = |features: &[Feature]| -> Vec<Feature> {
            features.iter().map(|feature| feature.mirrored()).collect()
        };
        for architecture in architectures() {
            let [here, there] = [position(), mirror(&position())];
            let networks: Vec<Network> = (0..20)
                .map(|seed| Network::random(architecture, seed))
                .collect();
            let same = networks
                .iter()
                .all(|n| n.evaluate(&here) == n.evaluate(&there));
            assert_eq!(same, architecture.mirrored, "{architecture}");
            let same = networks.iter().all(|network| {
                let quantised = QuantisedNetwork::new(network).unwrap();
                quantised.evaluate_features(&here) == quantised.evaluate_features(&there)
            });
            assert_eq!(same, architecture.mirrored, "{architecture}");
        }
    }

    #[test]
    fn transient_features_affect_the_value() {
        for architecture in architectures() {
            let transient: Vec<Feature> = Threats::ALL.features().collect();
            let all = [position(), transient.clone()].concat();
            let mut changed = false;
            for seed in 0..20 {
                let network = Network::random(architecture, seed);
                let quantised = QuantisedNetwork::new(&network).unwrap();
                let with = quantised.evaluate_split(&position(), &transient);
                assert_eq!(quantised.evaluate_features(&all), with);
                changed |= quantised.evaluate_split(&position(), &[]) != with;
            }
            assert_eq!(
                changed,
                architecture.features == Features::All,
                "{architecture}"
            );
        }
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
            let with = net.evaluate_split(&position(), &threats);
            assert_eq!(with, net.evaluate_split(&position(), &[]));
        }
    }

    #[test]
    fn the_number_of_pieces_selects_the_bucket() {
        let architecture = Architecture {
            buckets: 8,
            ..Architecture::ARTICLE
        };
        let mut layers = Network::random(architecture, 1).layers().to_vec();
        // The output of each bucket is its index in pawns.
        layers[3].weight.fill(0.0);
        layers[3].bias = (0..8).map(|bucket| bucket as f32).collect();
        let network = Network::new(architecture, layers);
        let quantised = QuantisedNetwork::new(&network).unwrap();
        let pawn = |square| {
            let square = Square::new(square).unwrap();
            Feature::piece(Color::White, Color::White, Piece::Pawn, square)
        };
        for pieces in 2..=32 {
            let features: Vec<Feature> = (0..pieces).map(pawn).collect();
            let bucket = architecture.bucket(pieces.into());
            assert_eq!(network.evaluate(&features), bucket as f32);
            assert_eq!(quantised.evaluate_features(&features), 100 * bucket as i32);
        }
    }

    #[test]
    #[should_panic(expected = "both accumulators")]
    fn a_network_of_both_views_needs_both_accumulators() {
        let architecture = Architecture {
            view: View::Both,
            ..Architecture::ARTICLE
        };
        let quantised = QuantisedNetwork::new(&Network::random(architecture, 1)).unwrap();
        quantised.evaluate(&Accumulated {
            own: &quantised.accumulator(&position()),
            other: None,
            transient: &[],
            pieces: 3,
        });
    }

    /// Layer, bound, and a change of the layer that breaks only that bound.
    type Breaks = (usize, Bound, fn(&mut Layer));

    #[test]
    fn each_bound_is_enforced() {
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
            let mut layers = Network::random(Architecture::ARTICLE, 1).layers().to_vec();
            put(&mut layers[index]);
            match QuantisedNetwork::new(&Network::new(Architecture::ARTICLE, layers)) {
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

    /// The later sums at their widest: 515 a weight is at the edge of i32 for a second-layer shift
    /// of 6, which the first of the second layer's weights gives. With overflow checks on, as in
    /// tests, a sum beyond its type panics; and the value must match the floats.
    #[test]
    fn the_widest_sums_do_not_overflow() {
        for (weight, bias) in [(0.4, 2e5), (0.9, 9e5), (15.8, 2e6)] {
            for third in [1.0, 100.0, 515.0] {
                for sign in [1.0, -1.0] {
                    let mut layers = Network::random(Architecture::ARTICLE, 1).layers().to_vec();
                    layers[0].bias.fill(200.0);
                    layers[1].weight.fill(sign * weight);
                    layers[1].bias.fill(sign * bias);
                    layers[2].weight.fill(sign * third);
                    layers[2].bias.fill(sign * 30.0);
                    layers[3].weight.fill(sign * third);
                    layers[3].bias.fill(sign * 30.0);
                    let network = Network::new(Architecture::ARTICLE, layers);
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
    fn refuses_nan() {
        for layer in 0..4 {
            let mut layers = Network::random(Architecture::ARTICLE, 1).layers().to_vec();
            layers[layer].bias[0] = f32::NAN;
            let network = Network::new(Architecture::ARTICLE, layers);
            assert_eq!(
                QuantisedNetwork::new(&network).unwrap_err(),
                NetError::NotFinite(format!("layers.{layer}.bias"))
            );
        }
    }

    #[test]
    fn refuses_layers_that_are_too_wide() {
        for found in [
            Architecture::hidden([MAX_FIRST + 1, 32, 32]),
            Architecture::hidden([8, MAX_LATER + 1, 32]),
            Architecture::hidden([8, 32, MAX_LATER + 1]),
        ] {
            let error = QuantisedNetwork::new(&Network::random(found, 1)).unwrap_err();
            assert_eq!(error, NetError::TooLarge { found });
        }
    }
}
