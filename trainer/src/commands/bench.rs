//! `trainer bench`: measures the speed of a device, of the dataset reader, and of both together.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use host::Threads;

use crate::commands::device::DeviceOption;
use crate::commands::output::json;
use crate::commands::recipe::NetworkOptions;
use crate::commands::{dataset, values};
use crate::error::TrainerError;
use crate::training::device::Job;
use crate::training::executor::Executor;
use crate::training::throughput::{self, Bench, BenchReport};

const EXAMPLE: &str = "\
Examples:
  trainer bench --data june.dataset
  trainer bench --device cuda --json        no dataset: the device alone
  trainer bench --device cuda --hidden 512 --view both --buckets 8

Rates are samples a second, of each part alone and of reader and device together as in
`trainer fit`.";

/// Arguments of `trainer bench`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Arguments {
    /// Dataset to read; by default trains on positions of random games
    #[arg(short, long, value_name = "DATASET")]
    data: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceOption,
    #[command(flatten)]
    network: NetworkOptions,
    /// Positions a step
    #[arg(long, alias = "batch-size", value_name = "N", default_value = "16384", allow_negative_numbers = true,
          value_parser = values::batch)]
    batch: usize,
    /// Seconds to measure each part, after a warm-up
    #[arg(long, value_name = "S", default_value = "5", allow_negative_numbers = true,
          value_parser = values::seconds)]
    seconds: Duration,
    #[command(flatten)]
    threads: Threads,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// [`TrainerError`].
pub fn run(arguments: Arguments) -> Result<(), TrainerError> {
    arguments.threads.apply();
    let device = arguments.device.find()?;
    let dataset = match &arguments.data {
        Some(path) => Some(dataset::open_to_train_on(path)?),
        None => None,
    };
    let plan = Bench {
        architecture: arguments.network.start()?.architecture,
        dataset: dataset.as_ref(),
        batch: arguments.batch,
        time: arguments.seconds,
        device,
    };
    let report = plan.device.run(&plan)?;
    Ok(host::print(&match arguments.json {
        true => json(&report),
        false => report.to_string(),
    })?)
}

impl Job for &Bench<'_> {
    type Output = BenchReport;

    fn run<E: Executor>(self, device: &E::Device) -> Result<BenchReport, TrainerError> {
        throughput::bench::<E>(self, device)
    }
}
