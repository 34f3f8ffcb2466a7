//! How fast the reader is, how fast the device, how fast both together, and how
//! fast the device could be.

use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use burn::tensor::backend::Backend;
use burn::tensor::{Distribution, Tensor};
use datasets::Dataset;
use models::Architecture;
use serde::Serialize;

use crate::error::TrainerError;
use crate::input::batch::Batch;
use crate::input::filter::Filter;
use crate::input::playouts;
use crate::input::reader::read_epoch;
use crate::network::clipping::CLIP_NORM;
use crate::network::evaluate::{Parts, Train};
use crate::network::first_layer::Inputs;
use crate::network::model::Model;
use crate::network::precision::Precision;
use crate::network::target::Aim;
use crate::training::device::Device;
use crate::training::feed::feed;
use crate::training::learner::Learner;
use crate::training::replicas::Replicas;
use crate::training::run::LOOK_EVERY;
use crate::training::schedule::Schedule;

/// Sides of the square matrices whose products are measured: doubled from the
/// first, until one product takes a hundredth of a second, or to the last.
const SIDES: [usize; 5] = [512, 1024, 2048, 4096, 8192];

/// Numbers in the tensor that is copied to measure memory: 512 MiB, beyond any
/// cache.
const COPIED: usize = 1 << 27;

/// Steps before measuring begins: kernels are compiled and chosen in them.
const WARM_UP: usize = 3;

/// What to measure, and on what.
pub struct Bench<'a> {
    /// The dataset to read; without one, the device is measured alone.
    pub dataset: Option<&'a Dataset>,
    /// Positions a step; fewer, if the dataset has fewer.
    pub batch: usize,
    /// How long each part is measured.
    pub time: Duration,
    /// The devices, for the report.
    pub device: Device,
    /// How a GPU's first layer takes its inputs.
    pub inputs: Inputs,
    /// How a GPU computes hidden neurons.
    pub precision: Precision,
}

/// What `trainer bench` prints.
#[derive(Debug, Serialize)]
pub struct BenchReport {
    device: String,
    /// Of a GPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    inputs: Option<Inputs>,
    #[serde(skip_serializing_if = "Option::is_none")]
    precision: Option<Precision>,
    batch: usize,
    architecture: Architecture,
    samples_per_second: Rates,
    /// What training a sample costs, counted.
    sample: Sample,
    /// What the first device does by itself, measured.
    measured: DeviceSpeed,
    /// Samples a second that the devices would reach, all as fast as the first,
    /// if they did nothing but ...
    limit: Limit,
}

