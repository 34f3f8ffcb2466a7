//! What to train and how.

use std::path::PathBuf;
use std::time::Duration;

use datasets::{Dataset, Split};
use models::{Metadata, Shape};
use serde_json::{Value, json};

use crate::network::first_layer::Inputs;
use crate::network::net::Net;
use crate::network::target;
use crate::training::device::Device;
use crate::training::learner;
use crate::training::regularisation::Regularisation;
use crate::training::schedule::{Decay, Schedule};

/// A run as the command line asks for it.
#[derive(Debug)]
pub struct Plan {
    /// Where the net goes.
    pub out: PathBuf,
    /// The sizes of the hidden layers.
    pub shape: Shape,
    /// The net to start from, instead of fresh weights.
    pub init: Option<Net>,
    /// The device, or the GPUs that share each step.
    pub device: Device,
    /// How a GPU's first layer takes its inputs.
    pub inputs: Inputs,
    /// Passes over the training positions.
    pub epochs: u64,
    /// Positions a step.
    pub batch: usize,
    /// What keeps it from learning its games by heart.
    pub regularisation: Regularisation,
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
        let Shape {
            first,
            second,
            third,
        } = self.shape;
        format!(
            "training {}-{first}-{second}-{third}-1 on {}: {} positions, {} held out, {} epoch{}",
            models::INPUTS,
            self.device,
            dataset.len(Split::Train),
            dataset.len(Split::Validation),
            self.epochs,
            if self.epochs == 1 { "" } else { "s" },
        )
    }

    /// Steps of an epoch.
    pub fn steps(&self, dataset: &Dataset) -> u64 {
        dataset.len(Split::Train).div_ceil(self.batch as u64)
    }

    /// The learning rate over the run.
    pub fn schedule(&self, dataset: &Dataset) -> Schedule {
        let steps = self.epochs * self.steps(dataset);
        let schedule = Schedule::new(self.learning_rate, steps).with_decay(self.decay);
        match self.warm_up {
            Some(steps) => schedule.with_warm_up(steps),
            None => schedule,
        }
    }

    /// All that decides what net comes out, as the net's file will tell it. No
    /// times and no paths that differ from run to run: the same run gives the
    /// same bytes.
    pub fn metadata(&self, dataset: &Dataset) -> Metadata {
        let mut metadata = Metadata::new(self.shape, TOOL);
        let schedule = self.schedule(dataset);
        metadata.target = target::metadata();
        metadata.training = json!({
            "optimizer": learner::metadata(self.regularisation.weight_decay),
            "own_scale": self.regularisation.own_scale,
            "learning_rate": self.learning_rate,
            "schedule": schedule.name(),
            "warm_up_steps": schedule.warm_up(),
            "clip_norm": self.clip_norm,
            "epochs": self.epochs,
            "batch": self.batch,
            "seed": self.seed,
            "init": self.init.as_ref().map(Net::named),
            "device": self.device.to_string(),
        });
        if self.device != Device::Cpu {
            metadata.training["inputs"] = json!(self.inputs);
        }
        metadata.dataset = dataset_metadata(dataset);
        metadata
    }
}

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
