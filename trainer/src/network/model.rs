//! The network as Burn trains it.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{Tensor, TensorData};
use models::{Layer, Network, Shape};

use crate::network::first_layer::{self, FirstLayer, Inputs};
use crate::network::tensors::{Layers, clip_parameter, floats};

/// How far the second layer's weights may grow: up to 127 / 128 they fit i8 at
/// 128 steps to the unit. A net with larger ones lost three times as much when
/// they were rounded.
const SECOND_BOUND: f32 = 0.99;
/// How far those of the third and the fourth may: their sums fit i32 at 512
/// steps and more.
const LATER_BOUND: f32 = 1.98;

/// How far from zero training lets the numbers of a layer be, counted from 0.
pub fn bound(layer: usize) -> f32 {
    [first_layer::BOUND, SECOND_BOUND, LATER_BOUND, LATER_BOUND][layer]
}

/// The network on a device. Weights are `[inputs, outputs]`, the transpose of
/// [`models::Layer`]'s.
#[derive(Module, Debug)]
pub struct Model<B: Backend> {
    first: FirstLayer<B>,
    second: Linear<B>,
    third: Linear<B>,
    fourth: Linear<B>,
}

impl<B: Backend> Model<B> {
    /// Copies a network to a device.
    pub fn new(network: &Network, device: &B::Device) -> Model<B> {
        let [first, second, third, fourth] = network.layers();
        Model {
            first: FirstLayer::new(first, device),
            second: linear(second, device),
            third: linear(third, device),
            fourth: linear(fourth, device),
        }
    }

    /// A model to start training with: random weights, the same for the same
    /// seed, on a first layer that counts material.
    pub fn fresh(shape: Shape, seed: u64, device: &B::Device) -> Model<B> {
        let random = Model::new(&Network::random(shape, seed), device);
        Model {
            first: FirstLayer::fresh(shape, seed, device),
            ..random
        }
    }

    /// The same model, the own parts of whose first layer count `own_scale`.
    pub fn with_own_scale(self, own_scale: f32) -> Model<B> {
        Model {
            first: self.first.with_own_scale(own_scale),
            ..self
        }
    }

    /// The same model, whose first layer takes its inputs so on a GPU.
    pub fn with_inputs(self, inputs: Inputs) -> Model<B> {
        Model {
            first: self.first.with_inputs(inputs),
            ..self
        }
    }

    /// How its first layer takes its inputs on a GPU.
    pub fn inputs(&self) -> Inputs {
        self.first.inputs()
    }

    /// Copies the network back.
    pub fn network(&self) -> Network {
        let layers = [
            self.first.layer(),
            layer(&self.second),
            layer(&self.third),
            layer(&self.fourth),
        ];
        let shape = Shape {
            first: layers[0].outputs(),
            second: layers[1].outputs(),
            third: layers[2].outputs(),
        };
        Network::new(shape, layers)
    }

    /// The layers as the network has them: the first is put together of its
    /// parts.
    pub fn layers(&self) -> Layers<B> {
        let later = |linear: &Linear<B>| (linear.weight.val(), bias(linear));
        [
            (self.first.weight(), self.first.bias.val()),
            later(&self.second),
            later(&self.third),
            later(&self.fourth),
        ]
    }

    /// The values in pawns, from the mover's view, `[batch]`, by Burn's own operations
    /// but for the first layer: `first` gives its sums, `[batch, neurons]`, of its
    /// weights and its bias.
    pub fn values_by_operations(
        &self,
        first: impl FnOnce(Tensor<B, 2>, Tensor<B, 1>) -> Tensor<B, 2>,
    ) -> Tensor<B, 1> {
        let [(weight, bias), second, third, fourth] = self.layers();
        let x = first(weight, bias).clamp(0.0, 1.0);
        let x = through(x, second).clamp(0.0, 1.0);
        let x = through(x, third).clamp(0.0, 1.0);
        through(x, fourth).squeeze_dim(1)
    }
}

impl<B: AutodiffBackend> Model<B> {
    /// The model with every weight moved into the range that integer
    /// inference can hold; the first layer's weights always are.
    pub fn clipped(self) -> Model<B> {
        Model {
            first: self.first.clipped(),
            second: clip(self.second, SECOND_BOUND),
            third: clip(self.third, LATER_BOUND),
            fourth: clip(self.fourth, LATER_BOUND),
        }
    }
}

