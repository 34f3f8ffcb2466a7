//! `trainer bench`: how fast a device trains, what its reader gives, and the limit.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::commands::output::json;
use crate::commands::{dataset, values};
use crate::error::TrainerError;
use crate::network::evaluate::Train;
use crate::network::first_layer::Inputs;
use crate::network::precision::Precision;
use crate::training::device::{Device, DeviceChoice, Job};
use crate::training::throughput::{self, Bench, BenchReport};

const EXAMPLE: &str = "\
Examples:
  trainer bench --data june.dataset
  trainer bench --device cuda --json        no dataset: the device alone
  trainer bench --device cuda --inputs dense

Rates are samples a second of each part alone and of reader and device together, as
`trainer fit` runs them, on the network 902-451-32-32-1. What the device can do at most comes from
its own speed, in products of square f32 matrices and in memory, and from the arithmetic
and the bytes that a sample costs, which are counted, not measured.";

/// Arguments of `trainer bench`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Arguments {
    /// Dataset to read; without it, positions of random games are trained on
    #[arg(long, value_name = "DATASET")]
    data: Option<PathBuf>,
    /// Device: auto takes the best GPU, or the CPU where there is none; cuda:0,1 shares each
    /// step between two (`trainer devices` lists them)
    #[arg(
        long,
        value_name = "auto|cpu|cuda[:N,...]|vulkan[:N]|metal",
        default_value = "auto"
    )]
    device: DeviceChoice,
    /// How a GPU's first layer takes its inputs: sparse adds up the rows of the active ones,
    /// dense multiplies all of them, nearly all zero
    #[arg(long, value_enum, default_value_t = Inputs::Sparse)]
    inputs: Inputs,
    /// How a GPU computes hidden neurons; half reads and writes fewer bytes
    #[arg(long, value_enum, default_value_t = Precision::Full)]
    precision: Precision,
    /// Positions a step
    #[arg(long, value_name = "N", default_value = "16384", allow_negative_numbers = true,
          value_parser = values::batch)]
    batch: usize,
    /// How long each part is measured, in seconds; a warm-up comes before
    #[arg(long, value_name = "S", default_value = "5", allow_negative_numbers = true,
          value_parser = values::seconds)]
    seconds: Duration,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// [`TrainerError`].
pub fn run(arguments: Arguments) -> Result<(), TrainerError> {
    let device = Device::find(arguments.device)?;
    let dataset = match &arguments.data {
        Some(path) => Some(dataset::open_to_train_on(path)?),
        None => None,
    };
    let plan = Bench {
        dataset: dataset.as_ref(),
        batch: arguments.batch,
        time: arguments.seconds,
        device,
        inputs: arguments.inputs,
        precision: arguments.precision,
    };
    let report = plan.device.run(&plan)?;
    Ok(host::print(&match arguments.json {
        true => json(&report),
        false => report.to_string(),
    })?)
}

impl Job for &Bench<'_> {
    type Output = BenchReport;

    fn run<B: Train>(self, devices: &[B::Device]) -> Result<BenchReport, TrainerError> {
        throughput::bench::<B>(self, devices)
    }
}
