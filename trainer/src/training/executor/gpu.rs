//! Executor on a GPU, by crate `gpu`.

use datasets::Record;
use gpu::{Config, Parameters, Runtime, State, Trainer};
use models::{Architecture, Network};
use network::{Aim, CpuModel, bound};

use super::{BETAS, EPSILON, Executor, Settings, StepMetrics, StepPart};
use crate::error::TrainerError;

/// Handle, name and memory of a GPU.
pub struct GpuDevice<R: Runtime> {
    /// CubeCL's handle of the device.
    pub device: R::Device,
    /// Name on the command line.
    pub name: String,
    /// Memory in bytes, if the driver reports it.
    pub memory: Option<u64>,
}

/// A network and its optimizer on a GPU.
pub struct GpuExecutor<R: Runtime> {
    trainer: Trainer<R>,
    /// A model of the same architecture, for conversions.
    model: CpuModel,
}

/// First bytes of a GPU's record, which distinguish it from a CPU's.
const MAGIC: &[u8; 16] = b"kibitz gpu v1\n\0\0";

impl<R: Runtime> Executor for GpuExecutor<R> {
    type Device = GpuDevice<R>;
    type Prepared = (Vec<Record>, Aim);
    type Batch = (gpu::Batch, Aim);

    fn prepare(_: Architecture, records: Vec<Record>, aim: Aim) -> (Vec<Record>, Aim) {
        (records, aim)
    }

    fn start(
        device: &GpuDevice<R>,
        model: CpuModel,
        settings: Settings,
    ) -> Result<GpuExecutor<R>, TrainerError> {
        let architecture = model.architecture();
        let bounds = (0..architecture.layers().len()).map(|layer| bound(architecture, layer));
        let config = Config {
            architecture,
            batch: settings.batch,
            own_scale: model.own_scale(),
            bounds: bounds.collect(),
            exponent: settings.loss_exponent as f32,
            weight_decay: settings.weight_decay as f32,
            clip_norm: settings.clip_norm,
            betas: BETAS.map(|beta| beta as f32),
            epsilon: EPSILON as f32,
        };
        let needed = gpu::memory(&config);
        if let Some(memory) = device.memory.filter(|&memory| memory < needed) {
            return Err(TrainerError::TooLittleMemory {
                device: device.name.clone(),
                needed,
                memory,
            });
        }
        let client = R::client(&device.device);
        let trainer = Trainer::new(client, config, &model.parameters());
        Ok(GpuExecutor { trainer, model })
    }

    fn send(&self, (records, aim): (Vec<Record>, Aim)) -> (gpu::Batch, Aim) {
        (self.trainer.send(&records), aim)
    }

    fn learn(&mut self, (batch, aim): &(gpu::Batch, Aim), rate: f64) {
        self.trainer.learn(batch, rate, aim.result_share);
    }

    fn fetch(&mut self) -> Vec<StepMetrics> {
        let measured = self.trainer.fetch().into_iter();
        let measured = measured.map(|step| StepMetrics {
            loss: step.loss,
            gradient_norm: step.gradient_norm,
        });
        measured.collect()
    }

    fn wait(&self) {
        self.trainer.wait();
    }

    fn step_parts(&mut self, (batch, _): &(gpu::Batch, Aim)) -> Vec<StepPart> {
        let launches = self.trainer.timed(batch, 0.0).into_iter();
        let launches = launches.map(|launch| StepPart {
            kernel: launch.kernel,
            stage: launch.stage,
            milliseconds: 1e3 * launch.time.as_secs_f64(),
        });
        launches.collect()
    }

    fn network(&self) -> Network {
        let parameters = self.trainer.parameters();
        self.model.network_of(&parameters)
    }

    fn is_finite(&self) -> bool {
        let parameters = self.trainer.parameters();
        parameters.numbers().all(|number| number.is_finite())
    }

    fn record(&self) -> Vec<u8> {
        let State {
            parameters,
            moments,
        } = self.trainer.state();
        let mut bytes = MAGIC.to_vec();
        for part in [&parameters, &moments[0], &moments[1]] {
            bytes.extend(part.numbers().flat_map(|number| number.to_le_bytes()));
        }
        bytes
    }

    fn restore(&mut self, steps: u64, record: Vec<u8>) -> Result<(), String> {
        let numbers = record
            .strip_prefix(MAGIC)
            .ok_or("written on the CPU, or by a trainer before version 0.3")?;
        let mut numbers = numbers.as_chunks::<4>().0.iter();
        let mut fill = || {
            let mut part = Parameters::zeros(self.model.architecture());
            for number in part.numbers_mut() {
                *number = f32::from_le_bytes(*numbers.next()?);
            }
            Some(part)
        };
        let state = fill().zip(fill()).zip(fill());
        let ((parameters, first), second) = state.ok_or("cut short")?;
        if numbers.next().is_some() {
            return Err("of another network".to_string());
        }
        let moments = [first, second];
        self.trainer.restore(
            steps,
            &State {
                parameters,
                moments,
            },
        );
        Ok(())
    }
}
