//! CPU evaluation of the network, with gradients and without.

use std::sync::Arc;

use burn::backend::Autodiff;
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;
use burn_flex::Flex;
use records::position::Record;

use crate::cpu::{self, Samples};
use crate::model::{CpuModel, Model};
use crate::target::{self, Aim};
use crate::tensors::floats;

/// A backend that can evaluate the network.
pub trait Evaluate: Backend {
    /// Returns the values in pawns for the side to move, `[samples]`, in the order of `samples`.
    fn values(model: &Model<Self>, samples: &Arc<Samples>) -> Tensor<Self, 1>;
}

impl Evaluate for Flex {
    fn values(model: &Model<Self>, samples: &Arc<Samples>) -> Tensor<Self, 1> {
        cpu::values(model.architecture(), model.layers(), samples)
    }
}

impl Evaluate for Autodiff<Flex> {
    fn values(model: &Model<Self>, samples: &Arc<Samples>) -> Tensor<Self, 1> {
        cpu::tracked_values(model.architecture(), model.layers(), samples)
    }
}

impl<B: Evaluate> Model<B> {
    /// Returns the mean loss over `samples`, shape `[1]`: their values' distance from the targets
    /// to the power `exponent` ([`target::loss`]).
    pub fn loss(&self, samples: &Arc<Samples>, exponent: f64) -> Tensor<B, 1> {
        let pawns = B::values(self, samples);
        let targets = cpu::targets(samples, &pawns.device());
        target::loss(pawns, targets, exponent)
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
