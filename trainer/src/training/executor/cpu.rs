//! Steps on the CPU.

use std::sync::Arc;

use burn::backend::Autodiff;
use burn::module::{AutodiffModule, Module, ModuleMapper, Param};
use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::{AdamW, AdamWConfig, GradientsParams, Optimizer};
use burn::record::{FullPrecisionSettings, NamedMpkBytesRecorder, Recorder};
use burn::tensor::Tensor;
use burn_flex::{Flex, FlexDevice};
use datasets::Record;
use models::{Architecture, Network};

use super::{BETAS, EPSILON, Executor, Measured, Settings, StepPart};
use crate::error::TrainerError;
use crate::network::clipping;
use crate::network::cpu::Samples;
use crate::network::finite::is_finite;
use crate::network::model::Model;
use crate::network::target::Aim;

/// The CPU, with gradients.
type Cpu = Autodiff<Flex>;

/// Parameters and moments in Burn's own format, f32.
type Format = NamedMpkBytesRecorder<FullPrecisionSettings>;

/// A model and its optimizer on the CPU.
pub struct CpuExecutor {
    model: Model<Cpu>,
    optimizer: OptimizerAdaptor<AdamW, Model<Cpu>, Cpu>,
    settings: Settings,
    /// Measurements that were not fetched yet.
    measured: Vec<Measured>,
}

/// Makes parameters tracked, which [`AutodiffModule::from_inner`] leaves out.
struct Tracked;

impl ModuleMapper<Cpu> for Tracked {
    fn map_float<const D: usize>(
        &mut self,
        parameter: Param<Tensor<Cpu, D>>,
    ) -> Param<Tensor<Cpu, D>> {
        parameter.map(|x| x.require_grad())
    }
}

impl Executor for CpuExecutor {
    type Device = ();
    type Prepared = Samples;
    type Batch = Arc<Samples>;

    fn prepare(architecture: Architecture, records: Vec<Record>, aim: Aim) -> Samples {
        Samples::new(architecture, &records, aim)
    }

    fn start(
        _device: &(),
        model: Model<Flex>,
        settings: Settings,
    ) -> Result<CpuExecutor, TrainerError> {
        let optimizer = AdamWConfig::new()
            .with_beta_1(BETAS[0] as f32)
            .with_beta_2(BETAS[1] as f32)
            .with_epsilon(EPSILON as f32)
            .with_weight_decay(settings.weight_decay as f32)
            .init();
        Ok(CpuExecutor {
            model: Model::from_inner(model).map(&mut Tracked),
            optimizer,
            settings,
            measured: Vec::new(),
        })
    }

    fn send(&self, prepared: Samples) -> Arc<Samples> {
        Arc::new(prepared)
    }

    fn learn(&mut self, batch: &Arc<Samples>, rate: f64) {
        debug_assert!(batch.len() <= self.settings.batch, "more than was foreseen");
        let loss = self.model.loss(batch, self.settings.loss_exponent);
        let mut gradients = GradientsParams::from_grads(loss.backward(), &self.model);
        let norm = clipping::clip(&self.model, &mut gradients, self.settings.clip_norm);
        let model = self.optimizer.step(rate, self.model.clone(), gradients);
        self.model = model.clipped();
        self.measured.push(Measured {
            loss: loss.into_scalar(),
            gradient_norm: norm.into_scalar(),
        });
    }

    fn fetch(&mut self) -> Vec<Measured> {
        std::mem::take(&mut self.measured)
    }

    fn wait(&self) {}

    fn step_parts(&mut self, _batch: &Arc<Samples>) -> Vec<StepPart> {
        Vec::new()
    }

    fn network(&self) -> Network {
        self.model.network()
    }

    fn is_finite(&self) -> bool {
        is_finite(&self.model)
    }

    fn record(&self) -> Vec<u8> {
        let state = (self.model.clone().into_record(), self.optimizer.to_record());
        let bytes = Recorder::<Cpu>::record(&Format::default(), state, ());
        bytes.expect("tensors can be written to memory")
    }

    fn restore(&mut self, _steps: u64, record: Vec<u8>) -> Result<(), String> {
        let loaded = Recorder::<Cpu>::load(&Format::default(), record, &FlexDevice);
        let (model, optimizer) = loaded.map_err(|error| error.to_string())?;
        self.model = self.model.clone().load_record(model);
        self.optimizer = self.optimizer.clone().load_record(optimizer);
        Ok(())
    }
}
