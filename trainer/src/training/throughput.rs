//! Throughput of the reader, of the device, and of both together.

use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use datasets::{Dataset, Record};
use models::Architecture;
use serde::Serialize;

use crate::batch::reader::read_epoch;
use crate::error::TrainerError;
use crate::training::device::Device;
use crate::training::executor::{Executor, Settings};
use crate::training::feed::feed;
use crate::training::learner::Learner;
use crate::training::run::FETCH_EVERY;
use crate::training::schedule::Schedule;
use network::Aim;
use network::CLIP_NORM;
use network::CpuModel;

/// Steps before measuring begins.
const WARM_UP: usize = 3;
/// Steps with separate timing of kernels; the fastest of each counts.
const TIMED_STEPS: usize = 5;

/// Settings of a measurement.
pub struct Bench<'a> {
    /// Architecture of the network.
    pub architecture: Architecture,
    /// Dataset to read; `None` measures the device alone.
    pub dataset: Option<&'a Dataset>,
    /// Positions a step, limited by the dataset's size.
    pub batch: usize,
    /// Duration of each measurement.
    pub time: Duration,
    /// Device, for the report.
    pub device: Device,
}

/// Report of `trainer bench`.
#[derive(Debug, Serialize)]
pub struct BenchReport {
    device: String,
    batch: usize,
    architecture: Architecture,
    /// Time from the start until the first step had ended, including compilation of kernels.
    first_step_seconds: f64,
    samples_per_second: Rates,
    /// Milliseconds of a step, by part.
    step_milliseconds: StepParts,
    /// Milliseconds of each kernel of a step, the host waiting for each; empty on the CPU.
    kernel_milliseconds: Vec<(&'static str, f64)>,
}

#[derive(Debug, Serialize)]
struct Rates {
    /// Batches read and prepared for the device; `None` without a dataset.
    reader: Option<f64>,
    /// Preparing one batch and sending it to the device, repeatedly.
    upload: f64,
    /// Steps on one batch that stays on the device.
    device: f64,
    /// Steps on batches read from the dataset; `None` without one.
    both: Option<f64>,
}

/// Milliseconds of the parts of a step. On the CPU, a step is one part, and preparing a batch
/// (`send`) includes deriving its inputs.
#[derive(Debug, Serialize)]
struct StepParts {
    read: Option<f64>,
    send: f64,
    derive: Option<f64>,
    forward: Option<f64>,
    backward: Option<f64>,
    optimizer: Option<f64>,
    /// Whole step on the device.
    step: f64,
}

/// Measures a device and the reader of a dataset.
///
/// # Errors
/// [`TrainerError::Data`] if the dataset cannot be read; [`TrainerError::TooLittleMemory`].
pub fn bench<E: Executor>(plan: &Bench, device: &E::Device) -> Result<BenchReport, TrainerError> {
    let architecture = plan.architecture;
    // All parts share these positions, since the cost depends on the pieces.
    let records = match plan.dataset {
        Some(dataset) => first_batch(dataset, plan.batch)?,
        None => features::playouts::games(plan.batch),
    };
    let samples = records.len();
    let settings = Settings {
        batch: samples,
        weight_decay: 0.1,
        clip_norm: CLIP_NORM,
        loss_exponent: 1.0,
    };
    let start = CpuModel::fresh(architecture, 1);
    // Learning rate and weight decay do not affect speed.
    let schedule = Schedule::new(1e-4, 1 << 20);
    let began = Instant::now();
    let mut learner = Learner::<E>::new(device, start, schedule, settings)?;
    let prepared = E::prepare(architecture, records.clone(), Aim::LABEL);
    let batch = learner.executor().send(prepared);
    learner.learn(&batch, samples);
    learner.fetch();
    let first_step_seconds = began.elapsed().as_secs_f64();
    let mut kernels = learner.executor().step_parts(&batch);
    for _ in 1..TIMED_STEPS {
        let again = learner.executor().step_parts(&batch);
        for (fastest, again) in kernels.iter_mut().zip(again) {
            fastest.milliseconds = fastest.milliseconds.min(again.milliseconds);
        }
    }
    let clock = Clock { time: plan.time };
    let upload = clock.rate(&mut learner, |learner| {
        let prepared = E::prepare(architecture, records.clone(), Aim::LABEL);
        learner.executor().send(prepared);
        samples
    });
    let alone = clock.rate(&mut learner, |learner| {
        learner.learn(&batch, samples);
        samples
    });
    let (reader, both) = match plan.dataset {
        Some(dataset) => {
            let order = (dataset, samples, architecture);
            let reader = read_endlessly(order, &clock, &mut learner, |_, _, _| {})?;
            let both = read_endlessly(order, &clock, &mut learner, |learner, ready, samples| {
                let batch = learner.executor().send(ready);
                learner.learn(&batch, samples);
            })?;
            (Some(reader), Some(both))
        }
        None => (None, None),
    };
    let milliseconds = |rate: f64| 1e3 * samples as f64 / rate;
    let stage = |stage: &str| {
        let kernels = kernels.iter().filter(|part| part.stage == stage);
        let times: Vec<f64> = kernels.map(|part| part.milliseconds).collect();
        (!times.is_empty()).then(|| times.iter().sum())
    };
    Ok(BenchReport {
        device: plan.device.to_string(),
        batch: samples,
        architecture,
        first_step_seconds,
        samples_per_second: Rates {
            reader,
            upload,
            device: alone,
            both,
        },
        step_milliseconds: StepParts {
            read: reader.map(milliseconds),
            send: milliseconds(upload),
            derive: stage("derive"),
            forward: stage("forward"),
            backward: stage("backward"),
            optimizer: stage("optimizer"),
            step: milliseconds(alone),
        },
        kernel_milliseconds: kernels
            .iter()
            .map(|part| (part.kernel, part.milliseconds))
            .collect(),
    })
}

/// Returns the first batch of an epoch, of `size` positions if the dataset has as many.
fn first_batch(dataset: &Dataset, size: usize) -> Result<Vec<Record>, TrainerError> {
    let batch = thread::scope(|scope| {
        let batches = read_epoch(scope, dataset, None, (1, 0), size, 0);
        batches.recv().expect("there are positions to train on")
    });
    Ok(batch?)
}

/// Rate measurement of work on an asynchronous device.
struct Clock {
    time: Duration,
}

impl Clock {
    /// Repeats `step` for the clock's time; returns the sum of its results per second. The host
    /// waits for the device as often as in training.
    fn rate<E: Executor>(
        &self,
        learner: &mut Learner<E>,
        mut step: impl FnMut(&mut Learner<E>) -> usize,
    ) -> f64 {
        let wait = |learner: &mut Learner<E>| {
            learner.executor().wait();
            learner.fetch();
        };
        for _ in 0..WARM_UP {
            step(learner);
        }
        wait(learner);
        let began = Instant::now();
        let mut done = 0;
        for steps in 1usize.. {
            done += step(learner);
            if steps.is_multiple_of(FETCH_EVERY) {
                wait(learner);
            }
            if began.elapsed() >= self.time {
                break;
            }
        }
        wait(learner);
        done as f64 / began.elapsed().as_secs_f64()
    }
}

/// Returns the positions a second that are read, epoch after epoch, and passed to `take`.
fn read_endlessly<E: Executor>(
    (dataset, batch, architecture): (&Dataset, usize, Architecture),
    clock: &Clock,
    learner: &mut Learner<E>,
    mut take: impl FnMut(&mut Learner<E>, E::Prepared, usize),
) -> Result<f64, TrainerError> {
    thread::scope(|scope| {
        let epochs = (0..).map(|epoch| {
            let batches = read_epoch(scope, dataset, None, (1, epoch), batch, 0);
            feed::<E>(scope, batches, architecture, |_| Aim::LABEL)
        });
        let mut batches = epochs.flatten();
        let mut failure = None;
        let rate = clock.rate(learner, |learner| match batches.next() {
            Some(Ok((ready, samples))) => {
                take(learner, ready, samples);
                samples
            }
            Some(Err(error)) => {
                failure = Some(error);
                0
            }
            None => unreachable!("epochs have no end"),
        });
        match failure {
            Some(error) => Err(error.into()),
            None => Ok(rate),
        }
    })
}

impl fmt::Display for BenchReport {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let rates = &self.samples_per_second;
        writeln!(
            f,
            "{:#} on {}, batches of {}",
            self.architecture, self.device, self.batch
        )?;
        let mut row = |name: &str, rate: f64, what: &str| {
            writeln!(f, "{name:12}{:>13} samples/s  {what}", host::rate(rate))
        };
        if let Some(reader) = rates.reader {
            row("reader", reader, "read and shuffled, ahead of the device")?;
        }
        row("upload", rates.upload, "prepared and sent to the device")?;
        row("device", rates.device, "steps on one batch on the device")?;
        if let Some(both) = rates.both {
            row("both", both, "read, sent and trained on")?;
        }
        let parts = &self.step_milliseconds;
        let parts = [
            ("read", parts.read),
            ("send", Some(parts.send)),
            ("derive", parts.derive),
            ("forward", parts.forward),
            ("backward", parts.backward),
            ("optimizer", parts.optimizer),
            ("step", Some(parts.step)),
        ];
        for (name, time) in parts {
            if let Some(time) = time {
                writeln!(f, "{name:12}{time:>13.3} ms a batch")?;
            }
        }
        writeln!(f, "first step done after {:.1} s", self.first_step_seconds)?;
        if let Some((reader, both)) = rates.reader.zip(rates.both) {
            writeln!(f, "{}", verdict(reader, rates.device, both))?;
        }
        Ok(())
    }
}

