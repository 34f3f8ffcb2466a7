//! Forward pass over one position with all intermediate values, for analysis of a network.

use crate::{Feature, Network};

/// Forward pass over one position. Effects are in pawns, from the side to move's point of view.
///
/// ```
/// use models::{Architecture, Feature, ForwardPass, Network};
///
/// let network = Network::random(Architecture::ARTICLE, 1);
/// let pass = ForwardPass::new(&network, &[Feature::IN_CHECK]);
/// assert_eq!(pass.activations.len(), 451);
/// let without = network.evaluate(&[]);
/// assert!((pass.value - pass.input_effect(0) - without).abs() < 1e-5);
/// ```
pub struct ForwardPass<'a> {
    network: &'a Network,
    /// Active inputs of each view, the mover's first.
    pub inputs: Vec<Vec<Feature>>,
    /// Sums of the first layer, by view.
    pub sums: Vec<Vec<f32>>,
    /// Activations of the first layer, the mover's view first.
    pub activations: Vec<f32>,
    /// Sums of the second layer: the value itself, if it is the last.
    second: Vec<f32>,
    /// Activations of the hidden layers behind the first.
    pub hidden: Vec<Vec<f32>>,
    /// Bucket of the layers behind the first.
    pub bucket: usize,
    /// Value in pawns.
    pub value: f32,
}

impl<'a> ForwardPass<'a> {
    /// Evaluates a position with these active inputs.
    pub fn new(network: &'a Network, features: &[Feature]) -> ForwardPass<'a> {
        let architecture = network.architecture();
        let inputs = architecture.inputs(features);
        let sums: Vec<Vec<f32>> = inputs.iter().map(|view| network.first_sums(view)).collect();
        let activations: Vec<f32> = sums
            .iter()
            .flat_map(|sums| network.activate(sums))
            .collect();
        let bucket = architecture.bucket_of(features);
        let second = network.second_sums(&activations, bucket);
        let mut hidden = Vec::new();
        let value =
            network.behind_second(second.clone(), bucket, |layer| hidden.push(layer.to_vec()));
        ForwardPass {
            network,
            inputs,
            sums,
            activations,
            second,
            hidden,
            bucket,
            value,
        }
    }

    /// Returns the value minus the value without one input, index `input` of each view; all else
    /// stays, the bucket too.
    pub fn input_effect(&self, input: usize) -> f32 {
        let first = &self.network.layers()[0];
        let views = self.sums.iter().zip(&self.inputs);
        let activations: Vec<f32> = views
            .flat_map(|(sums, inputs)| {
                let column = inputs[input].index();
                let rest: Vec<f32> = (sums.iter().enumerate())
                    .map(|(neuron, sum)| sum - first.row(neuron)[column])
                    .collect();
                self.network.activate(&rest)
            })
            .collect();
        let second = self.network.second_sums(&activations, self.bucket);
        self.value - self.network.behind_second(second, self.bucket, |_| {})
    }

    /// Returns, for each first-layer activation, the value minus the value with the activation set
    /// to zero. If the output follows the first layer, their sum plus [`ForwardPass::output_bias`]
    /// is the value.
    pub fn activation_effects(&self) -> Vec<f32> {
        let layer = &self.network.layers()[1];
        let outputs = self.second.len();
        let active = self.activations.iter().enumerate();
        active
            .map(|(index, activation)| {
                let mut second = self.second.clone();
                for (output, sum) in second.iter_mut().enumerate() {
                    *sum -= layer.row(self.bucket * outputs + output)[index] * activation;
                }
                self.value - self.network.behind_second(second, self.bucket, |_| {})
            })
            .collect()
    }

    /// Returns the bias of the output layer.
    pub fn output_bias(&self) -> f32 {
        self.network
            .layers()
            .last()
            .map_or(0.0, |output| output.bias[self.bucket])
    }

    /// Returns the first-layer neurons that make an activation: one, or two for pairwise products.
    pub fn neurons_of(&self, activation: usize) -> Vec<usize> {
        let architecture = self.network.architecture();
        let activations = architecture.activations();
        let neurons = activation % activations..architecture.first;
        neurons.step_by(activations).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::architectures;
    use crate::{Activation, Color, Piece, Square};

    fn features() -> Vec<Feature> {
        let piece = |color, piece, square| {
            Feature::piece(Color::White, color, piece, Square::new(square).unwrap())
        };
        vec![
            piece(Color::White, Piece::King, 6),
            piece(Color::White, Piece::Queen, 27),
            piece(Color::Black, Piece::Pawn, 36),
            piece(Color::Black, Piece::King, 60),
            Feature::IN_CHECK,
        ]
    }

    #[test]
    fn effects_are_differences_of_values() {
        for architecture in architectures() {
            let network = Network::random(architecture, 5);
            let features = features();
            let pass = ForwardPass::new(&network, &features);
            assert_eq!(pass.value, network.evaluate(&features));
            // Removing a flag keeps the bucket.
            let expected = pass.value - network.evaluate(&features[..4]);
            assert!(
                (pass.input_effect(4) - expected).abs() < 1e-5,
                "{architecture}"
            );
            let effects = pass.activation_effects();
            assert_eq!(
                effects.len(),
                architecture.views() * architecture.activations()
            );
            if architecture.second.is_none() {
                let sum = effects.iter().sum::<f32>() + pass.output_bias();
                assert!((sum - pass.value).abs() < 1e-4, "{architecture}");
            }
            let deep = [architecture.second, architecture.third];
            assert_eq!(pass.hidden.len(), deep.into_iter().flatten().count());
            for (effect, activation) in effects.iter().zip(&pass.activations) {
                assert!(*activation != 0.0 || effect.abs() < 1e-6, "{architecture}");
            }
        }
    }

    #[test]
    fn activations_follow_from_the_sums_of_their_neurons() {
        for architecture in architectures() {
            let network = Network::random(architecture, 6);
            let pass = ForwardPass::new(&network, &features());
            for (index, activation) in pass.activations.iter().enumerate() {
                let sums = &pass.sums[index / architecture.activations()];
                let neurons = pass.neurons_of(index);
                let clipped = neurons.iter().map(|&neuron| sums[neuron].clamp(0.0, 1.0));
                let product: f32 = clipped.product();
                let expected = match architecture.activation {
                    Activation::SquaredClippedRelu => product * product,
                    Activation::ClippedRelu | Activation::PairwiseClippedRelu => product,
                };
                assert_eq!(*activation, expected, "{architecture}");
            }
        }
    }
}
