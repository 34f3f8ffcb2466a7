//! CPU evaluation of the network, with gradients and without.

use std::sync::Arc;

use burn::tensor::Tensor;
use records::position::Record;

use crate::cpu::{self, Samples};
use crate::model::{CpuModel, Model};
use crate::target::Aim;
use crate::tensors::{Cpu, floats};

impl Model<Cpu> {
    /// Returns the loss over `samples`, shape `[1]`: the mean of `|w(pawns) - target|^exponent`,
    /// with the win chance `w` ([`crate::target`]).
    pub fn loss(&self, samples: &Arc<Samples>, exponent: f64) -> Tensor<Cpu, 1> {
        let pawns = cpu::tracked_values(self.architecture(), self.layers(), samples);
        cpu::loss(pawns, &samples.targets, exponent)
    }
}

impl CpuModel {
    /// Returns the records' values in pawns for the side to move.
    pub fn values(&self, records: &[Record]) -> Vec<f32> {
        let samples = Samples::new(self.architecture(), records, Aim::LABEL);
        let samples = Arc::new(samples);
        let values = cpu::values(self.architecture(), self.layers(), &samples);
        samples.in_order(&floats(values))
    }
}
