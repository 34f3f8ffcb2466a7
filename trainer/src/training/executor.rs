//! Where steps of training are carried out: on the CPU by Burn, or on a GPU.

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
pub use network::{BETAS, EPSILON, Measured, Settings};

/// A kernel of a step.
#[derive(Clone, Copy, Debug)]
pub struct StepPart {
    /// The kernel's name.
    pub kernel: &'static str,
    /// Stage of the step: `derive`, `forward`, `backward` or `optimizer`.
    pub stage: &'static str,
    /// Duration in milliseconds.
    pub milliseconds: f64,
}

/// A network and its optimizer on a device.
pub trait Executor: Sized {
    /// The device, where there are several.
    type Device;
    /// Positions made ready, still on the host.
    type Prepared: Send + 'static;
    /// Positions on the device. A clone is cheap.
    type Batch: Clone;

    /// Makes records ready. Any thread can do it.
    fn prepare(architecture: Architecture, records: Vec<Record>, aim: Aim) -> Self::Prepared;

    /// Puts a model on a device.
    ///
    /// # Errors
    /// [`TrainerError::TooLittleMemory`].
    fn start(
        device: &Self::Device,
        model: CpuModel,
        settings: Settings,
    ) -> Result<Self, TrainerError>;

    /// Sends positions to the device.
    fn send(&self, prepared: Self::Prepared) -> Self::Batch;

    /// Takes one step of AdamW at a learning rate, and clips the weights to what integer
    /// inference can hold. It may end later.
    fn learn(&mut self, batch: &Self::Batch, rate: f64);

    /// Returns loss and gradient norm of each step since the last call, in order. Waits for the
    /// steps.
    fn fetch(&mut self) -> Vec<Measured>;

    /// Waits until every step has ended.
    fn wait(&self);

    /// Takes a step on a batch, waiting for each kernel. Returns the kernels in order; none where
    /// a step has no kernels to tell apart.
    fn step_parts(&mut self, batch: &Self::Batch) -> Vec<StepPart>;

    /// Returns the network with its current weights.
    fn network(&self) -> Network;

    /// Whether every parameter is a finite number.
    fn is_finite(&self) -> bool;

    /// Parameters and moments, to the bit.
    fn record(&self) -> Vec<u8>;

    /// Goes on as after so many steps that left this record.
    ///
    /// # Errors
    /// Says how the record is damaged.
    fn restore(&mut self, steps: u64, record: Vec<u8>) -> Result<(), String>;
}
