//! Executor on the CPU, by crate `network`.

use std::sync::Arc;

use datasets::Record;
use models::{Architecture, Network};
use network::{Aim, CpuModel, Samples, Trainer};

use super::{Executor, Settings, StepMetrics, StepPart};
use crate::error::TrainerError;

/// A network and its optimizer on the CPU.
pub struct CpuExecutor(Trainer);

impl Executor for CpuExecutor {
    type Device = ();
    type Prepared = Samples;
    type Batch = Arc<Samples>;

    fn prepare(architecture: Architecture, records: Vec<Record>, aim: Aim) -> Samples {
        Samples::new(architecture, &records, aim)
    }

    fn start(
        _device: &(),
        model: CpuModel,
        settings: Settings,
    ) -> Result<CpuExecutor, TrainerError> {
        Ok(CpuExecutor(Trainer::new(model, settings)))
    }

    fn send(&self, prepared: Samples) -> Arc<Samples> {
        Arc::new(prepared)
    }

    fn learn(&mut self, batch: &Arc<Samples>, rate: f64) {
        self.0.learn(batch, rate);
    }

    fn fetch(&mut self) -> Vec<StepMetrics> {
        self.0.fetch()
    }

    fn wait(&self) {}

    fn step_parts(&mut self, _batch: &Arc<Samples>) -> Vec<StepPart> {
        Vec::new()
    }

    fn network(&self) -> Network {
        self.0.network()
    }

    fn is_finite(&self) -> bool {
        self.0.is_finite()
    }

    fn record(&self) -> Vec<u8> {
        self.0.record()
    }

    fn restore(&mut self, _steps: u64, record: Vec<u8>) -> Result<(), String> {
        self.0.restore(record)
    }
}