/// Names the bottleneck. The rates are measured separately and vary, so both together may seem
/// faster than one.
fn verdict(reader: f64, device: f64, both: f64) -> String {
    let (slower, rate) = match reader < device {
        true => ("reader", reader),
        false => ("device", device),
    };
    let share = 100.0 * both / rate;
    match share < 99.5 {
        true => format!("the {slower} is the bottleneck: both together reach {share:.0} % of it"),
        false => format!("the {slower} is the bottleneck: both together are as fast"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datasets::Split;

    use crate::testing;
    use crate::training::executor::CpuExecutor;

    #[test]
    fn measures_every_part() {
        let _turn = testing::turn();
        let folder = tempfile::tempdir().unwrap();
        let dataset = testing::dataset(folder.path(), 3000);
        let plan = Bench {
            architecture: Architecture::ARTICLE,
            dataset: Some(&dataset),
            batch: 64,
            time: Duration::from_millis(10),
            device: Device::Cpu,
        };
        let report = bench::<CpuExecutor>(&plan, &()).unwrap();
        let Rates {
            reader,
            upload,
            device,
            both,
        } = report.samples_per_second;
        for rate in [reader.unwrap(), upload, device, both.unwrap()] {
            assert!(rate.is_finite() && rate > 0.0, "{report:?}");
        }
        assert_eq!(report.batch, 64);
        let small = Bench {
            batch: 1 << 20,
            ..plan
        };
        let report = bench::<CpuExecutor>(&small, &()).unwrap();
        assert_eq!(report.batch as u64, dataset.len(Split::Train));
        let text = report.to_string();
        for word in [
            "902-451-32-32-1",
            "reader",
            "upload",
            "device",
            "both",
            "step",
        ] {
            assert!(text.contains(word), "{word}: {text}");
        }
    }

    #[test]
    fn names_the_bottleneck() {
        let device = "the device is the bottleneck: both together ";
        assert_eq!(
            verdict(40.0, 20.0, 10.0),
            format!("{device}reach 50 % of it")
        );
        assert_eq!(verdict(40.0, 20.0, 26.6), format!("{device}are as fast"));
        assert!(verdict(20.0, 40.0, 19.0).starts_with("the reader"));
    }
}