#[derive(Debug, Serialize)]
struct Rates {
    /// Batches read, made ready for the devices and dropped; none without a dataset.
    reader: Option<f64>,
    /// One batch made ready for the devices, and sent to them, again and again.
    upload: f64,
    /// Steps on one batch that stays on the devices.
    device: f64,
    /// Steps on what is read; none without a dataset.
    both: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Sample {
    flop: f64,
    memory_bytes: f64,
    upload_bytes: f64,
}

#[derive(Debug, Serialize)]
struct DeviceSpeed {
    /// In products of square f32 matrices.
    flop_per_second: f64,
    /// Read and written, by a copy with an addition; on a CPU by one thread.
    memory_bytes_per_second: f64,
}

#[derive(Debug, Serialize)]
struct Limit {
    /// ... a sample's arithmetic.
    arithmetic: f64,
    /// ... a sample's reading and writing of memory.
    memory: f64,
}

/// Measures devices, one at least, that share each step, and the reader of a
/// dataset.
///
/// # Errors
/// [`TrainerError::Data`] if the dataset cannot be read; [`TrainerError::NoHalf`].
pub fn bench<B: Train>(plan: &Bench, devices: &[B::Device]) -> Result<BenchReport, TrainerError> {
    plan.device.check_precision::<B>(plan.precision, devices)?;
    let architecture = Architecture::ARTICLE;
    let clock = Clock::<B> {
        time: plan.time,
        devices,
    };
    // What a position costs depends on what stands on it: the same for all parts.
    let batch = match plan.dataset {
        Some(dataset) => first_batch(dataset, plan.batch)?,
        None => Batch::new(playouts::games(plan.batch)),
    };
    let samples = batch.records.len();
    let cost = B::cost(
        architecture,
        plan.inputs,
        plan.precision,
        &B::samples(architecture, &batch.records, Aim::LABEL, &devices[0]),
    );
    let sample = Sample {
        flop: cost.flop,
        memory_bytes: cost.bytes,
        upload_bytes: cost.sent,
    };
    let measured = DeviceSpeed {
        flop_per_second: square_products(&clock),
        memory_bytes_per_second: copies(&clock),
    };
    let count = devices.len() as f64;
    let limit = Limit {
        arithmetic: count * measured.flop_per_second / sample.flop,
        memory: count * measured.memory_bytes_per_second / sample.memory_bytes,
    };
    let made_ready = |batch| Parts::<B>::new(architecture, batch, Aim::LABEL, devices.len());
    let upload = clock.rate(|| {
        made_ready(&batch).send(devices);
        samples
    });
    let start = Model::fresh(architecture, 1, &devices[0])
        .with_inputs(plan.inputs)
        .with_precision(plan.precision);
    let start = Replicas::new(start, devices);
    // The rates of learning and decay make no difference to that of training.
    let mut learner = Learner::<B>::new(start, Schedule::new(1e-4, 1 << 20), 0.1, CLIP_NORM);
    let ready = made_ready(&batch).send(devices);
    let alone = clock.rate(|| {
        learner.learn(ready.clone());
        samples
    });
    let (reader, both) = match plan.dataset {
        Some(dataset) => {
            let reader = read_endlessly(dataset, plan.batch, &clock, drop)?;
            let both = read_endlessly(dataset, plan.batch, &clock, |parts| {
                learner.learn(parts.send(devices));
            })?;
            (Some(reader), Some(both))
        }
        None => (None, None),
    };
    Ok(BenchReport {
        device: plan.device.to_string(),
        inputs: (plan.device != Device::Cpu).then_some(plan.inputs),
        precision: (plan.device != Device::Cpu).then_some(plan.precision),
        batch: samples,
        architecture,
        samples_per_second: Rates {
            reader,
            upload,
            device: alone,
            both,
        },
        sample,
        measured,
        limit,
    })
}

/// The batch that an epoch begins with, of `size` positions if the dataset has
/// as many.
fn first_batch(dataset: &Dataset, size: usize) -> Result<Batch, TrainerError> {
    let batch = thread::scope(|scope| {
        let batches = read_epoch(scope, dataset, Filter::NONE, (1, 0), size, 0);
        batches.recv().expect("there are positions to train on")
    });
    Ok(batch?)
}

/// Measures work on devices, which may be behind the host.
struct Clock<'a, B: Backend> {
    time: Duration,
    devices: &'a [B::Device],
}

impl<B: Backend> Clock<'_, B> {
    /// Does a step again and again; how much of what it returns is done a
    /// second. The host waits for the devices as often as in training.
    fn rate(&self, mut step: impl FnMut() -> usize) -> f64 {
        for _ in 0..WARM_UP {
            step();
        }
        self.wait();
        let began = Instant::now();
        let mut done = 0;
        for steps in 1usize.. {
            done += step();
            if steps.is_multiple_of(LOOK_EVERY) {
                self.wait();
            }
            if began.elapsed() >= self.time {
                break;
            }
        }
        self.wait();
        done as f64 / began.elapsed().as_secs_f64()
    }

    fn wait(&self) {
        for device in self.devices {
            B::sync(device).expect("the device carries out what it is given");
        }
    }
}

/// Floating-point operations a second of square matrix products: of the side
/// that gives the most.
fn square_products<B: Backend>(clock: &Clock<B>) -> f64 {
    let mut most = 0f64;
    for side in SIDES {
        // Columns sum to about one, so that numbers stay what they are however
        // often they are multiplied.
        let random = Distribution::Uniform(0.0, 2.0 / side as f64);
        let matrix = Tensor::<B, 2>::random([side, side], random, &clock.devices[0]);
        let mut product = matrix.clone();
        let products = clock.rate(|| {
            product = product.clone().matmul(matrix.clone());
            1
        });
        most = most.max(products * 2.0 * (side as f64).powi(3));
        if products < 100.0 {
            break;
        }
    }
    most
}

/// Bytes a second that are read and written when a large tensor is copied.
fn copies<B: Backend>(clock: &Clock<B>) -> f64 {
    let mut tensor = Tensor::<B, 1>::zeros([COPIED], &clock.devices[0]);
    let copies = clock.rate(|| {
        tensor = tensor.clone() + 1.0;
        // One at a time: two could be done in one go.
        clock.wait();
        1
    });
    copies * (2 * COPIED * size_of::<f32>()) as f64
}

