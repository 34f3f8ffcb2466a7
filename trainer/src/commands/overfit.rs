//! `trainer overfit`: memorises one small batch.

use std::path::PathBuf;

use clap::Args;
use datasets::Split;

use crate::commands::output::json;
use crate::commands::recipe::NetworkOptions;
use crate::commands::{dataset, values};
use crate::error::TrainerError;
use crate::training::device::{Device, DeviceChoice, Job};
use crate::training::executor::Executor;
use crate::training::overfit::{self, Learned, Task};

const EXAMPLE: &str = "\
Examples: after a change of the network's code, and for another architecture
  trainer overfit
  trainer overfit --hidden 512,16,32 --view both --device cuda

The exit code is 0 if the loss came below --below, else 1.";

/// Arguments of `trainer overfit`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Arguments {
    /// Dataset to take the batch from; by default positions of random games
    #[arg(long, value_name = "DATASET")]
    data: Option<PathBuf>,
    /// Device; auto is the best GPU, or the CPU without one
    #[arg(
        long,
        value_name = "auto|cpu|cuda[:N]|vulkan[:N]|metal",
        default_value = "auto"
    )]
    device: DeviceChoice,
    #[command(flatten)]
    network: NetworkOptions,
    /// Positions in the batch
    #[arg(long, value_name = "N", default_value = "64", allow_negative_numbers = true,
          value_parser = values::batch)]
    batch: usize,
    /// Upper limit of steps
    #[arg(long, value_name = "N", default_value = "3000", allow_negative_numbers = true,
          value_parser = values::some_steps)]
    steps: u64,
    /// Mean error in win chance to get below
    #[arg(long, value_name = "LOSS", default_value = "0.02", allow_negative_numbers = true,
          value_parser = values::positive)]
    below: f32,
    /// Seed of the starting weights
    #[arg(long, value_name = "N", default_value = "1", allow_negative_numbers = true,
          value_parser = values::seed)]
    seed: u64,
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
    let mut records = match &arguments.data {
        Some(path) => {
            let dataset = dataset::open_to_train_on(path)?;
            let mut records = Vec::new();
            for group in dataset.shuffled(Split::Train, arguments.seed, 1)? {
                records.extend(group?);
                if records.len() >= arguments.batch {
                    break;
                }
            }
            records
        }
        None => inputs::playouts::games(arguments.batch),
    };
    records.truncate(arguments.batch);
    let (architecture, init) = arguments.network.start()?.network();
    let learned = device.run(Task {
        architecture,
        init,
        records,
        steps: arguments.steps,
        below: arguments.below,
        seed: arguments.seed,
    })?;
    host::print(&match arguments.json {
        true => json(&learned),
        false => format!(
            "{} positions: loss {:.4}, after {} steps {:.4}\n",
            learned.positions, learned.first_loss, learned.steps, learned.loss
        ),
    })?;
    match learned.by_heart() {
        true => Ok(()),
        false => Err(TrainerError::NotByHeart {
            steps: learned.steps,
            loss: learned.loss,
            below: learned.below,
        }),
    }
}

impl Job for Task {
    type Output = Learned;

    fn run<E: Executor>(self, device: &E::Device) -> Result<Learned, TrainerError> {
        overfit::overfit::<E>(self, device)
    }
}
