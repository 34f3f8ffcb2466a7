//! The first layer as it is trained: factored, so that few games teach much.
//!
//! A knight on c3 and a knight on d4 have much in common, but as separate
//! inputs they would have to learn it separately. While training, an input's
//! column is therefore a sum: a part of its own, and parts shared by all
//! inputs of the same piece, of the same piece and rank, and of the same piece
//! and distance from the edge files. The sum is what the net's file holds. A threat
//! is no square's, and shares nothing; it has a shared column to itself, which learns
//! at full speed where the own parts are held back.
//! (nnue-pytorch's documentation, docs/nnue.md, calls this feature factorization.)

use burn::module::{Module, Param};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{Tensor, TensorData};
use burn_flex::{Flex, FlexDevice};
use inputs::{PIECES, SHARED, shared_rows};
use models::{Architecture, INPUTS, Layer, Network, Piece, material};

#[cfg(feature = "gpu")]
use crate::model::filled;
use crate::tensors::{clip_parameter, floats, product};

/// How far a weight may grow. At most 32 pieces, an en-passant square, 30 threats
/// and 6 flags are on at once; with the bias that makes 70 terms, a sum of at most
/// 112, which the engine's i16 accumulators hold at 254 steps to the unit.
pub const BOUND: f32 = 1.6;

/// What a pawn more adds to a first-layer neuron at the start.
const PAWN_AT_START: f32 = 0.05;
/// Where a neuron starts with material equal: inside the clipped ReLU's range.
const BIAS_AT_START: f32 = 0.3;

/// 902 inputs to the first hidden layer.
#[derive(Module, Debug)]
pub struct FirstLayer<B: Backend> {
    /// `[INPUTS, outputs]`.
    pub own: Param<Tensor<B, 2>>,
    /// Factor of `own` in the sum: below 1, the own parts learn more slowly than the shared ones.
    own_scale: f32,
    /// `[SHARED, outputs]`.
    pub shared: Param<Tensor<B, 2>>,
    /// `[outputs]`.
    pub bias: Param<Tensor<B, 1>>,
    /// `[INPUTS, SHARED]`: one where an input takes part in a shared column.
    membership: Tensor<B, 2>,
}

impl FirstLayer<Flex> {
    /// A layer with the given weights; nothing is shared yet.
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
            membership: membership(),
        }
    }

    /// A layer to start training with: every neuron counts material, half of
    /// them for the mover and half against, each with small random parts of
    /// its own. Nothing is known of squares.
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
            membership: membership(),
        }
    }

    /// The same layer, whose own part is kept larger by what it counts less.
    pub fn with_own_scale(self, own_scale: f32) -> FirstLayer<Flex> {
        let own = self.own.val() * (self.own_scale / own_scale);
        // By its numbers: a gradient is of what is kept, not of what it was.
        let own = Tensor::from_data(own.into_data(), &self.own.device());
        FirstLayer {
            own: Param::from_tensor(own),
            own_scale,
            ..self
        }
    }

    /// Copies the layer back.
    pub fn layer(&self) -> Layer {
        Layer {
            weight: floats(self.weight().transpose()),
            bias: floats(self.bias.val()),
        }
    }

    /// Factor of the own parts.
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

impl<B: Backend> FirstLayer<B> {
    /// The weights as one matrix, `[INPUTS, outputs]`, within ±[`BOUND`].
    pub fn weight(&self) -> Tensor<B, 2> {
        let shared = product(self.membership.clone(), self.shared.val());
        (self.own.val() * self.own_scale + shared).clamp(-BOUND, BOUND)
    }
}

impl<B: AutodiffBackend> FirstLayer<B> {
    /// The layer with its bias moved into ±[`BOUND`]; its weights always are.
    pub fn clipped(self) -> FirstLayer<B> {
        FirstLayer {
            bias: clip_parameter(self.bias, BOUND),
            ..self
        }
    }
}

/// What a piece is worth to the mover in centipawns, by its plane of [`PIECES`].
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

fn membership() -> Tensor<Flex, 2> {
    let mut rows = vec![0f32; INPUTS * SHARED];
    for (input, row) in rows.chunks_exact_mut(SHARED).enumerate() {
        shared_rows(input).for_each(|shared| row[shared] = 1.0);
    }
    Tensor::from_data(TensorData::new(rows, [INPUTS, SHARED]), &FlexDevice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_of_a_piece_takes_part_in_three_shared_columns_and_one_of_a_threat_in_its_own() {
        let rows = floats(membership());
        for (input, row) in rows.chunks_exact(SHARED).enumerate() {
            let expected = match input {
                0..768 => 3.0,
                832..862 => 1.0,
                _ => 0.0,
            };
            assert_eq!(row.iter().sum::<f32>(), expected, "input {input}");
        }
        for column in 0..SHARED {
            let members = rows.chunks_exact(SHARED).filter(|row| row[column] == 1.0);
            assert_eq!(
                members.count() == 1,
                column >= 13 * PIECES,
                "column {column}"
            );
        }
        let c3 = 64 + 2 * 8 + 2; // own knight
        let f3 = 64 + 2 * 8 + 5; // its mirror image shares all three
        let row = |input: usize| &rows[input * SHARED..][..SHARED];
        assert_eq!(row(c3), row(f3));
        assert_ne!(row(c3), row(c3 + 1));
    }

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
