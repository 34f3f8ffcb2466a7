//! `trainer fit --policy`: trains a policy on a dataset of moves.

use std::path::PathBuf;
use std::time::Duration;

use datasets::{MoveRecord, Split};
use network::CLIP_NORM;

use crate::commands::dataset;
use crate::commands::fit::stop_signal;
use crate::commands::output::json;
use crate::commands::recipe::PolicyOptions;
use crate::error::TrainerError;
use crate::policy::plan::PolicyPlan;
use crate::policy::run::{self, Summary};
use crate::training::plan::batch_for;
use crate::training::schedule::Decay;

/// Default peak learning rate (docs/experiments.md, "Policies").
const LEARNING_RATE: f64 = 0.003;
/// Default number of hidden neurons.
const NEURONS: usize = 512;
/// Largest default batch size.
const MOST_BATCH: usize = 8_192;
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
        batch: options.batch.unwrap_or(batch_for(moves).min(MOST_BATCH)),
        learning_rate: options.learning_rate.unwrap_or(LEARNING_RATE),
        decay: options.schedule.unwrap_or(Decay::Cosine),
        warm_up: options.warm_up,
        weight_decay: options.weight_decay.unwrap_or(0.01),
        clip_norm: options.clip_norm.unwrap_or(CLIP_NORM),
        seed: command.seed,
        checkpoint_every: command.checkpoint_every,
        resume: command.resume,
    };
    let stop = stop_signal();
    let summary = run::fit(&dataset, &plan, &stop)?;
    Ok(host::print(&match command.json {
        true => json(&summary),
        false => in_words(&summary),
    })?)
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
