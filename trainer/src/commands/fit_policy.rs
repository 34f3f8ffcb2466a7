//! `trainer fit --policy`: trains a policy on a dataset of moves.

use std::path::PathBuf;
use std::time::Duration;

use datasets::{MoveRecord, Split};
use host::{StopSignal, tell};
use network::CLIP_NORM;

use crate::commands::dataset;
use crate::commands::output::json;
use crate::commands::recipe::PolicyOptions;
use crate::error::TrainerError;
use crate::policy::plan::PolicyPlan;
use crate::policy::run::{self, Summary};
use crate::training::schedule::Decay;

/// Default peak learning rate (docs/experiments.md, "Policies").
const LEARNING_RATE: f64 = 0.003;
/// Default number of hidden neurons.
const NEURONS: usize = 512;
/// Default number of passes over the moves.
const EPOCHS: u64 = 2;

/// Settings of the command.
pub struct FitPolicy {
    /// Options of the run.
    pub options: PolicyOptions,
    /// Path of the policy to write.
    pub out: PathBuf,
    /// Seed of the run.
    pub seed: u64,
    /// Time between two checkpoints within an epoch.
    pub checkpoint_every: Duration,
    /// Resume from the checkpoint.
    pub resume: bool,
    /// Print the summary as JSON.
    pub json: bool,
}

/// Runs the command.
///
/// # Errors
/// [`TrainerError`].
pub fn run(command: FitPolicy) -> Result<(), TrainerError> {
    let options = command.options;
    let dataset = dataset::open_rows_to_train_on::<MoveRecord>(&options.data)?;
    let moves = dataset.len(Split::Train);
    let plan = PolicyPlan {
        out: command.out,
        neurons: options.neurons.unwrap_or(NEURONS),
        moves,
        epochs: options.epochs.unwrap_or(EPOCHS),
        batch: options.batch.unwrap_or_else(|| batch_for(moves)),
        learning_rate: options.learning_rate.unwrap_or(LEARNING_RATE),
        decay: options.schedule.unwrap_or(Decay::Cosine),
        warm_up: options.warm_up,
        weight_decay: options.weight_decay.unwrap_or(0.01),
        clip_norm: options.clip_norm.unwrap_or(CLIP_NORM),
        seed: command.seed,
        checkpoint_every: command.checkpoint_every,
        resume: command.resume,
    };
    let stop = StopSignal::listen().unwrap_or_else(|error| {
        tell(format_args!(
            "Ctrl-C will end the run without a checkpoint: {error}"
        ));
        StopSignal::default()
    });
    let summary = run::fit(&dataset, &plan, &stop)?;
    Ok(host::print(&match command.json {
        true => json(&summary),
        false => in_words(&summary),
    })?)
}

/// Returns the default batch size: the largest power of two that gives an epoch at least 1,500
/// steps, from 512 to 8,192.
fn batch_for(moves: u64) -> usize {
    let most = (moves / 1_500).max(1);
    (1usize << most.ilog2()).clamp(512, 8_192)
}

fn in_words(summary: &Summary) -> String {
    let held_out = match &summary.best.report {
        Some(report) => report.to_string(),
        None => "no game was held out: the policy is not measured\n".to_string(),
    };
    format!(
        "{}: epoch {} of {}\n{held_out}",
        summary.net.display(),
        summary.best.epoch,
        summary.epochs,
    )
}
