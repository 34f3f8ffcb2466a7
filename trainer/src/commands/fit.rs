//! `trainer fit`: trains a network on a dataset.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use datasets::Dataset;
use host::{StopSignal, Threads, rate, tell, thousands};
use serde::Serialize;

use crate::commands::device::DeviceOption;
use crate::commands::fit_policy::{self, FitPolicy};
use crate::commands::output::{held_out_figures, json};
use crate::commands::recipe::{self, Given, NetworkOptions, PolicyOptions, Recipe, Stage, Start};
use crate::commands::{dataset, values};
use crate::error::TrainerError;
use crate::net;
use crate::report::summary;
use crate::training::device::{Device, Job};
use crate::training::executor::Executor;
use crate::training::plan::Plan;
use crate::training::run::{self, Summary};

const EXAMPLE: &str = "\
Example: a dataset of one month, then a net from it:
  ingest build lichess_db_standard_rated_2013-02.pgn.zst --out 2013-02.dataset
  trainer fit --data 2013-02.dataset --out net.safetensors

More epochs, with less weight decay and a linear decay of the learning rate:
  trainer fit --data 2013-02.dataset --out long.safetensors --epochs 20 --schedule linear \
      --weight-decay 0.1

Beside net.safetensors, the net of the best epoch, the run writes net.report.html (a live
page during training, then the report), net.metrics.jsonl (one object an epoch),
net.steps.jsonl, net.svg (the curves), net.calibration.svg, net.errors.svg,
net.neurons.svg (first-layer weights), net.golden.json (the net's values of 64 positions,
to check other implementations against) and net.checkpoint, the state of the run. On the
CPU the same command gives the same net, bit for bit, on processors of the same kind.

After Ctrl-C, kill -9 or a power cut, the same command with --resume continues from the
checkpoint; on the CPU, the net is the same as without the interruption. Without a
checkpoint, --resume begins a run; after the end of a run, it says so. Without --resume,
an existing net or checkpoint is never overwritten.

If the loss, the gradient or a weight becomes infinite or NaN, the run ends and writes the
batch to net.diverged.txt, which `ingest build` reads.

A recipe holds all settings in a file, and may have several stages, each starting from the
net of the one before:
  trainer fit --print-recipe > net.toml
  trainer fit --recipe net.toml --out net.safetensors

--resume with more --epochs extends a finished run: the learning rate rises to its peak and
falls again.

--policy trains on a dataset of moves (`ingest build --moves`) a network that foretells the
moves of people of each rating, on the CPU:
  ingest build lichess_db_standard_rated_2013-02.pgn.zst --moves --out 2013-02.moves
  trainer fit --policy --data 2013-02.moves --out policy.safetensors";

/// Arguments of `trainer fit`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Arguments {
    /// Read all settings from this file; options override it (stage options only with one stage)
    #[arg(long, value_name = "RECIPE.toml")]
    recipe: Option<PathBuf>,
    /// Print a commented recipe of the defaults, and exit
    #[arg(long)]
    print_recipe: bool,
    /// Train a policy on a dataset of moves
    #[arg(long, conflicts_with_all = ["recipe", "print_recipe"])]
    policy: bool,
    /// Net to write; earlier stages of a recipe add `.stageN` to its name
    #[arg(short, long, value_name = "NET.safetensors", value_parser = values::net,
          required_unless_present = "print_recipe")]
    out: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceOption,
    #[command(flatten)]
    network: NetworkOptions,
    #[command(flatten)]
    stage: Stage,
    /// Seed of the starting weights and of the order of positions; by default 1
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::seed)]
    seed: Option<u64>,
    /// Continue from the checkpoint beside the net, if there is one
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    threads: Threads,
    /// Minutes between two checkpoints within an epoch
    #[arg(long, value_name = "MINUTES", default_value = "5", allow_negative_numbers = true,
          value_parser = values::minutes)]
    checkpoint_minutes: Duration,
    /// Print the summary as JSON on standard output
    #[arg(long)]
    json: bool,
}

/// Result of a run of one or several stages.
#[derive(Serialize)]
struct Ended {
    /// Result of the last stage.
    #[serde(flatten)]
    last: Summary,
    /// Results of the earlier stages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    earlier_stages: Vec<Summary>,
}

