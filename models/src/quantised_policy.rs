//! Integer inference of a policy, by the first layer and the output rows of [`QuantisedNetwork`].
//!
//! [`QuantisedNetwork`]: crate::QuantisedNetwork

use crate::accumulator::{ACTIVATION_MAX, BLOCK};
use crate::layers::{First, Output};
use crate::scales::first_shift;
use crate::{
    Accumulator, Activation, Architecture, Feature, Features, INPUTS, Kernel, Layer, NetError,
    POLICY_ROWS, PolicyMove, PolicyNetwork, RatingBand, View, softmax,
};

/// Policy network of integers, ready to play.
#[derive(Clone, Debug)]
pub struct QuantisedPolicy {
    pub(crate) first: First,
    /// Accumulator of an empty board, by rating band.
    bands: Vec<Accumulator>,
    /// Output layer, each row at its own scale.
    rows: Vec<Output>,
    kernel: Kernel,
}

impl QuantisedPolicy {
    /// Quantises a policy for [`Kernel::best`].
    ///
    /// # Errors
    /// [`NetError::NotFinite`], or [`NetError::Unquantisable`] if a sum could overflow.
    pub fn new(policy: &PolicyNetwork) -> Result<QuantisedPolicy, NetError> {
        policy.check_finite()?;
        let neurons = policy.neurons();
        let architecture = architecture(neurons);
        // With the bands in the bias: every sum of the layer is one of these, or between.
        let band_weight =
            |band: RatingBand, neuron: usize| policy.inputs[band.input() * neurons + neuron];
        let extreme = |choose: fn(f32, f32) -> f32, from: f32| {
            let bias = |neuron: usize| {
                let bands = RatingBand::all().map(|band| band_weight(band, neuron));
                policy.bias[neuron] + bands.fold(from, choose)
            };
            first_layer(policy, (0..neurons).map(bias).collect())
        };
        let highest = extreme(f32::max, f32::NEG_INFINITY);
        let lowest = extreme(f32::min, f32::INFINITY);
        let finest = First::finest_shift(architecture.activation);
        let shift = first_shift(&highest, finest)?.min(first_shift(&lowest, finest)?);
        let band_bias = |band: RatingBand| {
            let bias = (0..neurons).map(|neuron| policy.bias[neuron] + band_weight(band, neuron));
            First::bias(&bias.collect::<Vec<_>>(), architecture, shift)
        };
        let row = |row: usize| {
            let layer = Layer {
                weight: policy.moves[row * neurons..][..neurons].to_vec(),
                bias: vec![policy.move_bias[row]],
            };
            Output::new(&layer, architecture)
        };
        Ok(QuantisedPolicy {
            first: First::at_shift(
                &first_layer(policy, policy.bias.clone()),
                architecture,
                shift,
            ),
            bands: RatingBand::all().map(band_bias).collect(),
            rows: (0..POLICY_ROWS).map(row).collect::<Result<_, _>>()?,
            kernel: Kernel::best(),
        })
    }

    /// Returns the policy on another kernel.
    pub fn with_kernel(self, kernel: Kernel) -> QuantisedPolicy {
        QuantisedPolicy { kernel, ..self }
    }

    /// Returns the number of blocks of the hidden layer.
    pub(crate) fn blocks(&self) -> usize {
        self.first.blocks
    }

    /// Returns an output row.
    #[inline]
    pub(crate) fn row(&self, row: usize) -> &Output {
        &self.rows[row]
    }

    /// Returns the logits of legal `moves` by a mover of a rating band, given all active features
    /// of the position.
    pub fn logits(&self, features: &[Feature], band: RatingBand, moves: &[PolicyMove]) -> Vec<f32> {
        let mut accumulator = Accumulator::ZERO;
        let bias = &self.bands[band.index()];
        self.kernel
            .update(&self.first, bias, (features, &[]), &mut accumulator);
        let mut logits = Vec::with_capacity(moves.len());
        self.kernel.policy(self, &accumulator, moves, &mut logits);
        logits
    }

    /// Returns the probabilities of legal `moves`, the softmax of their [`logits`](Self::logits).
    pub fn probabilities(
        &self,
        features: &[Feature],
        band: RatingBand,
        moves: &[PolicyMove],
    ) -> Vec<f32> {
        softmax(self.logits(features, band, moves))
    }
}

/// Returns the architecture of the hidden layer: one view of squared clipped sums.
fn architecture(neurons: usize) -> Architecture {
    Architecture {
        features: Features::All,
        view: View::Mover,
        mirrored: false,
        first: neurons,
        activation: Activation::SquaredClippedRelu,
        second: None,
        third: None,
        buckets: 1,
    }
}

/// Returns the hidden layer without the rating bands, `[neurons, INPUTS]`.
fn first_layer(policy: &PolicyNetwork, bias: Vec<f32>) -> Layer {
    let neurons = policy.neurons();
    let weight = |index: usize| policy.inputs[index % INPUTS * neurons + index / INPUTS];
    Layer {
        weight: (0..neurons * INPUTS).map(weight).collect(),
        bias,
    }
}

