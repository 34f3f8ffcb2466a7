//! What the steps of training measured, left on the device until it is looked
//! at: each look waits for the device.

use burn::tensor::Tensor;
use burn::tensor::backend::Backend;

use crate::network::tensors::floats;

/// What a step measured; tensors are on the device, of shape `[1]`.
pub struct Reading<B: Backend> {
    /// The mean loss of the batch, before the step.
    pub loss: Tensor<B, 1>,
    /// The length of the gradient, before it was clipped.
    pub gradient_norm: Tensor<B, 1>,
    /// The learning rate of the step.
    pub learning_rate: f64,
}

/// What a step measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Positions in the batch.
    pub samples: u64,
    /// The mean loss of the batch, before the step.
    pub loss: f32,
    /// The length of the gradient, before it was clipped.
    pub gradient_norm: f32,
    /// The learning rate of the step.
    pub learning_rate: f64,
}

/// Steps that nobody has looked at yet.
pub struct Unseen<B: Backend> {
    /// Losses and gradient lengths in turn.
    tensors: Vec<Tensor<B, 1>>,
    /// Positions and learning rates.
    steps: Vec<(u64, f64)>,
}

impl<B: Backend> Default for Unseen<B> {
    fn default() -> Self {
        Unseen {
            tensors: Vec::new(),
            steps: Vec::new(),
        }
    }
}

impl<B: Backend> Unseen<B> {
    /// Takes in a step on so many positions.
    pub fn push(&mut self, reading: Reading<B>, samples: usize) {
        self.tensors.extend([reading.loss, reading.gradient_norm]);
        self.steps.push((samples as u64, reading.learning_rate));
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Fetches them all in one transfer, in the order of the steps.
    pub fn fetch(&mut self) -> Vec<Measured> {
        if self.tensors.is_empty() {
            return Vec::new();
        }
        let values = floats(Tensor::cat(std::mem::take(&mut self.tensors), 0));
        let pairs = values.as_chunks::<2>().0;
        self.steps
            .drain(..)
            .zip(pairs)
            .map(
                |((samples, learning_rate), &[loss, gradient_norm])| Measured {
                    samples,
                    loss,
                    gradient_norm,
                    learning_rate,
                },
            )
            .collect()
    }
}