/// Runs the command.
///
/// # Errors
/// [`TrainerError`].
pub fn run(arguments: Arguments) -> Result<(), TrainerError> {
    let Some(out) = arguments.out.filter(|_| !arguments.print_recipe) else {
        return Ok(host::print(recipe::DEFAULT)?);
    };
    arguments.threads.apply();
    if arguments.policy {
        arguments.device.check_cpu("--policy")?;
        return fit_policy::run(FitPolicy {
            options: PolicyOptions::new(arguments.network, arguments.stage)?,
            out,
            seed: arguments.seed.unwrap_or(1),
            checkpoint_every: arguments.checkpoint_minutes,
            resume: arguments.resume,
            json: arguments.json,
        });
    }
    let device = arguments.device.find()?;
    let recipe = match &arguments.recipe {
        Some(path) => Recipe::read(path)?,
        None => Recipe::default(),
    };
    let given = Given {
        seed: arguments.seed,
        network: arguments.network,
        stage: arguments.stage,
    };
    let recipe = recipe.overridden_by(given)?;
    let outs = outs(&out, recipe.stages.len());
    // Check all stages before training the first.
    for (stage, out) in recipe.stages.iter().zip(&outs) {
        stage.selection(&dataset::open_to_train_on(stage.data()?)?)?;
        run::check_free(out, arguments.resume)?;
    }
    let settings = Settings {
        device: &device,
        checkpoint_every: arguments.checkpoint_minutes,
        resume: arguments.resume,
    };
    if arguments.resume {
        check_finished_stages(&recipe, &outs, settings)?;
    }
    let stop = stop_signal();
    let mut ended = Vec::new();
    for (index, stage) in recipe.stages.iter().enumerate() {
        if outs.len() > 1 {
            tell(format_args!("stage {} of {}", index + 1, outs.len()));
        }
        let dataset = dataset::open_to_train_on(stage.data()?)?;
        let mut plan = plan(&recipe, index, &outs, &dataset, settings)?;
        let summary = device.run(Fit {
            dataset: &dataset,
            plan: &mut plan,
            stop: &stop,
        })?;
        summary::write_beside(&summary.net, &dataset)?;
        ended.push(summary);
    }
    let last = ended.pop().expect("a recipe has a stage");
    Ok(host::print(&match arguments.json {
        true => json(&Ended {
            last,
            earlier_stages: ended,
        }),
        false => in_words(&last),
    })?)
}

/// Listens to signals; says so if Ctrl-C cannot save a checkpoint.
pub fn stop_signal() -> StopSignal {
    StopSignal::listen().unwrap_or_else(|error| {
        tell(format_args!(
            "Ctrl-C will end the run without a checkpoint: {error}"
        ));
        StopSignal::default()
    })
}

/// Settings common to all stages.
#[derive(Clone, Copy)]
struct Settings<'a> {
    device: &'a Device,
    checkpoint_every: Duration,
    resume: bool,
}

/// Returns the plan of stage `index`, which starts from the net of the stage before.
fn plan(
    recipe: &Recipe,
    index: usize,
    outs: &[PathBuf],
    dataset: &Dataset,
    settings: Settings,
) -> Result<Plan, TrainerError> {
    let start = match index.checked_sub(1) {
        Some(before) => Start::from_net(net::read_to_train(&outs[before])?),
        None => recipe.network.start()?,
    };
    let stage = &recipe.stages[index];
    let selection = stage.selection(dataset)?;
    Ok(Plan {
        out: outs[index].clone(),
        device: settings.device.clone(),
        seed: recipe.seed,
        checkpoint_every: settings.checkpoint_every,
        resume: settings.resume,
        ..stage.plan(start, selection)
    })
}

/// Checks all stages before the last one begun: the checkpoint of each must be of this recipe, and
/// its run must have ended. Otherwise, resuming it would replace the net that a later checkpoint
/// depends on.
fn check_finished_stages(
    recipe: &Recipe,
    outs: &[PathBuf],
    settings: Settings,
) -> Result<(), TrainerError> {
    let begun = outs.iter().rposition(|out| run::has_checkpoint(out));
    for index in 0..begun.unwrap_or(0) {
        let dataset = dataset::open_to_train_on(recipe.stages[index].data()?)?;
        let plan = plan(recipe, index, outs, &dataset, settings)?;
        run::check_finished(&dataset, plan)?;
    }
    Ok(())
}

/// Returns the paths of the stages' nets: the last is `out`, the others lie beside it.
fn outs(out: &Path, stages: usize) -> Vec<PathBuf> {
    let beside = |stage| out.with_extension(format!("stage{stage}.safetensors"));
    let earlier = (1..stages).map(beside);
    earlier.chain([out.to_path_buf()]).collect()
}

/// A training run as a job for any device.
pub struct Fit<'a> {
    /// Dataset to train on.
    pub dataset: &'a Dataset,
    /// Settings of the run.
    pub plan: &'a mut Plan,
    /// Signal to stop.
    pub stop: &'a StopSignal,
}

impl Job for Fit<'_> {
    type Output = Summary;

    fn run<E: Executor>(self, device: &E::Device) -> Result<Summary, TrainerError> {
        run::fit::<E>(self.dataset, self.plan, device, self.stop)
    }
}

fn in_words(summary: &Summary) -> String {
    format!(
        "{}: epoch {} of {}, trained on {} in {:.0} s ({} samples/s)\n{}{}\
         all about it: {}\n",
        summary.net.display(),
        summary.best_epoch,
        summary.epochs,
        summary.device,
        summary.seconds,
        rate(summary.samples_per_second),
        match summary.left_out.total() {
            0 => String::new(),
            left => format!(
                "left out {} positions: {}\n",
                thousands(left),
                summary.left_out.in_words()
            ),
        },
        held_out_figures(summary.validation),
        summary.report.display(),
    )
}
