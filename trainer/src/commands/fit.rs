//! `trainer fit`: a dataset in, the best net out.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use datasets::{Dataset, Split};
use host::{StopSignal, tell};
use models::Shape;

use crate::commands::output::{held_out_figures, json};
use crate::commands::{dataset, values};
use crate::error::TrainerError;
use crate::network::clipping::CLIP_NORM;
use crate::network::evaluate::Train;
use crate::network::first_layer::Inputs;
use crate::network::net;
use crate::report::summary;
use crate::training::device::{Device, DeviceChoice, Job};
use crate::training::plan::{Plan, batch_for};
use crate::training::regularisation::Regularisation;
use crate::training::run::{self, Summary};
use crate::training::schedule::Decay;

const EXAMPLE: &str = "\
Example: a dataset of one month, then a net from it:
  ingest build lichess_db_standard_rated_2013-02.pgn.zst --out 2013-02.dataset
  trainer fit --data 2013-02.dataset --out net.safetensors

More epochs, with less decay of the weights and a straight way down for the learning rate:
  trainer fit --data 2013-02.dataset --out long.safetensors --epochs 20 --schedule linear \
      --weight-decay 0.1

Beside net.safetensors, the net of the best epoch, appear net.report.html (all there is
to see, in one page), net.metrics.jsonl (one object an epoch), net.svg (the curves),
net.calibration.svg, net.errors.svg, net.neurons.svg (what the first layer looks at),
net.golden.json (the net's values of 64 positions, to check other implementations with)
and net.checkpoint, the run as it stands. On the CPU the same command gives the same
net, bit for bit, on processors of the same kind.

However a run ends, with Ctrl-C, kill -9 or a power cut, the same command with --resume
goes on from the checkpoint, and on the CPU ends as if nothing had happened. Where no
checkpoint is, --resume begins; where the run has ended, it says so. Without --resume a
net or a checkpoint that is there is never written over.

If the loss, the gradient or a weight stops being a number, the run ends, and the batch
that did it is in net.diverged.txt, which `ingest build` reads.";

/// Arguments of `trainer fit`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Arguments {
    /// Dataset, as `ingest build` writes it
    #[arg(long, value_name = "DATASET")]
    data: PathBuf,
    /// Where to write the net
    #[arg(long, value_name = "NET.safetensors", value_parser = values::net)]
    out: PathBuf,
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
    /// Passes over the training positions
    #[arg(long, value_name = "N", default_value = "5", allow_negative_numbers = true,
          value_parser = values::epochs)]
    epochs: u64,
    /// Positions a step; by default 512 for small datasets, up to 16384 for large ones
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::batch)]
    batch: Option<usize>,
    /// Learning rate at the peak of the schedule
    #[arg(long, value_name = "RATE", default_value = "0.003", allow_negative_numbers = true,
          value_parser = values::learning_rate)]
    learning_rate: f64,
    /// What becomes of the learning rate behind its peak
    #[arg(long, value_enum, default_value_t = Decay::Cosine)]
    schedule: Decay,
    /// Steps in which the learning rate rises to its peak; by default a twentieth of all, at
    /// most 500
    #[arg(long, value_name = "STEPS", allow_negative_numbers = true, value_parser = values::steps)]
    warm_up: Option<u64>,
    /// How fast weights decay, times the learning rate; by default 0.3 up to 262144 training
    /// positions, falling to 0.1 at 4 million
    #[arg(long, value_name = "DECAY", allow_negative_numbers = true,
          value_parser = values::weight_decay)]
    weight_decay: Option<f64>,
    /// How fast an input learns on its own, beside what it shares with inputs like it; by
    /// default 0.0625 up to 262144 training positions, rising to 1 at 4 million
    #[arg(long, value_name = "SCALE", allow_negative_numbers = true,
          value_parser = values::own_scale)]
    own_scale: Option<f32>,
    /// Decides the starting weights and the order of positions
    #[arg(long, value_name = "N", default_value = "1", allow_negative_numbers = true,
          value_parser = values::seed)]
    seed: u64,
    /// Sizes of the three hidden layers
    #[arg(long, value_name = "N,N,N", default_value = "256,32,32", allow_hyphen_values = true,
          value_parser = values::shape)]
    hidden: Shape,
    /// Shorten gradients that are longer, all parameters together (docs/training.md)
    #[arg(long, value_name = "LENGTH", default_value_t = CLIP_NORM, allow_negative_numbers = true,
          value_parser = values::positive)]
    clip_norm: f32,
    /// Start from this net instead of random weights
    #[arg(long, value_name = "NET.safetensors", conflicts_with = "hidden")]
    init: Option<PathBuf>,
    /// Go on from the checkpoint beside the net, if there is one
    #[arg(long)]
    resume: bool,
    /// Time between two checkpoints within an epoch
    #[arg(long, value_name = "MINUTES", default_value = "5", allow_negative_numbers = true,
          value_parser = values::minutes)]
    checkpoint_minutes: Duration,
    /// Print the summary as JSON on standard output
    #[arg(long)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// [`TrainerError`].
pub fn run(arguments: Arguments) -> Result<(), TrainerError> {
    let device = Device::find(arguments.device)?;
    let dataset = dataset::open_to_train_on(&arguments.data)?;
    let init = match arguments.init {
        Some(path) => Some(net::read_to_train(&path)?),
        None => None,
    };
    let shape = init
        .as_ref()
        .map_or(arguments.hidden, |net| net.network.shape());
    let positions = dataset.len(Split::Train);
    let default = Regularisation::for_positions(positions);
    let plan = Plan {
        out: arguments.out,
        shape,
        regularisation: Regularisation {
            own_scale: arguments.own_scale.unwrap_or(default.own_scale),
            weight_decay: arguments.weight_decay.unwrap_or(default.weight_decay),
        },
        init,
        device,
        inputs: arguments.inputs,
        epochs: arguments.epochs,
        batch: arguments.batch.unwrap_or_else(|| batch_for(positions)),
        learning_rate: arguments.learning_rate,
        decay: arguments.schedule,
        warm_up: arguments.warm_up,
        clip_norm: arguments.clip_norm,
        seed: arguments.seed,
        checkpoint_every: arguments.checkpoint_minutes,
        resume: arguments.resume,
    };
    let stop = StopSignal::listen().unwrap_or_else(|error| {
        tell(format_args!(
            "Ctrl-C will end the run without a checkpoint: {error}"
        ));
        StopSignal::default()
    });
    let summary = plan.device.run(Fit {
        dataset: &dataset,
        plan: &plan,
        stop: &stop,
    })?;
    summary::write_beside(&summary.net, &dataset)?;
    Ok(host::print(&match arguments.json {
        true => json(&summary),
        false => in_words(&summary),
    })?)
}

/// A run, on whichever device.
struct Fit<'a> {
    dataset: &'a Dataset,
    plan: &'a Plan,
    stop: &'a StopSignal,
}

impl Job for Fit<'_> {
    type Output = Summary;

    fn run<B: Train>(self, devices: &[B::Device]) -> Result<Summary, TrainerError> {
        run::fit::<B>(self.dataset, self.plan, devices, self.stop)
    }
}

fn in_words(summary: &Summary) -> String {
    format!(
        "{}: epoch {} of {}, trained on {} in {:.0} s ({:.0} samples/s)\n{}\
         all about it: {}\n",
        summary.net.display(),
        summary.best_epoch,
        summary.epochs,
        summary.device,
        summary.seconds,
        summary.samples_per_second,
        held_out_figures(summary.validation),
        summary.report.display(),
    )
}