fn linear<B: Backend>(layer: &Layer, device: &B::Device) -> Linear<B> {
    let shape = [layer.outputs(), layer.inputs()];
    let weight = Tensor::from_data(TensorData::new(layer.weight.clone(), shape), device);
    let bias = Tensor::from_data(TensorData::new(layer.bias.clone(), [shape[0]]), device);
    Linear {
        weight: Param::from_tensor(weight.transpose()),
        bias: Some(Param::from_tensor(bias)),
    }
}

fn layer<B: Backend>(linear: &Linear<B>) -> Layer {
    Layer {
        weight: floats(linear.weight.val().transpose()),
        bias: floats(bias(linear)),
    }
}

fn bias<B: Backend>(linear: &Linear<B>) -> Tensor<B, 1> {
    let bias = linear.bias.as_ref();
    bias.expect("every layer is made with one").val()
}

fn through<B: Backend>(
    x: Tensor<B, 2>,
    (weight, bias): (Tensor<B, 2>, Tensor<B, 1>),
) -> Tensor<B, 2> {
    x.matmul(weight) + bias.unsqueeze()
}

fn clip<B: AutodiffBackend>(linear: Linear<B>, bound: f32) -> Linear<B> {
    Linear {
        weight: clip_parameter(linear.weight, bound),
        bias: linear.bias.map(|bias| clip_parameter(bias, bound)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::backend::Autodiff;
    use burn_flex::Flex;
    use datasets::Record;
    use models::Feature;

    use crate::input::position::features;
    use crate::network::evaluate::Evaluate;
    use crate::testing::{games, turn};

    #[test]
    fn agrees_with_the_engines_floats() {
        for seed in 0..3 {
            let network = Network::random(Shape::DEFAULT, seed);
            let device = Default::default();
            let model = Model::<Flex>::new(&network, &device);
            let records = games(100);
            for (record, value) in records.iter().zip(model.values(&records, &device)) {
                let on: Vec<Feature> = features(record).collect();
                let expected = network.evaluate(&on);
                assert!(
                    (value - expected).abs() < 1e-4,
                    "{value} against {expected}"
                );
            }
        }
    }

    #[test]
    fn goes_to_the_device_and_back_unchanged() {
        let network = Network::random(
            Shape {
                first: 9,
                second: 4,
                third: 3,
            },
            5,
        );
        assert_eq!(
            Model::<Flex>::new(&network, &Default::default()).network(),
            network
        );
    }

    impl<B: AutodiffBackend> Model<B> {
        /// What a loss's gradient says of each parameter.
        pub fn gradients(&self, of: &B::Gradients) -> Vec<Vec<f32>> {
            let matrix = |x: &Param<Tensor<B, 2>>| floats(x.val().grad(of).expect("tracked"));
            let vector = |x: &Param<Tensor<B, 1>>| floats(x.val().grad(of).expect("tracked"));
            let mut all = vec![matrix(&self.first.own), matrix(&self.first.shared)];
            all.push(vector(&self.first.bias));
            for linear in [&self.second, &self.third, &self.fourth] {
                all.push(matrix(&linear.weight));
                all.push(vector(linear.bias.as_ref().expect("one")));
            }
            all
        }
    }

    /// The loss of a network on a batch, in floats of the engine.
    fn loss(network: &Network, records: &[Record]) -> f64 {
        let device = Default::default();
        let model = Model::<Flex>::new(network, &device);
        f64::from(model.loss(&Flex::samples(records, &device)).into_scalar())
    }

    #[test]
    fn gradients_are_those_of_finite_differences() {
        let _turn = turn();
        let shape = Shape {
            first: 6,
            second: 5,
            third: 4,
        };
        let network = Network::random(shape, 2);
        let records = games(8);
        let device = Default::default();
        let own_scale = 0.25;
        let model = Model::<Autodiff<Flex>>::new(&network, &device).with_own_scale(own_scale);
        let gradients = model
            .loss(&<Autodiff<Flex>>::samples(&records, &device))
            .backward();
        let later = [&model.second, &model.third, &model.fourth].map(|linear| &linear.weight);
        for (index, weight) in [&model.first.own].into_iter().chain(later).enumerate() {
            let gradient = floats(
                weight
                    .val()
                    .grad(&gradients)
                    .expect("a gradient")
                    .transpose(),
            );
            // The largest, for it stands out of the rounding of f32.
            let (at, &expected) = gradient
                .iter()
                .enumerate()
                .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
                .expect("weights");
            // The first layer's own part is scaled.
            let scale = if index == 0 { own_scale } else { 1.0 };
            let moved = |by: f32| {
                let mut layers = network.layers().clone();
                layers[index].weight[at] += by * scale;
                loss(&Network::new(shape, layers), &records)
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
