//! What to train and how.

use std::iter;
use std::path::PathBuf;
use std::time::Duration;

use datasets::{Dataset, Split};
use models::{Architecture, Metadata};
use serde_json::{Value, json};

use crate::input::filter::{Filter, Selection};
use crate::net::Net;
use crate::training::device::Device;
use crate::training::learner;
use crate::training::regularisation::Regularisation;
use crate::training::schedule::{Decay, Schedule};
use network::target::{self, Aim};

/// A run as the command line asks for it.
#[derive(Debug)]
pub struct Plan {
    /// Where the net goes.
    pub out: PathBuf,
    /// The parts that the network is put together from.
    pub architecture: Architecture,
    /// The net to start from, instead of fresh weights.
    pub init: Option<Net>,
    /// The device.
    pub device: Device,
    /// The positions to train on.
    pub selection: Selection,
    /// Passes over them.
    pub epochs: u64,
    /// The epochs after which the schedule began anew, because more were asked for when
    /// those were done; in ascending order.
    pub restarts: Vec<u64>,
    /// Positions a step.
    pub batch: usize,
    /// What keeps it from learning its games by heart.
    pub regularisation: Regularisation,
    /// How much the games' results count.
    pub result_share: ResultShare,
    /// The power of the distance in win chance that is minimised, at least 1.
    pub loss_exponent: f64,
    /// Peak learning rate.
    pub learning_rate: f64,
    /// What becomes of it behind the peak.
    pub decay: Decay,
    /// Steps until the peak; by default what [`Schedule::new`] takes.
    pub warm_up: Option<u64>,
    /// The length that gradients are shortened to.
    pub clip_norm: f32,
    /// Decides the order of positions, and random starting weights.
    pub seed: u64,
    /// Time between two checkpoints within an epoch.
    pub checkpoint_every: Duration,
    /// Go on from the checkpoint.
    pub resume: bool,
}

impl Plan {
    /// The file of this extension beside the net.
    pub fn beside(&self, extension: &str) -> PathBuf {
        self.out.with_extension(extension)
    }

    /// What is about to be trained, in words.
    pub fn in_words(&self, dataset: &Dataset) -> String {
        format!(
            "training {:#} on {}: {} positions{}, {} held out, {} epoch{}",
            self.architecture,
            self.device,
            self.selection.positions,
            match self.selection.dropped.total() {
                0 => String::new(),
                left => format!(" ({left} left out: {})", self.selection.dropped.in_words()),
            },
            dataset.len(Split::Validation),
            self.epochs,
            if self.epochs == 1 { "" } else { "s" },
        )
    }

    /// Steps of an epoch.
    pub fn steps(&self) -> u64 {
        self.selection.positions.div_ceil(self.batch as u64)
    }

    /// Returns what is likely a mistake in the plan, a sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let (steps, positions) = (self.epochs * self.steps(), self.selection.positions);
        let mut warnings = Vec::new();
        if let Some(warm_up) = self.warm_up.filter(|&warm_up| warm_up > steps / 2) {
            warnings.push(format!(
                "--warm-up {warm_up} is most of the run's {steps} steps: the learning rate \
                 hardly reaches its peak. Without the option it takes a twentieth of them"
            ));
        }
        let usual = batch_for(positions);
        if self.batch > usual && steps < FEW_STEPS {
            warnings.push(format!(
                "--batch {} leaves {steps} steps in all, too few to learn from: the default \
                 for {positions} positions is {usual}",
                self.batch
            ));
        }
        warnings
    }

    /// The learning rate from the last restart on.
    pub fn schedule(&self) -> Schedule {
        let begin = self.restarts.last().copied().unwrap_or(0);
        self.schedule_between(begin, self.epochs)
    }

    /// The schedule that begins after one epoch and ends with another.
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

    /// All schedules, each with the epoch after which it begins.
    fn schedules(&self) -> impl Iterator<Item = (u64, Schedule)> {
        let begins = iter::once(0).chain(self.restarts.iter().copied());
        let ends = self.restarts.iter().copied().chain([self.epochs]);
        let between = |(begin, end)| (begin, self.schedule_between(begin, end));
        begins.zip(ends).map(between)
    }

    /// What a step of the run aims at, counted from 0. The line of the result's share ends
    /// where the run was first to end.
    pub fn aim(&self, step: u64) -> Aim {
        let epochs = self.restarts.first().copied().unwrap_or(self.epochs);
        let last = (epochs * self.steps()).saturating_sub(1).max(1);
        let done = (step as f64 / last as f64).min(1.0);
        self.result_share.after(done)
    }

    /// All that decides what net comes out, as the net's file will tell it. No
    /// times and no paths that differ from run to run: the same run gives the
    /// same bytes.
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

/// How much the games' results count in what training aims at: a share of the target, on
/// a line from the first step to the last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResultShare {
    /// At the first step, from 0 to 1.
    pub from: f32,
    /// At the last.
    pub to: f32,
}

impl ResultShare {
    /// Results do not count.
    pub const NONE: ResultShare = ResultShare { from: 0.0, to: 0.0 };

    /// The aim when a part of the run is done, from 0 to 1.
    pub fn after(self, done: f64) -> Aim {
        let (from, to) = (f64::from(self.from), f64::from(self.to));
        Aim {
            result_share: (from + (to - from) * done) as f32,
        }
    }
}

/// The fewest steps that teach a net much more than material, whatever the data.
const FEW_STEPS: u64 = 300;

/// The power of two that gives an epoch at least 1,500 steps, without which it
/// takes more epochs to learn as much, from 512, below which steps cost as much,
/// to 16,384, beyond which a device gains nothing.
pub fn batch_for(positions: u64) -> usize {
    let most = (positions / 1_500).max(1);
    (1usize << most.ilog2()).clamp(512, 16_384)
}

/// This program, as a net's metadata names it.
pub const TOOL: &str = concat!("kibitz trainer ", env!("CARGO_PKG_VERSION"));

/// A dataset, as a net's metadata names it.
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
}
