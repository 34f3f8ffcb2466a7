//! Plan: the settings of a training run, and their description in metadata.

use std::iter;
use std::path::PathBuf;
use std::time::Duration;

use datasets::{Dataset, Split};
use host::thousands;
use models::{Architecture, Metadata};
use serde_json::{Value, json};

use crate::batch::filter::{Filter, Selection};
use crate::net::Net;
use crate::training::device::Device;
use crate::training::learner;
use crate::training::regularisation::Regularisation;
use crate::training::schedule::{Decay, Schedule};
use network::target::{self, Aim};

/// Settings of a run.
#[derive(Debug)]
pub struct Plan {
    /// Path of the net to write.
    pub out: PathBuf,
    /// Architecture of the network.
    pub architecture: Architecture,
    /// Net to start from, instead of fresh weights.
    pub init: Option<Net>,
    /// Device to train on.
    pub device: Device,
    /// Positions to train on.
    pub selection: Selection,
    /// Passes over the positions.
    pub epochs: u64,
    /// Epochs after which the schedule restarted, since more were requested when those were done;
    /// ascending.
    pub restarts: Vec<u64>,
    /// Positions a step.
    pub batch: usize,
    /// Weight decay and factor of own weights.
    pub regularisation: Regularisation,
    /// Weight of the games' results in the target.
    pub result_share: ResultShare,
    /// Exponent of the win-chance distance in the loss, at least 1.
    pub loss_exponent: f64,
    /// Peak learning rate.
    pub learning_rate: f64,
    /// Decay of the learning rate after the peak.
    pub decay: Decay,
    /// Warm-up steps; by default [`Schedule::new`]'s.
    pub warm_up: Option<u64>,
    /// Norm to which longer gradients are clipped.
    pub clip_norm: f32,
    /// Seed of the order of positions and of random starting weights.
    pub seed: u64,
    /// Time between two checkpoints within an epoch.
    pub checkpoint_every: Duration,
    /// Resume from the checkpoint.
    pub resume: bool,
}

impl Plan {
    /// Returns the path of the net with another extension.
    pub fn beside(&self, extension: &str) -> PathBuf {
        self.out.with_extension(extension)
    }

    /// Describes the run in a sentence.
    pub fn in_words(&self, dataset: &Dataset) -> String {
        format!(
            "training {:#} on {}: {} positions{}, {} held out, {} epoch{}",
            self.architecture,
            self.device,
            thousands(self.selection.positions),
            match self.selection.dropped.total() {
                0 => String::new(),
                left => format!(
                    " ({} left out: {})",
                    thousands(left),
                    self.selection.dropped.in_words()
                ),
            },
            thousands(dataset.len(Split::Validation)),
            self.epochs,
            if self.epochs == 1 { "" } else { "s" },
        )
    }

    /// Returns the number of steps in an epoch.
    pub fn steps(&self) -> u64 {
        self.selection.positions.div_ceil(self.batch as u64)
    }

