use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Feature, INPUTS, NetError, Random};

/// The name of the activation function between layers: `clamp(x, 0, 1)`, a
/// ReLU whose top is cut off so that activations fit 7 bits.
pub const ACTIVATION: &str = "clipped-relu";

/// The sizes of the three hidden layers, between 902 inputs and one output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Neurons of the first hidden layer: the width of the accumulator.
    pub first: usize,
    /// Neurons of the second hidden layer.
    pub second: usize,
    /// Neurons of the third hidden layer.
    pub third: usize,
}

impl Shape {
    /// 902 -> 451 -> 32 -> 32 -> 1.
    pub const DEFAULT: Shape = Shape {
        first: 451,
        second: 32,
        third: 32,
    };

    /// `(outputs, inputs)` of the four layers, in order.
    pub fn layers(self) -> [(usize, usize); 4] {
        [
            (self.first, INPUTS),
            (self.second, self.first),
            (self.third, self.second),
            (1, self.third),
        ]
    }

    /// Whether some layer has no neuron, which no network may have.
    pub(crate) fn has_empty_layer(self) -> bool {
        [self.first, self.second, self.third].contains(&0)
    }

    /// Number of weights and biases.
    pub fn parameters(self) -> usize {
        self.layers()
            .iter()
            .map(|(outputs, inputs)| outputs * (inputs + 1))
            .sum()
    }
}

/// The hidden sizes: `256-32-32`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}-{}-{}", self.first, self.second, self.third)
    }
}

/// One linear layer: `y = weight * x + bias`.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Row-major, shape `[outputs, inputs]`, as PyTorch's `nn.Linear`.
    pub weight: Vec<f32>,
    /// Shape `[outputs]`.
    pub bias: Vec<f32>,
}

impl Layer {
    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.bias.len()
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.weight.len() / self.bias.len()
    }

    /// Row `output` of the weights.
    pub fn row(&self, output: usize) -> &[f32] {
        &self.weight[output * self.inputs()..][..self.inputs()]
    }

    fn apply(&self, input: &[f32]) -> Vec<f32> {
        (0..self.outputs())
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

/// The network as floats: 902 inputs, three hidden layers with clipped ReLU,
/// one linear output, the value in pawns from the view of the side to move.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    shape: Shape,
    layers: [Layer; 4],
}

impl Network {
    /// A network of the given layers.
    ///
    /// # Panics
    /// If a layer's sizes are not those of `shape`, or are 0: the caller made
    /// both.
    pub fn new(shape: Shape, layers: [Layer; 4]) -> Network {
        assert!(
            !shape.has_empty_layer(),
            "{shape} has a layer without neurons"
        );
        for (layer, (outputs, inputs)) in layers.iter().zip(shape.layers()) {
            assert_eq!(layer.bias.len(), outputs);
            assert_eq!(layer.weight.len(), outputs * inputs);
        }
        Network { shape, layers }
    }

    /// A network with random weights, uniform in `±1/sqrt(inputs)`, the same
    /// for the same seed: where training starts, and what tests play with.
    ///
    /// The first layer counts some 32 active inputs rather than 902: hardly more
    /// are on in a position.
    ///
    /// # Panics
    /// If a layer of `shape` has no neurons.
    pub fn random(shape: Shape, seed: u64) -> Network {
        let mut random = Random(seed);
        let mut uniform = move || random.uniform();
        let layers = shape.layers().map(|(outputs, inputs)| {
            let active = inputs.min(if inputs == INPUTS { 32 } else { inputs });
            let bound = 1.0 / (active as f32).sqrt();
            Layer {
                weight: (0..outputs * inputs).map(|_| bound * uniform()).collect(),
                bias: (0..outputs).map(|_| bound * uniform()).collect(),
            }
        });
        Network::new(shape, layers)
    }

    /// The sizes of the hidden layers.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The four layers, input side first.
    pub fn layers(&self) -> &[Layer; 4] {
        &self.layers
    }

    /// That every weight is a number.
    ///
    /// # Errors
    /// [`NetError::NotFinite`], with the tensor's name.
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

    /// The value in pawns from the view of the side to move, of the position
    /// with these inputs on.
    pub fn evaluate(&self, features: &[Feature]) -> f32 {
        let first = &self.layers[0];
        let mut activations: Vec<f32> = (0..first.outputs())
            .map(|o| {
                let row = first.row(o);
                first.bias[o] + features.iter().map(|f| row[f.index()]).sum::<f32>()
            })
            .collect();
        for layer in &self.layers[1..] {
            for x in &mut activations {
                *x = x.clamp(0.0, 1.0);
            }
            activations = layer.apply(&activations);
        }
        activations[0]
    }
}
