use std::ops::Range;

use crate::{Activation, Architecture, Feature, INPUTS, NetError, Random};

/// Linear layer: `y = weight * x + bias`.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Weights, row-major, shape `[outputs, inputs]`, as in PyTorch's `nn.Linear`.
    pub weight: Vec<f32>,
    /// Biases, shape `[outputs]`.
    pub bias: Vec<f32>,
}

impl Layer {
    /// Returns the number of outputs.
    pub fn outputs(&self) -> usize {
        self.bias.len()
    }

    /// Returns the number of inputs.
    pub fn inputs(&self) -> usize {
        self.weight.len() / self.bias.len()
    }

    /// Returns row `output` of the weights.
    pub fn row(&self, output: usize) -> &[f32] {
        &self.weight[output * self.inputs()..][..self.inputs()]
    }

    fn apply(&self, input: &[f32], outputs: Range<usize>) -> Vec<f32> {
        outputs
            .map(|o| {
                self.bias[o]
                    + self
                        .row(o)
                        .iter()
                        .zip(input)
                        .map(|(w, x)| w * x)
                        .sum::<f32>()
            })
            .collect()
    }
}

/// Network of floats. Its value is in pawns, from the side to move's point of view.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    architecture: Architecture,
    layers: Vec<Layer>,
}

impl Network {
    /// Returns a network of these layers, in the sizes of [`Architecture::layers`]. Weights of
    /// inputs that [`Architecture::features`] leave out are set to zero.
    ///
    /// # Panics
    /// If number or sizes of the layers differ, or the architecture is invalid.
    pub fn new(architecture: Architecture, mut layers: Vec<Layer>) -> Network {
        if let Err(error) = architecture.check() {
            panic!("{error}");
        }
        let sizes = architecture.layers();
        assert_eq!(layers.len(), sizes.len());
        for (layer, (outputs, inputs)) in layers.iter().zip(sizes) {
            assert_eq!(layer.bias.len(), outputs);
            assert_eq!(layer.weight.len(), outputs * inputs);
        }
        for row in layers[0].weight.chunks_exact_mut(INPUTS) {
            row[architecture.features.count()..].fill(0.0);
        }
        Network {
            architecture,
            layers,
        }
    }

    /// Returns a network with random weights, uniform in `±1/sqrt(inputs)` and determined by the
    /// seed: the start of training, also used by tests. All buckets have the same weights.
    ///
    /// The bound of the first layer uses 32 inputs rather than 902, about as many as are active in
    /// a position.
    ///
    /// # Panics
    /// If the architecture is invalid.
    pub fn random(architecture: Architecture, seed: u64) -> Network {
        let mut random = Random(seed);
        let mut uniform = move || random.uniform();
        let layers = architecture.layers().into_iter().enumerate();
        let layers = layers.map(|(index, (outputs, inputs))| {
            let (copies, active) = match index {
                0 => (1, 32),
                _ => (architecture.buckets, inputs),
            };
            let bound = 1.0 / (active as f32).sqrt();
            let outputs = outputs / copies;
            let weight: Vec<f32> = (0..outputs * inputs).map(|_| bound * uniform()).collect();
            let bias: Vec<f32> = (0..outputs).map(|_| bound * uniform()).collect();
            Layer {
                weight: weight.repeat(copies),
                bias: bias.repeat(copies),
            }
        });
        Network::new(architecture, layers.collect())
    }

    /// Returns the architecture.
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// Returns the two to four layers, input side first.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Returns the layers of a bucket behind the first layer.
    pub fn stack(&self, bucket: usize) -> impl Iterator<Item = Layer> {
        let buckets = self.architecture.buckets;
        self.layers[1..].iter().map(move |layer| {
            let (outputs, inputs) = (layer.outputs() / buckets, layer.inputs());
            Layer {
                weight: layer.weight[bucket * outputs * inputs..][..outputs * inputs].to_vec(),
                bias: layer.bias[bucket * outputs..][..outputs].to_vec(),
            }
        })
    }

    /// Checks that every weight is finite.
    ///
    /// # Errors
    /// [`NetError::NotFinite`] with the name of the tensor.
    pub(crate) fn check_finite(&self) -> Result<(), NetError> {
        for (i, layer) in self.layers.iter().enumerate() {
            for (part, values) in [("weight", &layer.weight), ("bias", &layer.bias)] {
                if !values.iter().all(|x| x.is_finite()) {
                    return Err(NetError::NotFinite(format!("layers.{i}.{part}")));
                }
            }
        }
        Ok(())
    }

    /// Returns the value of the position with these active inputs, in pawns, from the side to
    /// move's point of view.
    pub fn evaluate(&self, features: &[Feature]) -> f32 {
        let inputs = self.architecture.inputs(features);
        let views = inputs.iter().map(|inputs| self.first_sums(inputs));
        let activations: Vec<f32> = views.flat_map(|sums| self.activate(&sums)).collect();
        let bucket = self.architecture.bucket_of(features);
        self.behind_second(self.second_sums(&activations, bucket), bucket, |_| {})
    }

    /// Returns the sums of the first layer for one view.
    pub(crate) fn first_sums(&self, features: &[Feature]) -> Vec<f32> {
        let first = &self.layers[0];
        let sums = (0..first.outputs()).map(|o| {
            let row = first.row(o);
            first.bias[o] + features.iter().map(|f| row[f.index()]).sum::<f32>()
        });
        sums.collect()
    }

    /// Returns the activations of the first layer for one view.
    pub(crate) fn activate(&self, sums: &[f32]) -> Vec<f32> {
        let mut clipped: Vec<f32> = sums.iter().map(|sum| sum.clamp(0.0, 1.0)).collect();
        match self.architecture.activation {
            Activation::ClippedRelu => {}
            Activation::SquaredClippedRelu => clipped.iter_mut().for_each(|x| *x *= *x),
            Activation::PairwiseClippedRelu => {
                let second = clipped.split_off(clipped.len() / 2);
                clipped.iter_mut().zip(second).for_each(|(x, y)| *x *= y);
            }
        }
        clipped
    }

    /// Returns the sums of the second layer from the activations of all views.
    pub(crate) fn second_sums(&self, activations: &[f32], bucket: usize) -> Vec<f32> {
        self.sums_of(&self.layers[1], activations, bucket)
    }

    /// Returns the value from the sums of the second layer; calls `hidden` with the activations of
    /// each later hidden layer.
    pub(crate) fn behind_second(
        &self,
        mut sums: Vec<f32>,
        bucket: usize,
        mut hidden: impl FnMut(&[f32]),
    ) -> f32 {
        for layer in &self.layers[2..] {
            sums.iter_mut().for_each(|x| *x = x.clamp(0.0, 1.0));
            hidden(&sums);
            sums = self.sums_of(layer, &sums, bucket);
        }
        sums[0]
    }

    /// Returns the sums of a layer behind the first.
    fn sums_of(&self, layer: &Layer, input: &[f32], bucket: usize) -> Vec<f32> {
        let outputs = layer.outputs() / self.architecture.buckets;
        layer.apply(input, bucket * outputs..(bucket + 1) * outputs)
    }
}
