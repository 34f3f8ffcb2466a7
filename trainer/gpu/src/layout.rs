//! Layout of a network's parameters in the flat buffers of a GPU.
//!
//! Parameters, their two moments and their gradient are buffers of one layout:
//!
//! | part | shape |
//! |---|---|
//! | own | `[INPUTS, width]` |
//! | shared | `[SHARED, width]` |
//! | bias of the first layer | `[width]` |
//! | each later layer | `[buckets, inputs + 1, outputs]`, the bias as the last input |
//!
//! Widths are padded, so that kernels have no remainders. Padding stays zero: a weight of 0 passes
//! no gradient on, and an activation of 0 brings none.

use features::SHARED;
use models::{Architecture, INPUTS};

/// Columns of the first layer in the work of a cube: a cache line of f32.
pub(crate) const SLICE: usize = 32;
/// Neurons of the second and third hidden layer, padded.
pub(crate) const NARROW: usize = 32;
/// Padded sizes of a network.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layout {
    pub architecture: Architecture,
    /// Activations of a view, padded to whole slices.
    pub activations: usize,
    /// Sums behind an activation: 2 if it is their product, else 1.
    pub factors: usize,
    pub later: Vec<Dense>,
    /// Length of the flat buffer, in floats.
    pub len: usize,
}

/// A layer after the first; its parameters are `[buckets, inputs + 1, outputs]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Dense {
    /// Inputs, padded, without the bias.
    pub inputs: usize,
    /// Outputs, padded.
    pub outputs: usize,
    /// Offset of the layer in the flat buffer.
    pub begin: usize,
}

impl Dense {
    /// Returns the number of parameters of a bucket, in floats.
    pub fn bucket_len(self) -> usize {
        (self.inputs + 1) * self.outputs
    }

    /// Returns the offset of bucket 0's bias.
    pub fn bias(self) -> usize {
        self.begin + self.inputs * self.outputs
    }
}

impl Layout {
    pub fn new(architecture: Architecture) -> Layout {
        let activations = architecture.activations().next_multiple_of(SLICE);
        let factors = architecture.activation.neurons();
        let mut len = (INPUTS + SHARED + 1) * factors * activations;
        let mut inputs = architecture.views() * activations;
        let mut later = Vec::new();
        let hidden = [architecture.second, architecture.third].into_iter();
        for outputs in hidden.flatten().map(|_| NARROW).chain([1]) {
            let layer = Dense {
                inputs,
                outputs,
                begin: len,
            };
            len += architecture.buckets * layer.bucket_len();
            later.push(layer);
            inputs = outputs;
        }
        Layout {
            architecture,
            activations,
            factors,
            later,
            len,
        }
    }

    /// Returns the sums of a view, padded.
    pub fn width(&self) -> usize {
        self.factors * self.activations
    }

    /// Returns the offset of the shared rows.
    pub fn shared(&self) -> usize {
        INPUTS * self.width()
    }

    /// Returns the offset of the first layer's bias.
    pub fn bias(&self) -> usize {
        (INPUTS + SHARED) * self.width()
    }

    /// Returns the padded column of a first-layer neuron.
    fn column(&self, neuron: usize) -> usize {
        let half = self.architecture.activations();
        neuron / half * self.activations + neuron % half
    }

    /// Returns the padded index of an input of the second layer.
    fn second_input(&self, input: usize) -> usize {
        let activations = self.architecture.activations();
        input / activations * self.activations + input % activations
    }

    /// Returns the flat buffer of `parameters`.
    pub fn flat(&self, parameters: &Parameters) -> Vec<f32> {
        let mut flat = vec![0.0; self.len];
        self.each(|part, index, at| flat[at] = parameters.part(part)[index]);
        flat
    }

    /// Returns the parameters of a flat buffer.
    pub fn parameters(&self, flat: &[f32]) -> Parameters {
        let mut found = Parameters::zeros(self.architecture);
        self.each(|part, index, at| found.part_mut(part)[index] = flat[at]);
        found
    }