    /// Returns warnings about likely mistakes in the plan, a sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let (steps, positions) = (self.epochs * self.steps(), self.selection.positions);
        let mut warnings = Vec::new();
        if let Some(warm_up) = self.warm_up.filter(|&warm_up| warm_up > steps / 2) {
            warnings.push(format!(
                "--warm-up {warm_up} is most of the run's {} steps: the learning rate \
                 hardly reaches its peak. Without the option it takes a twentieth of them",
                thousands(steps)
            ));
        }
        let usual = batch_for(positions);
        if self.batch > usual && steps < FEW_STEPS {
            warnings.push(format!(
                "--batch {} leaves {steps} steps in all, too few to learn from: the default \
                 for {} positions is {usual}",
                self.batch,
                thousands(positions)
            ));
        }
        warnings
    }

    /// Returns the learning-rate schedule from the last restart on.
    pub fn schedule(&self) -> Schedule {
        let begin = self.restarts.last().copied().unwrap_or(0);
        self.schedule_between(begin, self.epochs)
    }

    /// Returns the schedule from after epoch `begin` to the end of epoch `end`.
    fn schedule_between(&self, begin: u64, end: u64) -> Schedule {
        let steps = (end - begin) * self.steps();
        let schedule = Schedule::new(self.learning_rate, steps)
            .with_decay(self.decay)
            .begun_after(begin * self.steps());
        match self.warm_up {
            Some(steps) => schedule.with_warm_up(steps),
            None => schedule,
        }
    }

    /// Returns all schedules, each with the epoch after which it begins.
    fn schedules(&self) -> impl Iterator<Item = (u64, Schedule)> {
        let begins = iter::once(0).chain(self.restarts.iter().copied());
        let ends = self.restarts.iter().copied().chain([self.epochs]);
        let between = |(begin, end)| (begin, self.schedule_between(begin, end));
        begins.zip(ends).map(between)
    }

    /// Returns the target of a step of the run, counted from 0. The result's weight changes
    /// linearly up to the run's originally planned end.
    pub fn aim(&self, step: u64) -> Aim {
        let epochs = self.restarts.first().copied().unwrap_or(self.epochs);
        let last = (epochs * self.steps()).saturating_sub(1).max(1);
        let done = (step as f64 / last as f64).min(1.0);
        self.result_share.after(done)
    }

    /// Returns the net's metadata: all settings that decide the result. Excludes times and paths,
    /// so that the same run gives the same bytes.
    pub fn metadata(&self, dataset: &Dataset) -> Metadata {
        let mut metadata = Metadata::new(self.architecture, TOOL);
        let mut schedules = self.schedules();
        let (_, schedule) = schedules.next().expect("the first");
        metadata.target = target::metadata(self.loss_exponent);
        metadata.training = json!({
            "optimizer": learner::metadata(self.regularisation.weight_decay),
            "own_scale": self.regularisation.own_scale,
            "learning_rate": self.learning_rate,
            "schedule": schedule.name(),
            "warm_up_steps": schedule.warm_up(),
            "clip_norm": self.clip_norm,
            "loss_exponent": self.loss_exponent,
            "wdl": [self.result_share.from, self.result_share.to],
            "filter": (self.selection.filter != Filter::NONE).then_some(self.selection.filter),
            "epochs": self.epochs,
            "batch": self.batch,
            "seed": self.seed,
            "init": self.init.as_ref().map(Net::named),
            "device": self.device.to_string(),
        });
        let restarts = schedules.map(|(begin, schedule)| {
            json!({ "after_epoch": begin, "warm_up_steps": schedule.warm_up() })
        });
        let restarts: Vec<Value> = restarts.collect();
        if !restarts.is_empty() {
            metadata.training["restarts"] = restarts.into();
        }
        metadata.dataset = dataset_metadata(dataset);
        metadata
    }
}

/// Weight of the games' results in the target, changing linearly from the first step to the last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResultShare {
    /// Weight at the first step, from 0 to 1.
    pub from: f32,
    /// Weight at the last step, from 0 to 1.
    pub to: f32,
}

impl ResultShare {
    /// Weight 0 throughout.
    pub const NONE: ResultShare = ResultShare { from: 0.0, to: 0.0 };

    /// Returns the target after the part `done` of the run, from 0 to 1.
    pub fn after(self, done: f64) -> Aim {
        let (from, to) = (f64::from(self.from), f64::from(self.to));
        Aim {
            result_share: (from + (to - from) * done) as f32,
        }
    }
}

/// Fewest steps that teach a net much more than material, independent of the data.
pub const FEW_STEPS: u64 = 300;

/// Returns the default batch size: the largest power of two that gives an epoch at least 1,500
/// steps, because with fewer, learning as much takes more epochs. At least 512, below which a step
/// costs as much, and at most 16,384, above which a device gains nothing.
pub fn batch_for(positions: u64) -> usize {
    let most = (positions / 1_500).max(1);
    (1usize << most.ilog2()).clamp(512, 16_384)
}

/// Returns the default number of epochs: 5 up to 262,144 positions, since more epochs would memorise
/// them, rising with the logarithm to 8 at a million (docs/experiments.md, "How users train").
pub fn epochs_for(positions: u64) -> u64 {
    let doublings = (positions as f64 / f64::from(1 << 18)).log2();
    (5.0 + 1.5 * doublings.clamp(0.0, 2.0)).round() as u64
}

/// Name of this program in a net's metadata.
pub const TOOL: &str = concat!("kibitz trainer ", env!("CARGO_PKG_VERSION"));

/// Returns the dataset's entry in a net's metadata.
pub fn dataset_metadata(dataset: &Dataset) -> Value {
    json!({
        "fingerprint": dataset.fingerprint(),
        "positions_train": dataset.len(Split::Train),
        "positions_validation": dataset.len(Split::Validation),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_grow_with_the_dataset() {
        assert_eq!(
            [1, 65_000, 4_000_000, 100_000_000].map(batch_for),
            [512, 512, 2048, 16_384]
        );
    }

    #[test]
    fn epochs_grow_with_the_dataset() {
        let epochs = [1, 65_000, 1 << 18, 1 << 19, 1 << 20, 100_000_000].map(epochs_for);
        assert_eq!(epochs, [5, 5, 5, 7, 8, 8]);
    }
}