impl Output {
    /// Returns a sum as a float; one is [`ACTIVATION_MAX`]` << shift`.
    #[inline(always)]
    pub(crate) fn unscaled(&self, sum: i32) -> f32 {
        (sum + self.bias) as f32 / (ACTIVATION_MAX << self.shift) as f32
    }
}

const _: () = assert!(crate::MAX_POLICY_NEURONS.is_multiple_of(BLOCK));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MAX_POLICY_NEURONS, MoveIndex, Piece, Random, Square};

    /// Returns distinct features of a possible position: `pieces` men, check, and castling rights.
    fn features(random: &mut Random, pieces: usize) -> Vec<Feature> {
        use crate::{CastlingSide, Color::*};
        let piece = |square: usize, random: &mut Random| {
            let color = [White, Black][random.below(2)];
            let square = Square::new(square as u8).unwrap();
            Feature::piece(White, color, Piece::ALL[random.below(6)], square)
        };
        let squares = (0..pieces).map(|index| (index * 29) % 64);
        let mut features: Vec<Feature> = squares.map(|at| piece(at, random)).collect();
        features.push(Feature::IN_CHECK);
        features.push(Feature::castling(White, Black, CastlingSide::Queen));
        features
    }

    /// Returns `count` moves, of all output rows in turn.
    fn moves(count: usize) -> Vec<PolicyMove> {
        let squares = (0..64).flat_map(|from| (0..64).map(move |to| (from, to)));
        let index = |(from, to)| {
            let square = |index| Square::new(index).unwrap();
            MoveIndex::new(crate::Color::White, square(from), square(to), None)
        };
        let indices: Vec<MoveIndex> = squares.filter_map(index).collect();
        let mv = |number: usize| {
            PolicyMove::testing(indices[number * 7 % indices.len()], number, number)
        };
        (0..count).map(mv).collect()
    }

    #[test]
    fn all_kernels_give_the_same_logits() {
        let mut random = Random(5);
        let sizes: &[usize] = match cfg!(miri) {
            true => &[33],
            false => &[1, 33, 256, 500, MAX_POLICY_NEURONS],
        };
        for (seed, &neurons) in sizes.iter().enumerate() {
            let mut policy = PolicyNetwork::random(neurons, seed as u64);
            // Up to the limits of the types, in half of the rows.
            for (index, weight) in policy.moves.iter_mut().enumerate() {
                if index / neurons % 2 == 0 {
                    *weight = 15.7 * weight.signum();
                }
            }
            policy.bias[0] = 200.0;
            let quantised = QuantisedPolicy::new(&policy).unwrap();
            let features = features(&mut random, 32);
            let moves = moves(if cfg!(miri) { 3 } else { 600 });
            for rating in [None, Some(600), Some(2500)] {
                let band = RatingBand::of(rating);
                let logits = |kernel| {
                    let policy = quantised.clone().with_kernel(kernel);
                    policy.logits(&features, band, &moves)
                };
                let kernels = Kernel::available();
                let scalar = logits(*kernels.last().unwrap());
                for kernel in kernels {
                    assert_eq!(logits(kernel), scalar, "{kernel}, {neurons} neurons");
                }
            }
        }
    }

    #[test]
    fn probabilities_are_near_those_of_floats() {
        let mut random = Random(9);
        for seed in 0..if cfg!(miri) { 1 } else { 20 } {
            let policy = PolicyNetwork::random(if cfg!(miri) { 16 } else { 256 }, seed);
            let quantised = QuantisedPolicy::new(&policy).unwrap();
            let features = features(&mut random, 20);
            let moves = moves(40);
            for rating in [None, Some(600), Some(2500)] {
                let band = RatingBand::of(rating);
                let active = features.iter().map(|feature| feature.index());
                let floats = policy.probabilities(active.chain([band.input()]), &moves);
                let found = quantised.probabilities(&features, band, &moves);
                for (found, float) in found.iter().zip(&floats) {
                    assert!((found / float).ln().abs() < 0.05, "{found} {float}");
                }
            }
        }
    }

    #[test]
    fn bands_count_in_the_bound_of_sums() {
        let mut policy = PolicyNetwork::random(8, 1);
        assert_eq!(QuantisedPolicy::new(&policy).unwrap().first.shift, 4);
        let band = RatingBand::of(Some(2500)).input();
        policy.inputs[8 * band] = -240.0;
        assert_eq!(QuantisedPolicy::new(&policy).unwrap().first.shift, 0);
        policy.inputs[8 * band] = -260.0;
        let error = QuantisedPolicy::new(&policy).unwrap_err();
        assert!(
            matches!(error, NetError::Unquantisable { layer: 0, .. }),
            "{error}"
        );
        policy.inputs[8 * band] = f32::NAN;
        let error = QuantisedPolicy::new(&policy).unwrap_err();
        assert_eq!(error, NetError::NotFinite("first.weight".to_string()));
    }
}