    /// Calls `call(part, index, at)` for each parameter: the number of its part
    /// ([`Parameters::part`]), its index there, and its offset in the flat buffer.
    fn each(&self, mut call: impl FnMut(usize, usize, usize)) {
        let (first, width) = (self.architecture.first, self.width());
        let begins = [(INPUTS, 0), (SHARED, self.shared()), (1, self.bias())];
        for (part, (rows, begin)) in begins.into_iter().enumerate() {
            for row in 0..rows {
                for neuron in 0..first {
                    let at = begin + row * width + self.column(neuron);
                    call(part, row * first + neuron, at);
                }
            }
        }
        let buckets = self.architecture.buckets;
        let sizes = self.architecture.layers();
        for (index, (layer, &(all, inputs))) in self.later.iter().zip(&sizes[1..]).enumerate() {
            let outputs = all / buckets;
            for output in 0..all {
                let begin = layer.begin + output / outputs * layer.bucket_len();
                let at = |input: usize| begin + input * layer.outputs + output % outputs;
                for input in 0..inputs {
                    let padded = if index == 0 {
                        self.second_input(input)
                    } else {
                        input
                    };
                    call(3 + 2 * index, input * all + output, at(padded));
                }
                call(4 + 2 * index, output, at(layer.inputs));
            }
        }
    }
}

/// Trainable parameters: the first layer's own weights, shared weights and bias, and each later
/// layer's weights and bias. All weights are `[inputs, outputs]`; after the first layer, the
/// outputs of all buckets are concatenated.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// Own weights of the first layer, `[INPUTS, first]`.
    pub own: Vec<f32>,
    /// Shared weights of the first layer, `[SHARED, first]`.
    pub shared: Vec<f32>,
    /// Bias of the first layer, `[first]`.
    pub bias: Vec<f32>,
    /// Weights and bias of each later layer.
    pub later: Vec<(Vec<f32>, Vec<f32>)>,
}

impl Parameters {
    /// Returns parameters that are all 0.
    pub fn zeros(architecture: Architecture) -> Parameters {
        let sizes = architecture.layers();
        let later = sizes[1..].iter();
        Parameters {
            own: vec![0.0; INPUTS * architecture.first],
            shared: vec![0.0; SHARED * architecture.first],
            bias: vec![0.0; architecture.first],
            later: later
                .map(|&(outputs, inputs)| (vec![0.0; inputs * outputs], vec![0.0; outputs]))
                .collect(),
        }
    }

    /// Returns an iterator over all parameters, part by part.
    pub fn numbers(&self) -> impl Iterator<Item = f32> {
        let parts = (0..3 + 2 * self.later.len()).map(|part| self.part(part));
        parts.flatten().copied()
    }

    /// Returns a mutable iterator in the order of [`Parameters::numbers`].
    pub fn numbers_mut(&mut self) -> impl Iterator<Item = &mut f32> {
        let later = self.later.iter_mut();
        let later = later.flat_map(|(weight, bias)| weight.iter_mut().chain(bias));
        let first = self.own.iter_mut().chain(&mut self.shared);
        first.chain(&mut self.bias).chain(later)
    }

    fn part(&self, part: usize) -> &[f32] {
        match part {
            0 => &self.own,
            1 => &self.shared,
            2 => &self.bias,
            _ => {
                let (weight, bias) = &self.later[(part - 3) / 2];
                if part % 2 == 1 { weight } else { bias }
            }
        }
    }

    fn part_mut(&mut self, part: usize) -> &mut [f32] {
        match part {
            0 => &mut self.own,
            1 => &mut self.shared,
            2 => &mut self.bias,
            _ => {
                let (weight, bias) = &mut self.later[(part - 3) / 2];
                if part % 2 == 1 { weight } else { bias }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::{Activation, View};

    #[test]
    fn flat_layout_is_a_bijection() {
        let small = Architecture::hidden([50, 7, 5]);
        let pairwise = Architecture {
            view: View::Both,
            activation: Activation::PairwiseClippedRelu,
            buckets: 3,
            third: None,
            ..small
        };
        let one = Architecture {
            second: None,
            ..pairwise
        };
        for architecture in [small, pairwise, one] {
            let layout = Layout::new(architecture);
            let mut parameters = Parameters::zeros(architecture);
            let mut count = 0;
            for part in 0..3 + 2 * parameters.later.len() {
                for number in parameters.part_mut(part) {
                    count += 1;
                    *number = count as f32;
                }
            }
            assert_eq!(
                count,
                architecture.parameters() + SHARED * architecture.first
            );
            let flat = layout.flat(&parameters);
            let filled = flat.iter().filter(|&&number| number != 0.0);
            assert_eq!(filled.count(), count);
            assert_eq!(layout.parameters(&flat), parameters);
        }
    }
}
