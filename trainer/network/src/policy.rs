//! Training of a policy: its parameters as a Burn module, and AdamW steps.

use std::sync::Arc;

use burn::module::{AutodiffModule, Module, Param};
use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::{GradientsParams, Optimizer};
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};
use burn_flex::{Flex, FlexDevice};
use models::{POLICY_INPUTS, POLICY_ROWS, PolicyNetwork};

use crate::adamw::AdamW;
use crate::clipping;
use crate::cpu::{self, PolicySamples, Tracked as TrackedTensor};
use crate::finite::is_finite;
use crate::first_layer::BOUND;
use crate::tensors::{Cpu, clip_parameter, floats};
use crate::trainer::{OptimizerOf, Settings, StepMetrics, Tracked, record_of, restored};

/// Bound of an output weight: at 64 steps to the unit it fits i8.
const MOVE_BOUND: f32 = 1.98;

/// A policy's trainable parameters, in the shapes of [`PolicyNetwork`].
#[derive(Module, Debug)]
pub struct PolicyModel<B: Backend> {
    inputs: Param<Tensor<B, 2>>,
    bias: Param<Tensor<B, 1>>,
    moves: Param<Tensor<B, 2>>,
    move_bias: Param<Tensor<B, 1>>,
}

impl PolicyModel<Flex> {
    fn new(network: &PolicyNetwork) -> PolicyModel<Flex> {
        let neurons = network.neurons();
        let matrix = |numbers: &[f32], rows: usize| {
            let data = TensorData::new(numbers.to_vec(), [rows, neurons]);
            Param::from_tensor(Tensor::from_data(data, &FlexDevice))
        };
        let vector = |numbers: &[f32]| {
            let data = TensorData::new(numbers.to_vec(), [numbers.len()]);
            Param::from_tensor(Tensor::from_data(data, &FlexDevice))
        };
        PolicyModel {
            inputs: matrix(&network.inputs, POLICY_INPUTS),
            bias: vector(&network.bias),
            moves: matrix(&network.moves, POLICY_ROWS),
            move_bias: vector(&network.move_bias),
        }
    }

    fn network(&self) -> PolicyNetwork {
        PolicyNetwork::new(
            floats(self.inputs.val()),
            floats(self.bias.val()),
            floats(self.moves.val()),
            floats(self.move_bias.val()),
        )
    }
}

impl PolicyModel<Cpu> {
    /// Returns the parameters of `network`, with gradients.
    pub fn tracked(network: &PolicyNetwork) -> PolicyModel<Cpu> {
        PolicyModel::from_inner(PolicyModel::new(network)).map(&mut Tracked)
    }

    /// Returns the primitive tensors, in the order of the fields.
    pub fn tensors(&self) -> [TrackedTensor; 4] {
        [
            self.inputs.val().into_primitive().tensor(),
            self.bias.val().into_primitive().tensor(),
            self.moves.val().into_primitive().tensor(),
            self.move_bias.val().into_primitive().tensor(),
        ]
    }

    /// Clamps the parameters to what integers can hold.
    fn clipped(self) -> PolicyModel<Cpu> {
        PolicyModel {
            inputs: clip_parameter(self.inputs, BOUND),
            bias: clip_parameter(self.bias, BOUND),
            moves: clip_parameter(self.moves, MOVE_BOUND),
            ..self
        }
    }
}

#[cfg(test)]
impl PolicyModel<Cpu> {
    /// Returns the gradients, in the order of the fields.
    pub fn gradients(
        &self,
        gradients: &burn::backend::autodiff::grads::Gradients,
    ) -> [Vec<f32>; 4] {
        [
            floats(self.inputs.val().grad(gradients).expect("tracked")),
            floats(self.bias.val().grad(gradients).expect("tracked")),
            floats(self.moves.val().grad(gradients).expect("tracked")),
            floats(self.move_bias.val().grad(gradients).expect("tracked")),
        ]
    }
}

/// A policy and its optimizer on the CPU.
pub struct PolicyTrainer {
    model: PolicyModel<Cpu>,
    optimizer: OptimizerOf<PolicyModel<Cpu>>,
    clip_norm: f32,
}

impl PolicyTrainer {
    /// Returns a trainer with fresh optimizer state.
    pub fn new(network: &PolicyNetwork, settings: Settings) -> PolicyTrainer {
        let optimizer = AdamW {
            weight_decay: settings.weight_decay,
        };
        PolicyTrainer {
            model: PolicyModel::tracked(network),
            optimizer: OptimizerAdaptor::from(optimizer),
            clip_norm: settings.clip_norm,
        }
    }

    /// Takes one AdamW step with learning rate `rate`, and clamps the weights to what integers can
    /// hold. The loss is the mean cross-entropy in nats.
    pub fn learn(&mut self, batch: &Arc<PolicySamples>, rate: f64) -> StepMetrics {
        let loss = cpu::cross_entropy(self.model.tensors(), batch);
        let mut gradients = GradientsParams::from_grads(loss.backward(), &self.model);
        let norm = clipping::clip(&self.model, &mut gradients, self.clip_norm);
        let model = self.optimizer.step(rate, self.model.clone(), gradients);
        self.model = model.clipped();
        StepMetrics {
            loss: loss.into_scalar(),
            gradient_norm: norm,
        }
    }

    /// Returns the policy with its current weights.
    pub fn network(&self) -> PolicyNetwork {
        self.model.valid().network()
    }

    /// Returns whether every parameter is finite.
    pub fn is_finite(&self) -> bool {
        is_finite(&self.model)
    }

    /// Serialises parameters and optimizer moments without loss.
    pub fn record(&self) -> Vec<u8> {
        record_of(&self.model, &self.optimizer)
    }

    /// Restores the state that [`record`](Self::record) serialised.
    ///
    /// # Errors
    /// Describes the damage of an unreadable record.
    pub fn restore(&mut self, record: Vec<u8>) -> Result<(), String> {
        (self.model, self.optimizer) = restored(&self.model, &self.optimizer, record)?;
        Ok(())
    }
}
