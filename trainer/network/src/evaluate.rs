//! CPU evaluation of the network, with gradients and without.

use std::sync::Arc;

use burn::backend::Autodiff;
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;
use burn_flex::Flex;
use records::position::Record;

use crate::cpu::{self, Samples};
use crate::factorised;
use crate::first_layer::BOUND;
use crate::model::{CpuModel, Model};
use crate::target::Aim;
use crate::tensors::floats;

/// The CPU backend with gradients.
pub type Cpu = Autodiff<Flex>;

/// A backend that can evaluate the network.
pub trait Evaluate: Backend {
    /// Returns the first layer's weights, `[INPUTS, outputs]`: `own * own_scale`, and to each row
    /// the `shared` rows of its input; clamped to ±[`BOUND`].
    fn first_weight(
        own: Tensor<Self, 2>,
        own_scale: f32,
        shared: Tensor<Self, 2>,
    ) -> Tensor<Self, 2>;

    /// Returns the values in pawns for the side to move, `[samples]`, in the order of `samples`.
    fn values(model: &Model<Self>, samples: &Arc<Samples>) -> Tensor<Self, 1>;

    /// Returns the loss of `pawns`, `[samples]`, shape `[1]`: the mean of
    /// `|w(pawns) - target|^exponent`, with the win chance `w` ([`crate::target`]).
    fn loss(pawns: Tensor<Self, 1>, samples: &Samples, exponent: f64) -> Tensor<Self, 1>;
}

impl Evaluate for Flex {
    fn first_weight(
        own: Tensor<Self, 2>,
        own_scale: f32,
        shared: Tensor<Self, 2>,
    ) -> Tensor<Self, 2> {
        factorised::sum(own, own_scale, shared, BOUND)
    }

    fn values(model: &Model<Self>, samples: &Arc<Samples>) -> Tensor<Self, 1> {
        cpu::values(model.architecture(), model.layers(), samples)
    }

    fn loss(pawns: Tensor<Self, 1>, samples: &Samples, exponent: f64) -> Tensor<Self, 1> {
        cpu::loss(pawns, &samples.targets, exponent)
    }
}

impl Evaluate for Cpu {
    fn first_weight(
        own: Tensor<Self, 2>,
        own_scale: f32,
        shared: Tensor<Self, 2>,
    ) -> Tensor<Self, 2> {
        factorised::tracked_sum(own, own_scale, shared, BOUND)
    }

    fn values(model: &Model<Self>, samples: &Arc<Samples>) -> Tensor<Self, 1> {
        cpu::tracked_values(model.architecture(), model.layers(), samples)
    }

    fn loss(pawns: Tensor<Self, 1>, samples: &Samples, exponent: f64) -> Tensor<Self, 1> {
        cpu::tracked_loss(pawns, &samples.targets, exponent)
    }
}

impl<B: Evaluate> Model<B> {
    /// Returns the mean loss over `samples`, shape `[1]` ([`Evaluate::loss`]).
    pub fn loss(&self, samples: &Arc<Samples>, exponent: f64) -> Tensor<B, 1> {
        B::loss(B::values(self, samples), samples, exponent)
    }
}

impl CpuModel {
    /// Returns the records' values in pawns for the side to move.
    pub fn values(&self, records: &[Record]) -> Vec<f32> {
        let samples = Samples::new(self.architecture(), records, Aim::LABEL);
        let samples = Arc::new(samples);
        samples.in_order(&floats(Flex::values(self, &samples)))
    }
}
