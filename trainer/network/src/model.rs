//! The network as a Burn module.

use std::iter;

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};
use burn_flex::{Flex, FlexDevice};
use models::{Activation, Architecture, Layer, Network};

use crate::factorised::SumWeights;
use crate::first_layer::{self, FirstLayer};
#[cfg(feature = "gpu")]
use crate::tensors::filled;
use crate::tensors::{Cpu, Layers, clip_parameter, floats};
#[cfg(test)]
use burn::tensor::Int;

/// Weight bound of the second layer, which multiplies the first layer's activations. Up to 127 /
/// 128, weights fit i8 at 128 steps to the unit; a net with larger ones lost three times as much to
/// rounding. If this layer is the output, the bound doubles, at half as many steps.
const SECOND_BOUND: f32 = 0.99;
/// [`SECOND_BOUND`] where activations are products, which integers hold at 127 / 128 of their size.
const SECOND_BOUND_OF_PRODUCTS: f32 = 0.98;
/// Weight bound of the later layers: their sums fit i32 at 512 steps and more.
const LATER_BOUND: f32 = 1.98;

/// Returns the largest absolute weight or bias that training allows in `layer`, counted from 0.
pub fn bound(architecture: Architecture, layer: usize) -> f32 {
    let second = match architecture.activation {
        Activation::ClippedRelu => SECOND_BOUND,
        Activation::SquaredClippedRelu | Activation::PairwiseClippedRelu => {
            SECOND_BOUND_OF_PRODUCTS
        }
    };
    match layer {
        0 => first_layer::BOUND,
        1 if architecture.second.is_none() => 2.0 * second,
        1 => second,
        _ => LATER_BOUND,
    }
}

/// The network's trainable layers. Weights are `[inputs, outputs]`, the transpose of
/// [`models::Layer`]'s.
#[derive(Module, Debug)]
pub struct Model<B: Backend> {
    first: FirstLayer<B>,
    /// The layers after the first, with the outputs of all buckets concatenated.
    later: Vec<Linear<B>>,
    #[module(skip)]
    architecture: Architecture,
}

/// A model on the CPU, without gradients.
pub type CpuModel = Model<Flex>;

impl Model<Flex> {
    /// Returns a model with the weights of `network`.
    pub fn new(network: &Network) -> CpuModel {
        let layers = network.layers();
        Model {
            first: FirstLayer::new(&layers[0]),
            later: layers[1..].iter().map(linear).collect(),
            architecture: network.architecture(),
        }
    }

    /// Returns a model to start training from: random weights, determined by `seed`, on a first
    /// layer that counts material.
    pub fn fresh(architecture: Architecture, seed: u64) -> CpuModel {
        let random = Model::new(&Network::random(architecture, seed));
        Model {
            first: FirstLayer::fresh(architecture, seed),
            ..random
        }
    }

    /// Returns the model that training starts from: a copy of `init`, or a fresh one.
    pub fn start(init: Option<&Network>, architecture: Architecture, seed: u64) -> CpuModel {
        match init {
            Some(network) => Model::new(network),
            None => Model::fresh(architecture, seed),
        }
    }

    /// Changes the first layer's `own_scale`, keeping the effective weights the same.
    pub fn with_own_scale(self, own_scale: f32) -> CpuModel {
        Model {
            first: self.first.with_own_scale(own_scale),
            ..self
        }
    }

    /// Returns the network with the model's weights.
    pub fn network(&self) -> Network {
        let later = self.later.iter().map(layer);
        let layers = iter::once(self.first.layer()).chain(later);
        Network::new(self.architecture, layers.collect())
    }

    /// Returns the factor of the first layer's own weights.
    #[cfg(feature = "gpu")]
    pub fn own_scale(&self) -> f32 {
        self.first.own_scale()
    }

    /// Returns a copy of the trainable parameters.
    #[cfg(feature = "gpu")]
    pub fn parameters(&self) -> gpu::Parameters {
        let later = self.later.iter();
        gpu::Parameters {
            own: floats(self.first.own.val()),
            shared: floats(self.first.shared.val()),
            bias: floats(self.first.bias.val()),
            later: later
                .map(|linear| (floats(linear.weight.val()), floats(bias(linear))))
                .collect(),
        }
    }

