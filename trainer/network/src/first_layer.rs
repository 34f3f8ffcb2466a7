//! Feature factorization of the first layer (nnue-pytorch, docs/nnue.md), for faster learning from
//! few games.
//!
//! A knight on c3 and a knight on d4 have much in common, but as separate inputs they would learn
//! it separately. In training, an input's weights are therefore a sum: its own, and shared ones of
//! all inputs with the same piece, with the same piece and rank, and with the same piece and
//! distance from the edge files. The net's file holds the sum. A threat belongs to no square and
//! shares nothing; it has a shared row to itself, which learns at full speed where own weights are
//! held back.

use burn::module::{Module, Param};
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};
use burn_flex::{Flex, FlexDevice};
use features::{PIECES, SHARED};
use models::{Architecture, INPUTS, Layer, Network, Piece, material};

use crate::factorised::SumWeights;
#[cfg(feature = "gpu")]
use crate::tensors::filled;
use crate::tensors::{Cpu, clip_parameter, floats};

/// Bound of a weight's absolute value. At most 32 pieces, an en-passant square, 30 threats and 6
/// flags are on at once; with the bias that makes 70 terms, a sum of at most 112, which the
/// engine's i16 accumulators hold at 254 steps to the unit.
pub const BOUND: f32 = 1.6;

/// Initial change of a first-layer neuron's sum for one extra pawn.
const PAWN_AT_START: f32 = 0.05;
/// Initial bias, the sum at equal material: inside the clipped ReLU's range.
const BIAS_AT_START: f32 = 0.3;

/// Weights and biases from the 902 inputs to the first hidden layer.
#[derive(Module, Debug)]
pub struct FirstLayer<B: Backend> {
    /// Each input's own weights, `[INPUTS, outputs]`.
    pub own: Param<Tensor<B, 2>>,
    /// Factor of `own` in the sum: below 1, own weights learn more slowly than shared ones.
    own_scale: f32,
    /// Weights shared by inputs, `[SHARED, outputs]`.
    pub shared: Param<Tensor<B, 2>>,
    /// `[outputs]`.
    pub bias: Param<Tensor<B, 1>>,
}

impl FirstLayer<Flex> {
    /// Returns a layer with the weights of `layer` as own weights, and shared weights of zero.
    pub fn new(layer: &Layer) -> FirstLayer<Flex> {
        let device = &FlexDevice;
        let outputs = layer.outputs();
        let weight = TensorData::new(layer.weight.clone(), [outputs, INPUTS]);
        let own = Tensor::from_data(weight, device).transpose();
        let bias = TensorData::new(layer.bias.clone(), [outputs]);
        FirstLayer {
            own: Param::from_tensor(own),
            own_scale: 1.0,
            shared: Param::from_tensor(Tensor::zeros([SHARED, outputs], device)),
            bias: Param::from_tensor(Tensor::from_data(bias, device)),
        }
    }

    /// Returns an initial layer that counts material: half of the neurons for the mover and half
    /// against, with small random differences. Its weights do not depend on squares yet.
    pub fn fresh(architecture: Architecture, seed: u64) -> FirstLayer<Flex> {
        let device = &FlexDevice;
        let outputs = architecture.first;
        let random = Network::random(architecture, seed);
        let random = &random.layers()[0];
        let mut shared: Vec<f32> = random.weight[..SHARED * outputs]
            .iter()
            .map(|w| 0.1 * w)
            .collect();
        for (piece, row) in shared.chunks_exact_mut(outputs).take(PIECES).enumerate() {
            for (neuron, weight) in row.iter_mut().enumerate() {
                let sign = if neuron % 2 == 0 { 1.0 } else { -1.0 };
                *weight += sign * PAWN_AT_START * worth(piece) as f32 / 100.0;
            }
        }
        let bias: Vec<f32> = random.bias.iter().map(|b| BIAS_AT_START + b).collect();
        let shared = Tensor::from_data(TensorData::new(shared, [SHARED, outputs]), device);
        let bias = Tensor::from_data(TensorData::new(bias, [outputs]), device);
        FirstLayer {
            own: Param::from_tensor(Tensor::zeros([INPUTS, outputs], device)),
            own_scale: 1.0,
            shared: Param::from_tensor(shared),
            bias: Param::from_tensor(bias),
        }
    }

    /// Changes `own_scale`, rescaling `own` so that the effective weights stay the same.
    pub fn with_own_scale(self, own_scale: f32) -> FirstLayer<Flex> {
        let own = self.own.val() * (self.own_scale / own_scale);
        // Copied by value, so that gradients refer to the new tensor.
        let own = Tensor::from_data(own.into_data(), &self.own.device());
        FirstLayer {
            own: Param::from_tensor(own),
            own_scale,
            ..self
        }
    }

    /// Returns the layer with the summed weights.
    pub fn layer(&self) -> Layer {
        Layer {
            weight: floats(self.weight().transpose()),
            bias: floats(self.bias.val()),
        }
    }

    /// Returns the factor of own weights in the sum.
    #[cfg(feature = "gpu")]
    pub fn own_scale(&self) -> f32 {
        self.own_scale
    }

    /// Returns the layer with the numbers of `parameters`.
    #[cfg(feature = "gpu")]
    pub fn with_parameters(self, parameters: &gpu::Parameters) -> FirstLayer<Flex> {
        FirstLayer {
            own: filled(self.own, &parameters.own),
            shared: filled(self.shared, &parameters.shared),
            bias: filled(self.bias, &parameters.bias),
            ..self
        }
    }
}

impl<B: SumWeights> FirstLayer<B> {
    /// Returns the summed weights, `[INPUTS, outputs]`, clamped to ±[`BOUND`].
    pub fn weight(&self) -> Tensor<B, 2> {
        B::sum(self.own.val(), self.own_scale, self.shared.val(), BOUND)
    }
}

impl FirstLayer<Cpu> {
    /// Clamps the bias to ±[`BOUND`]; [`weight`](Self::weight) clamps the weights.
    pub fn clipped(self) -> FirstLayer<Cpu> {
        FirstLayer {
            bias: clip_parameter(self.bias, BOUND),
            ..self
        }
    }
}

/// Returns a piece's worth in centipawns for the mover, by its plane of [`PIECES`]; negative for
/// the opponent's pieces.
pub fn worth(plane: usize) -> i32 {
    const VALUES: [i32; 6] = [
        material::centipawns(Piece::Pawn),
        material::centipawns(Piece::Knight),
        material::centipawns(Piece::Bishop),
        material::centipawns(Piece::Rook),
        material::centipawns(Piece::Queen),
        material::centipawns(Piece::King),
    ];
    let value = VALUES[plane % 6];
    if plane < 6 { value } else { -value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_layer_counts_material_for_both_sides() {
        let layer = FirstLayer::fresh(Architecture::ARTICLE, 1).layer();
        let queen = 4 * 64 + 3;
        let mean = |first: usize, input: usize| -> f32 {
            let neurons = (first..layer.outputs()).step_by(2);
            let count = neurons.clone().count() as f32;
            neurons.map(|neuron| layer.row(neuron)[input]).sum::<f32>() / count
        };
        assert!(
            (mean(0, queen) - 0.45).abs() < 0.05,
            "own queen, neurons for the mover"
        );
        assert!(
            (mean(1, queen) + 0.45).abs() < 0.05,
            "own queen, neurons against"
        );
        assert!((mean(0, queen + 6 * 64) + 0.45).abs() < 0.05, "their queen");
    }
}
