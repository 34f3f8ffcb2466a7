//! Plan of a policy's run: its settings, and their description in metadata.

use std::path::PathBuf;
use std::time::Duration;

use datasets::{Dataset, MoveRecord, Split};
use host::thousands;
use models::PolicyMetadata;
use serde_json::json;

use crate::training::learner;
use crate::training::plan::TOOL;
use crate::training::schedule::{Decay, Schedule};

/// Settings of a policy's run.
#[derive(Debug)]
pub struct PolicyPlan {
    /// Path of the policy to write.
    pub out: PathBuf,
    /// Hidden neurons.
    pub neurons: usize,
    /// Training moves.
    pub moves: u64,
    /// Passes over the moves.
    pub epochs: u64,
    /// Moves a step.
    pub batch: usize,
    /// Peak learning rate.
    pub learning_rate: f64,
    /// Decay of the learning rate after the peak.
    pub decay: Decay,
    /// Warm-up steps; by default [`Schedule::new`]'s.
    pub warm_up: Option<u64>,
    /// Weight decay, in units of the learning rate.
    pub weight_decay: f64,
    /// Norm to which longer gradients are clipped.
    pub clip_norm: f32,
    /// Seed of the order of moves and of the starting weights.
    pub seed: u64,
    /// Time between two checkpoints within an epoch.
    pub checkpoint_every: Duration,
    /// Resume from the checkpoint.
    pub resume: bool,
}

impl PolicyPlan {
    /// Returns the path of the policy with another extension.
    pub fn beside(&self, extension: &str) -> PathBuf {
        self.out.with_extension(extension)
    }

    /// Returns the number of steps in an epoch.
    pub fn steps(&self) -> u64 {
        self.moves.div_ceil(self.batch as u64)
    }

    /// Returns the learning-rate schedule.
    pub fn schedule(&self) -> Schedule {
        let schedule = Schedule::new(self.learning_rate, self.epochs * self.steps());
        let schedule = schedule.with_decay(self.decay);
        match self.warm_up {
            Some(steps) => schedule.with_warm_up(steps),
            None => schedule,
        }
    }

    /// Describes the run in a sentence.
    pub fn in_words(&self, dataset: &Dataset<MoveRecord>) -> String {
        format!(
            "training a policy of {} neurons on the CPU: {} moves, {} held out, {} epoch{}",
            self.neurons,
            thousands(self.moves),
            thousands(dataset.len(Split::Validation)),
            self.epochs,
            if self.epochs == 1 { "" } else { "s" },
        )
    }

    /// Returns the policy's metadata: all settings that decide the result. Excludes times and
    /// paths, so that the same run gives the same bytes.
    pub fn metadata(&self, dataset: &Dataset<MoveRecord>, by_band: &[u64]) -> PolicyMetadata {
        let schedule = self.schedule();
        PolicyMetadata {
            moves_by_band: by_band.to_vec(),
            training: json!({
                "loss": "cross-entropy over the legal moves",
                "optimizer": learner::metadata(self.weight_decay),
                "learning_rate": self.learning_rate,
                "schedule": schedule.name(),
                "warm_up_steps": schedule.warm_up(),
                "clip_norm": self.clip_norm,
                "epochs": self.epochs,
                "batch": self.batch,
                "seed": self.seed,
            }),
            dataset: json!({
                "fingerprint": dataset.fingerprint(),
                "moves_train": dataset.len(Split::Train),
                "moves_validation": dataset.len(Split::Validation),
            }),
            ..PolicyMetadata::new(self.neurons, TOOL)
        }
    }
}