    /// Returns the network of this model with its parameters replaced by `parameters`, which must
    /// have the same architecture.
    #[cfg(feature = "gpu")]
    pub fn network_of(&self, parameters: &gpu::Parameters) -> Network {
        let model = self.clone();
        let later = model.later.into_iter().zip(&parameters.later);
        let later = later.map(|(linear, (weight, bias))| Linear {
            weight: filled(linear.weight, weight),
            bias: linear.bias.map(|old| filled(old, bias)),
        });
        let model = Model {
            later: later.collect(),
            first: model.first.with_parameters(parameters),
            ..model
        };
        model.network()
    }
}

impl<B: Backend> Model<B> {
    /// Returns the network's architecture.
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }
}

impl<B: SumWeights> Model<B> {
    /// Returns the layers' tensors, the first layer's weights as the sum of own and shared ones.
    pub(crate) fn layers(&self) -> Layers<B> {
        let later = self.later.iter();
        let later = later.map(|linear| (linear.weight.val(), bias(linear)));
        let first = (self.first.weight(), self.first.bias.val());
        iter::once(first).chain(later).collect()
    }
}

#[cfg(test)]
impl<B: SumWeights> Model<B> {
    /// Returns the values, `[batch]`, in pawns for the side to move, computed with Burn's own
    /// operations: the reference for the kernels. `first(view, weight, bias)` returns the first
    /// layer's sums, `[batch, neurons]`, for a view (0 is the mover's). `buckets`, `[batch]`, holds
    /// each sample's bucket where there are several.
    pub fn values_by_operations(
        &self,
        first: impl Fn(usize, Tensor<B, 2>, Tensor<B, 1>) -> Tensor<B, 2>,
        buckets: Option<&Tensor<B, 1, Int>>,
    ) -> Tensor<B, 1> {
        let architecture = self.architecture();
        let mut layers = self.layers().into_iter();
        let (weight, bias) = layers.next().expect("every network has one");
        let view = |view| activate(architecture, first(view, weight.clone(), bias.clone()));
        let mut x = match architecture.views() {
            1 => view(0),
            _ => Tensor::cat(vec![view(0), view(1)], 1),
        };
        for (index, (weight, bias)) in layers.enumerate() {
            if index > 0 {
                x = x.clamp(0.0, 1.0);
            }
            x = x.matmul(weight) + bias.unsqueeze();
            if let Some(buckets) = buckets {
                x = of_bucket(x, architecture.buckets, buckets);
            }
        }
        x.squeeze_dim(1)
    }
}

/// Applies the first layer's activation to its sums.
#[cfg(test)]
fn activate<B: Backend>(architecture: Architecture, sums: Tensor<B, 2>) -> Tensor<B, 2> {
    let clipped = sums.clamp(0.0, 1.0);
    match architecture.activation {
        Activation::ClippedRelu => clipped,
        Activation::SquaredClippedRelu => clipped.clone() * clipped,
        Activation::PairwiseClippedRelu => {
            let half = architecture.activations();
            clipped.clone().narrow(1, 0, half) * clipped.narrow(1, half, half)
        }
    }
}

/// Selects each sample's bucket from the concatenated outputs of all buckets.
#[cfg(test)]
fn of_bucket<B: Backend>(
    outputs: Tensor<B, 2>,
    buckets: usize,
    bucket: &Tensor<B, 1, Int>,
) -> Tensor<B, 2> {
    let [batch, all] = outputs.dims();
    let count = all / buckets;
    let bucket = bucket.clone().reshape([batch, 1, 1]).repeat_dim(2, count);
    let chosen = outputs.reshape([batch, buckets, count]).gather(1, bucket);
    chosen.squeeze_dim(1)
}

impl Model<Cpu> {
    /// Clamps every parameter to the range that integer inference can hold. The first layer's
    /// weights need none: their sum is bounded.
    pub fn clipped(self) -> Model<Cpu> {
        let architecture = self.architecture();
        let later = self.later.into_iter().zip(1..);
        let later = later.map(|(linear, layer)| clip(linear, bound(architecture, layer)));
        Model {
            first: self.first.clipped(),
            later: later.collect(),
            ..self
        }
    }
}

fn linear(layer: &Layer) -> Linear<Flex> {
    let shape = [layer.outputs(), layer.inputs()];
    let weight = TensorData::new(layer.weight.clone(), shape);
    let weight = Tensor::from_data(weight, &FlexDevice);
    let bias = TensorData::new(layer.bias.clone(), [shape[0]]);
    let bias = Tensor::from_data(bias, &FlexDevice);
    Linear {
        weight: Param::from_tensor(weight.transpose()),
        bias: Some(Param::from_tensor(bias)),
    }
}

