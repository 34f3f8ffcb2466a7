//! Executors: training steps on the CPU (Burn) or on a GPU (CubeCL).

mod cpu;
#[cfg(feature = "gpu")]
mod gpu;

use datasets::Record;
use models::{Architecture, Network};
use network::{Aim, CpuModel};

use crate::error::TrainerError;

pub use cpu::CpuExecutor;
#[cfg(feature = "gpu")]
pub use gpu::{GpuDevice, GpuExecutor};
pub use network::{BETAS, EPSILON, Settings, StepMetrics};

/// Duration of one kernel of a step.
#[derive(Clone, Copy, Debug)]
pub struct StepPart {
    /// Name of the kernel.
    pub kernel: &'static str,
    /// Stage of the step: `derive`, `forward`, `backward` or `optimizer`.
    pub stage: &'static str,
    /// Duration in milliseconds.
    pub milliseconds: f64,
}

/// A network and its optimizer on a device.
pub trait Executor: Sized {
    /// Handle of the device.
    type Device;
    /// Prepared positions, still on the host.
    type Prepared: Send + 'static;
    /// Positions on the device. Cloning is cheap.
    type Batch: Clone;

    /// Prepares records, on any thread.
    fn prepare(architecture: Architecture, records: Vec<Record>, aim: Aim) -> Self::Prepared;

    /// Uploads a model to a device.
    fn start(
        device: &Self::Device,
        model: CpuModel,
        settings: Settings,
    ) -> Result<Self, TrainerError>;

    /// Uploads prepared positions to the device.
    fn send(&self, prepared: Self::Prepared) -> Self::Batch;

    /// Takes one AdamW step with learning rate `rate`, and clamps the weights to what integer
    /// inference can hold. May return before the device has finished.
    fn learn(&mut self, batch: &Self::Batch, rate: f64);

    /// Returns loss and gradient norm of each step since the last call, in order. Waits for the
    /// steps.
    fn fetch(&mut self) -> Vec<StepMetrics>;

    /// Blocks until every step has ended.
    fn wait(&self);

    /// Takes a step on a batch, waiting for each kernel. Returns the kernels' durations in order;
    /// empty on the CPU.
    fn step_parts(&mut self, batch: &Self::Batch) -> Vec<StepPart>;

    /// Returns the network with its current weights.
    fn network(&self) -> Network;

    /// Returns whether every parameter is finite.
    fn is_finite(&self) -> bool;

    /// Serialises parameters and optimizer moments without loss.
    fn record(&self) -> Vec<u8>;

    /// Restores the state that [`record`](Self::record) serialised after `steps` steps.
    ///
    /// # Errors
    /// Describes the damage of an unreadable record.
    fn restore(&mut self, steps: u64, record: Vec<u8>) -> Result<(), String>;
}
