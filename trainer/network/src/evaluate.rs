//! The network evaluated on the CPU, with gradients and without.

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

/// A backend that evaluates the network.
pub trait Evaluate: Backend {
    /// The values in pawns, from the mover's view, `[samples]`, in the samples' own order.
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
    /// The loss of positions, shape `[1]`: how far their values are from their
    /// targets, to the power `exponent` ([`target::loss`]).
    pub fn loss(&self, samples: &Arc<Samples>, exponent: f64) -> Tensor<B, 1> {
        let pawns = B::values(self, samples);
        let targets = cpu::targets(samples, &pawns.device());
        target::loss(pawns, targets, exponent)
    }
}

impl CpuModel {
    /// The values in pawns of records, from the mover's view.
    pub fn values(&self, records: &[Record]) -> Vec<f32> {
        let samples = Samples::new(self.architecture(), records, Aim::LABEL);
        let samples = Arc::new(samples);
        samples.in_order(&floats(Flex::values(self, &samples)))
    }
}
