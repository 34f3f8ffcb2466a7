//! Overfitting test: a network memorises one small batch. A net that cannot has a wrong gradient or
//! too few neurons.

use datasets::Record;
use models::{Architecture, Network};
use serde::Serialize;

use crate::error::TrainerError;
use crate::training::executor::{Executor, Settings};
use crate::training::learner::Learner;
use crate::training::run::FETCH_EVERY;
use crate::training::schedule::{Decay, Schedule};
use network::Aim;
use network::CLIP_NORM;
use network::CpuModel;

/// Peak learning rate, as in `trainer fit`.
const LEARNING_RATE: f64 = 0.003;

/// Settings of an overfitting test.
#[derive(Debug)]
pub struct Task {
    /// Architecture of the network.
    pub architecture: Architecture,
    /// The network to start from, instead of fresh weights.
    pub init: Option<Network>,
    /// Positions of the batch.
    pub records: Vec<Record>,
    /// Upper limit of steps.
    pub steps: u64,
    /// Mean loss to get below.
    pub below: f32,
    /// Seed of the starting weights.
    pub seed: u64,
}

/// Result of an overfitting test.
#[derive(Debug, Serialize)]
pub struct Learned {
    /// Positions in the batch.
    pub positions: usize,
    /// Number of steps taken.
    pub steps: u64,
    /// Loss before the first step.
    pub first_loss: f32,
    /// Loss before the last step.
    pub loss: f32,
    /// Loss to get below.
    pub below: f32,
}

impl Learned {
    /// Returns whether the loss got below the limit.
    pub fn by_heart(&self) -> bool {
        self.loss < self.below
    }
}

/// Trains on the batch until its loss is small, or all steps are taken.
///
/// # Errors
/// [`TrainerError`].
pub fn overfit<E: Executor>(task: Task, device: &E::Device) -> Result<Learned, TrainerError> {
    let init = task.init.as_ref();
    let model = CpuModel::start(init, task.architecture, task.seed);
    let schedule = Schedule::new(LEARNING_RATE, task.steps).with_decay(Decay::Linear);
    let positions = task.records.len();
    // No regularisation.
    let settings = Settings {
        batch: positions,
        weight_decay: 0.0,
        clip_norm: CLIP_NORM,
        loss_exponent: 1.0,
    };
    let model = model.with_own_scale(1.0);
    let mut learner = Learner::<E>::new(device, model, schedule, settings)?;
    let prepared = E::prepare(task.architecture, task.records, Aim::LABEL);
    let batch = learner.executor().send(prepared);
    let mut learned = Learned {
        positions,
        steps: 0,
        first_loss: f32::NAN,
        loss: f32::NAN,
        below: task.below,
    };
    while learned.steps < task.steps && !learned.by_heart() {
        learner.learn(&batch, positions);
        if learner.unfetched() < FETCH_EVERY && learner.steps() < task.steps {
            continue;
        }
        for step in learner.fetch() {
            if learned.steps == 0 {
                learned.first_loss = step.loss;
            }
            learned.steps += 1;
            learned.loss = step.loss;
        }
    }
    Ok(learned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{games, turn};
    use crate::training::executor::CpuExecutor;

    #[test]
    fn memorises_a_batch_unless_steps_run_out() {
        let _turn = turn();
        let task = |steps| Task {
            architecture: Architecture::hidden([256, 32, 32]),
            init: None,
            records: games(64),
            steps,
            below: 0.02,
            seed: 1,
        };
        let learned = overfit::<CpuExecutor>(task(3000), &()).unwrap();
        assert!(learned.by_heart(), "{learned:?}");
        assert!(
            learned.first_loss > 0.1 && learned.steps < 3000,
            "{learned:?}"
        );
        let learned = overfit::<CpuExecutor>(task(5), &()).unwrap();
        assert!(!learned.by_heart() && learned.steps == 5, "{learned:?}");
    }
}