/// Takes a dataset's batches, made ready for the devices, epoch after epoch; how many
/// samples a second come that way through `step`.
fn read_endlessly<B: Train>(
    dataset: &Dataset,
    size: usize,
    clock: &Clock<B>,
    mut step: impl FnMut(Parts<B>),
) -> Result<f64, TrainerError> {
    thread::scope(|scope| {
        let devices = clock.devices.len();
        let mut batches = (0..).flat_map(|epoch| {
            let batches = read_epoch(scope, dataset, Filter::NONE, (1, epoch), size, 0);
            feed(scope, batches, Architecture::ARTICLE, devices, |_| {
                Aim::LABEL
            })
        });
        let mut failure = None;
        let rate = clock.rate(|| match batches.next() {
            Some(Ok(parts)) => {
                let positions = parts.positions;
                step(parts);
                positions
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
            "{:#} on {}{}{}, batches of {}",
            self.architecture,
            self.device,
            match self.inputs {
                Some(Inputs::Sparse) => " with sparse inputs",
                Some(Inputs::Dense) => " with dense inputs",
                None => "",
            },
            match self.precision {
                Some(Precision::Half) => " in half precision",
                Some(Precision::Full) | None => "",
            },
            self.batch
        )?;
        let mut row = |name: &str, rate: f64, what: &str| {
            writeln!(f, "{name:12}{rate:>13.0} samples/s  {what}")
        };
        if let Some(reader) = rates.reader {
            row("reader", reader, "read and shuffled, ahead of the device")?;
        }
        row(
            "upload",
            rates.upload,
            "made ready for the device, and sent to it",
        )?;
        row("device", rates.device, "trained on, the batch at hand")?;
        if let Some(both) = rates.both {
            row("both", both, "read, sent and trained on")?;
        }
        let DeviceSpeed {
            flop_per_second,
            memory_bytes_per_second,
        } = self.measured;
        let arithmetic = format!(
            "at most, by arithmetic: {:.2} Mflop a sample, {:.3} Tflop/s",
            self.sample.flop / 1e6,
            flop_per_second / 1e12
        );
        let memory = format!(
            "at most, by memory: {:.1} KB a sample, {:.1} GB/s",
            self.sample.memory_bytes / 1e3,
            memory_bytes_per_second / 1e9
        );
        row("limit", self.limit.arithmetic, &arithmetic)?;
        row("limit", self.limit.memory, &memory)?;
        if let Some((reader, both)) = rates.reader.zip(rates.both) {
            writeln!(f, "{}", verdict(reader, rates.device, both))?;
        }
        Ok(())
    }
}

/// What holds the training up, of rates that are each measured by themselves: none
/// is the same twice, and both together may seem faster than one.
fn verdict(reader: f64, device: f64, both: f64) -> String {
    let (slower, rate) = match reader < device {
        true => ("reader", reader),
        false => ("device", device),
    };
    let share = 100.0 * both / rate;
    match share < 99.5 {
        true => format!("the {slower} is the slower: both together reach {share:.0} % of it"),
        false => format!("the {slower} is the slower: both together are as fast"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::backend::Autodiff;
    use burn_flex::{Flex, FlexDevice};
    use datasets::Split;

    use crate::testing;

    #[test]
    fn measures_every_part_and_the_limit() {
        let _turn = testing::turn();
        let folder = tempfile::tempdir().unwrap();
        let dataset = testing::dataset(folder.path(), 3000);
        let plan = Bench {
            dataset: Some(&dataset),
            batch: 64,
            time: Duration::from_millis(10),
            device: Device::Cpu,
            inputs: Inputs::default(),
            precision: Precision::default(),
        };
        let report = bench::<Autodiff<Flex>>(&plan, &[FlexDevice]).unwrap();
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
        let report = bench::<Autodiff<Flex>>(&small, &[FlexDevice]).unwrap();
        assert_eq!(report.batch as u64, dataset.len(Split::Train));
        let text = report.to_string();
        for word in [
            "902-451-32-32-1",
            "reader",
            "upload",
            "device",
            "both",
            "limit",
        ] {
            assert!(text.contains(word), "{word}: {text}");
        }
    }

    #[test]
    fn the_slower_part_is_named() {
        let device = "the device is the slower: both together ";
        assert_eq!(
            verdict(40.0, 20.0, 10.0),
            format!("{device}reach 50 % of it")
        );
        assert_eq!(verdict(40.0, 20.0, 26.6), format!("{device}are as fast"));
        assert!(verdict(20.0, 40.0, 19.0).starts_with("the reader"));
    }
}
