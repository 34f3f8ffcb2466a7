//! CPU training: AdamW steps with gradient clipping and weight clamping.

use std::sync::Arc;

use burn::module::{AutodiffModule, Module, ModuleMapper, Param};
use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::{GradientsParams, Optimizer};
use burn::record::{FullPrecisionSettings, NamedMpkBytesRecorder, Recorder};
use burn::tensor::Tensor;
use burn_flex::FlexDevice;
use models::Network;

use crate::adamw::AdamW;
use crate::clipping;
use crate::cpu::Samples;
use crate::finite::is_finite;
use crate::model::{CpuModel, Model};
use crate::tensors::Cpu;

/// Optimizer settings, constant through training.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Upper limit of the positions in a batch.
    pub batch: usize,
    /// Weight decay, in units of the learning rate.
    pub weight_decay: f64,
    /// Norm to which longer gradients are clipped.
    pub clip_norm: f32,
    /// Exponent of the win-chance distance in the loss.
    pub loss_exponent: f64,
}

/// Loss and gradient norm of a step, measured before the update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepMetrics {
    /// Mean loss of the batch.
    pub loss: f32,
    /// Global gradient norm before clipping.
    pub gradient_norm: f32,
}

/// Burn's serialisation of parameters and moments, in f32.
type Format = NamedMpkBytesRecorder<FullPrecisionSettings>;

/// The optimizer of a model.
pub(crate) type OptimizerOf<M> = OptimizerAdaptor<AdamW, M, Cpu>;

/// Serialises parameters and optimizer moments without loss.
pub(crate) fn record_of<M: AutodiffModule<Cpu>>(model: &M, optimizer: &OptimizerOf<M>) -> Vec<u8> {
    let state = (model.clone().into_record(), optimizer.to_record());
    let bytes = Recorder::<Cpu>::record(&Format::default(), state, ());
    bytes.expect("tensors can be written to memory")
}

/// Returns model and optimizer with the state that [`record_of`] serialised.
///
/// # Errors
/// Describes the damage of an unreadable record.
pub(crate) fn restored<M: AutodiffModule<Cpu>>(
    model: &M,
    optimizer: &OptimizerOf<M>,
    record: Vec<u8>,
) -> Result<(M, OptimizerOf<M>), String> {
    let loaded = Recorder::<Cpu>::load(&Format::default(), record, &FlexDevice);
    let (parameters, moments) = loaded.map_err(|error| error.to_string())?;
    let model = model.clone().load_record(parameters);
    Ok((model, optimizer.clone().load_record(moments)))
}

/// A model and its optimizer on the CPU.
pub struct Trainer {
    model: Model<Cpu>,
    optimizer: OptimizerOf<Model<Cpu>>,
    settings: Settings,
    /// Measurements that have not been fetched.
    measured: Vec<StepMetrics>,
}

/// Enables gradients of parameters; [`AutodiffModule::from_inner`] does not.
pub(crate) struct Tracked;

impl ModuleMapper<Cpu> for Tracked {
    fn map_float<const D: usize>(
        &mut self,
        parameter: Param<Tensor<Cpu, D>>,
    ) -> Param<Tensor<Cpu, D>> {
        parameter.map(|x| x.require_grad())
    }
}

/// Returns the model with gradients.
pub(crate) fn tracked(model: CpuModel) -> Model<Cpu> {
    Model::from_inner(model).map(&mut Tracked)
}

impl Trainer {
    /// Returns a trainer with fresh optimizer state.
    pub fn new(model: CpuModel, settings: Settings) -> Trainer {
        let optimizer = AdamW {
            weight_decay: settings.weight_decay,
        };
        Trainer {
            model: tracked(model),
            optimizer: OptimizerAdaptor::from(optimizer),
            settings,
            measured: Vec::new(),
        }
    }

    /// Takes one AdamW step with learning rate `rate`, and clamps the weights to what integer
    /// inference can hold.
    pub fn learn(&mut self, batch: &Arc<Samples>, rate: f64) {
        debug_assert!(batch.count() <= self.settings.batch, "batch too large");
        let loss = self.model.loss(batch, self.settings.loss_exponent);
        let mut gradients = GradientsParams::from_grads(loss.backward(), &self.model);
        let norm = clipping::clip(&self.model, &mut gradients, self.settings.clip_norm);
        let model = self.optimizer.step(rate, self.model.clone(), gradients);
        self.model = model.clipped();
        self.measured.push(StepMetrics {
            loss: loss.into_scalar(),
            gradient_norm: norm,
        });
    }

    /// Returns loss and gradient norm of each step since the last call, in order.
    pub fn fetch(&mut self) -> Vec<StepMetrics> {
        std::mem::take(&mut self.measured)
    }

    /// Returns the network with its current weights.
    pub fn network(&self) -> Network {
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
