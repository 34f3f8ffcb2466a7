//! `trainer tune-lr`: suggests a learning rate.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use datasets::{Dataset, Split};

use crate::commands::output::json;
use crate::commands::recipe::NetworkOptions;
use crate::commands::{dataset, values};
use crate::error::TrainerError;
use crate::files;
use crate::report::rates;
use crate::training::device::{Device, DeviceChoice, Job};
use crate::training::executor::Executor;
use crate::training::plan::batch_for;
use crate::training::regularisation::Regularisation;
use crate::training::tuning::{self, RangeTest, Tuning};

/// Upper limit of rows in the table.
const ROWS: usize = 16;

const EXAMPLE: &str = "\
Example:
  trainer tune-lr --data june.dataset --picture rates.svg
  trainer fit --data june.dataset --out june.safetensors --learning-rate 0.0025

The learning rate rises by the same factor from step to step. The loss falls, and rises
again where the rate is too large. A quarter of the rate at which the smoothed loss is
smallest is suggested as the peak: try that rate, half of it and twice it.";

/// Arguments of `trainer tune-lr`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Arguments {
    /// Dataset, as `ingest build` writes it
    #[arg(long, value_name = "DATASET")]
    data: PathBuf,
    /// Device; auto is the best GPU, or the CPU without one
    #[arg(
        long,
        value_name = "auto|cpu|cuda[:N]|vulkan[:N]|metal",
        default_value = "auto"
    )]
    device: DeviceChoice,
    #[command(flatten)]
    network: NetworkOptions,
    /// Positions a step; by default as `trainer fit`
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::batch)]
    batch: Option<usize>,
    /// Number of steps
    #[arg(long, value_name = "N", default_value = "400", allow_negative_numbers = true,
          value_parser = values::some_steps)]
    steps: u64,
    /// Learning rate of the first step
    #[arg(long, value_name = "RATE", default_value = "0.00001", allow_negative_numbers = true,
          value_parser = values::learning_rate)]
    from: f64,
    /// Learning rate of the last step
    #[arg(long, value_name = "RATE", default_value = "1", allow_negative_numbers = true,
          value_parser = values::learning_rate)]
    to: f64,
    /// Seed of the starting weights and of the order of positions
    #[arg(long, value_name = "N", default_value = "1", allow_negative_numbers = true,
          value_parser = values::seed)]
    seed: u64,
    /// Draw the losses as SVG
    #[arg(long, value_name = "FILE.svg", value_parser = values::picture)]
    picture: Option<PathBuf>,
    /// Print JSON with every step
    #[arg(long)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// [`TrainerError`].
pub fn run(arguments: Arguments) -> Result<(), TrainerError> {
    if arguments.from >= arguments.to {
        let message = "--from must be smaller than --to".to_string();
        return Err(TrainerError::Usage(message));
    }
    let device = Device::find(arguments.device)?;
    let dataset = dataset::open_to_train_on(&arguments.data)?;
    if let Some(picture) = &arguments.picture {
        files::check_picture(picture)?;
    }
    let positions = dataset.len(Split::Train);
    let (architecture, init) = arguments.network.start()?.network();
    let test = RangeTest {
        architecture,
        init,
        batch: arguments.batch.unwrap_or_else(|| batch_for(positions)),
        steps: arguments.steps,
        from: arguments.from,
        to: arguments.to,
        regularisation: Regularisation::for_positions(positions),
        seed: arguments.seed,
    };
    let found = device.run(Tune {
        test: &test,
        dataset: &dataset,
    })?;
    if let Some(picture) = &arguments.picture {
        let points = found.points.iter();
        let points: Vec<(f64, f64)> = points.map(|p| (p.learning_rate, p.smoothed)).collect();
        files::write(picture, rates::svg(&points, found.suggested).as_bytes())?;
    }
    Ok(host::print(&match arguments.json {
        true => json(&found),
        false => in_words(&found),
    })?)
}

/// The range test as a job for any device.
struct Tune<'a> {
    test: &'a RangeTest,
    dataset: &'a Dataset,
}

impl Job for Tune<'_> {
    type Output = Tuning;

    fn run<E: Executor>(self, device: &E::Device) -> Result<Tuning, TrainerError> {
        tuning::tune::<E>(self.test, self.dataset, device)
    }
}

fn in_words(found: &Tuning) -> String {
    let mut text = format!("{:>13}  {:>8}\n", "learning rate", "loss");
    let every = found.points.len().div_ceil(ROWS).max(1);
    for point in found.points.iter().step_by(every) {
        let (rate, loss) = (point.learning_rate, point.smoothed);
        writeln!(text, "{rate:>13.2e}  {loss:>8.4}").expect("room");
    }
    text + &format!(
        "batches of {}: try --learning-rate {:.1e}\n",
        found.batch, found.suggested
    )
}