fn layer(linear: &Linear<Flex>) -> Layer {
    Layer {
        weight: floats(linear.weight.val().transpose()),
        bias: floats(bias(linear)),
    }
}

fn bias<B: Backend>(linear: &Linear<B>) -> Tensor<B, 1> {
    let bias = linear.bias.as_ref();
    bias.expect("every layer is made with one").val()
}

fn clip(linear: Linear<Cpu>, bound: f32) -> Linear<Cpu> {
    Linear {
        weight: clip_parameter(linear.weight, bound),
        bias: linear.bias.map(|bias| clip_parameter(bias, bound)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use models::Feature;
    use records::position::Record;

    use crate::cpu::Samples;
    use crate::target::Aim;
    use crate::testing::{architectures, games, turn};
    use crate::trainer::tracked;
    use burn::tensor::backend::AutodiffBackend;

    #[test]
    fn agrees_with_the_engines_floats() {
        for (seed, architecture) in (0..).zip(architectures()) {
            let network = Network::random(architecture, seed);
            let model = Model::new(&network);
            let records = games(100);
            for (record, value) in records.iter().zip(model.values(&records)) {
                let on: Vec<Feature> = features::active(record).collect();
                let expected = network.evaluate(&on);
                assert!(
                    (value - expected).abs() < 1e-4,
                    "{value} against {expected}"
                );
            }
        }
    }

    #[test]
    fn round_trips_a_network() {
        for architecture in architectures() {
            let network = Network::random(architecture, 5);
            assert_eq!(Model::new(&network).network(), network);
        }
    }

    impl<B: AutodiffBackend> Model<B> {
        /// Returns each parameter's gradient, flattened.
        pub fn gradients(&self, of: &B::Gradients) -> Vec<Vec<f32>> {
            let matrix = |x: &Param<Tensor<B, 2>>| floats(x.val().grad(of).expect("tracked"));
            let vector = |x: &Param<Tensor<B, 1>>| floats(x.val().grad(of).expect("tracked"));
            let mut all = vec![matrix(&self.first.own), matrix(&self.first.shared)];
            all.push(vector(&self.first.bias));
            for linear in &self.later {
                all.push(matrix(&linear.weight));
                all.push(vector(linear.bias.as_ref().expect("one")));
            }
            all
        }
    }

    /// Returns the loss of a network on a batch.
    fn loss(network: &Network, records: &[Record]) -> f64 {
        let model = tracked(Model::new(network));
        let samples = Arc::new(Samples::new(network.architecture(), records, Aim::LABEL));
        f64::from(model.loss(&samples, 1.0).into_scalar())
    }

    #[test]
    fn gradients_match_finite_differences() {
        let _turn = turn();
        for architecture in architectures() {
            compare_gradients(architecture);
        }
    }

    fn compare_gradients(architecture: Architecture) {
        let network = Network::random(architecture, 2);
        let records = games(8);
        let own_scale = 0.25;
        let model = tracked(Model::new(&network).with_own_scale(own_scale));
        let gradients = model
            .loss(
                &Arc::new(Samples::new(architecture, &records, Aim::LABEL)),
                1.0,
            )
            .backward();
        let later = model.later.iter().map(|linear| &linear.weight);
        for (index, weight) in [&model.first.own].into_iter().chain(later).enumerate() {
            let gradient = floats(
                weight
                    .val()
                    .grad(&gradients)
                    .expect("a gradient")
                    .transpose(),
            );
            // The largest gradient stands out best from the rounding of f32.
            let (at, &expected) = gradient
                .iter()
                .enumerate()
                .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
                .expect("weights");
            // An own weight counts `own_scale` in the effective weight.
            let scale = if index == 0 { own_scale } else { 1.0 };
            let moved = |by: f32| {
                let mut layers = network.layers().to_vec();
                layers[index].weight[at] += by * scale;
                loss(&Network::new(architecture, layers), &records)
            };
            let step = 2e-3;
            let measured = (moved(step) - moved(-step)) / (2.0 * f64::from(step));
            let error = (measured - f64::from(expected)).abs();
            assert!(
                error < 0.02 * measured.abs() + 1e-5,
                "{index}: {measured} and {expected}"
            );
            assert!(
                expected.abs() > 1e-6,
                "the gradient of layer {index} vanished"
            );
        }
    }
}
