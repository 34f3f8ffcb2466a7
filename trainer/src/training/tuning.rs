//! Learning-rate range test (Smith, "Cyclical learning rates for training neural networks", 2017):
//! the rate rises exponentially from step to step, until the loss rises too.

use std::thread;

use datasets::Dataset;
use models::{Architecture, Network};
use serde::Serialize;

use crate::error::TrainerError;
use crate::input::filter::Filter;
use crate::input::reader::read_epoch;
use crate::training::executor::{Executor, Settings};
use crate::training::feed::feed;
use crate::training::learner::Learner;
use crate::training::regularisation::Regularisation;
use crate::training::run::FETCH_EVERY;
use crate::training::schedule::Schedule;
use network::Aim;
use network::CLIP_NORM;
use network::CpuModel;

/// Decay of the smoothed loss, a memory of some 20 steps.
const MEMORY: f64 = 0.95;
/// Suggested peak relative to the rate of the smallest smoothed loss. Training stays at its peak
/// much longer than this test, and the smoothed loss turns late. On all samples together it is
/// smallest at 0.012, and experiments found 0.003 best for `trainer fit`.
const PART: f64 = 0.25;

/// Settings of a range test.
#[derive(Debug)]
pub struct RangeTest {
    /// Architecture of the network.
    pub architecture: Architecture,
    /// The network to start from, instead of fresh weights.
    pub init: Option<Network>,
    /// Positions a step.
    pub batch: usize,
    /// Number of steps; may span several epochs.
    pub steps: u64,
    /// Learning rate of the first step.
    pub from: f64,
    /// Learning rate of the last step.
    pub to: f64,
    /// Regularisation, as in training.
    pub regularisation: Regularisation,
    /// Seed of the starting weights and of the order of positions.
    pub seed: u64,
}

/// Step of a range test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Learning rate of the step.
    pub learning_rate: f64,
    /// Loss of its batch before the update.
    pub loss: f64,
    /// Exponential moving average of the losses so far.
    pub smoothed: f64,
}

/// Result of a range test.
#[derive(Debug, Serialize)]
pub struct Tuning {
    /// Positions a step.
    pub batch: usize,
    /// Suggested peak learning rate.
    pub suggested: f64,
    /// All steps before the loss became non-finite.
    pub points: Vec<Point>,
}

impl RangeTest {
    /// Returns the learning rate of a step, counted from 0.
    fn rate(&self, step: u64) -> f64 {
        let done = step as f64 / (self.steps - 1).max(1) as f64;
        self.from * (self.to / self.from).powf(done)
    }
}

/// Runs a range test.
pub fn tune<E: Executor>(
    test: &RangeTest,
    dataset: &Dataset,
    device: &E::Device,
) -> Result<Tuning, TrainerError> {
    let Regularisation {
        own_scale,
        weight_decay,
    } = test.regularisation;
    let init = test.init.as_ref();
    let model = CpuModel::start(init, test.architecture, test.seed);
    // Unused: each step gets its rate explicitly.
    let schedule = Schedule::new(test.to, test.steps);
    let settings = Settings {
        batch: test.batch,
        weight_decay,
        clip_norm: CLIP_NORM,
        loss_exponent: 1.0,
    };
    let model = model.with_own_scale(own_scale);
    let mut learner = Learner::<E>::new(device, model, schedule, settings)?;
    let mut losses = Vec::new();
    for epoch in 1.. {
        thread::scope(|scope| -> Result<(), TrainerError> {
            let left = (test.steps - learner.steps()) as usize;
            let order = (test.seed, epoch);
            let batches = read_epoch(scope, dataset, Filter::NONE, order, test.batch, 0);
            let aim = |_| Aim::LABEL;
            let batches = feed::<E>(scope, batches, test.architecture, aim);
            for ready in batches.take(left) {
                let (prepared, positions) = ready?;
                let batch = learner.executor().send(prepared);
                learner.learn_at(test.rate(learner.steps()), &batch, positions);
                if learner.unfetched() == FETCH_EVERY {
                    losses.extend(learner.fetch().iter().map(|step| f64::from(step.loss)));
                }
            }
            losses.extend(learner.fetch().iter().map(|step| f64::from(step.loss)));
            Ok(())
        })?;
        if learner.steps() == test.steps {
            break;
        }
    }
    Ok(found(test, &losses))
}

/// Derives the result from the losses.
fn found(test: &RangeTest, losses: &[f64]) -> Tuning {
    let (mut sum, mut weight) = (0.0, 0.0);
    let finite = losses.iter().take_while(|loss| loss.is_finite());
    let points = (0..).zip(finite).map(|(step, &loss)| {
        sum = MEMORY * sum + (1.0 - MEMORY) * loss;
        weight = MEMORY * weight + (1.0 - MEMORY);
        Point {
            learning_rate: test.rate(step),
            loss,
            smoothed: sum / weight,
        }
    });
    let points: Vec<Point> = points.collect();
    let best = points
        .iter()
        .min_by(|a, b| a.smoothed.total_cmp(&b.smoothed));
    Tuning {
        batch: test.batch,
        suggested: best.map_or(test.from, |best| PART * best.learning_rate),
        points,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::testing::{self, SMALL, turn};
    use crate::training::executor::CpuExecutor;

    fn test(steps: u64) -> RangeTest {
        RangeTest {
            architecture: SMALL,
            init: None,
            batch: 256,
            steps,
            from: 1e-5,
            to: 1.0,
            regularisation: Regularisation::for_positions(1),
            seed: 1,
        }
    }

    #[test]
    fn rates_rise_by_the_same_factor() {
        let test = test(6);
        for (step, rate) in [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0].into_iter().enumerate() {
            assert!((test.rate(step as u64) / rate - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn suggests_a_quarter_of_the_best_rate() {
        // The loss falls to step 600 of 1,001, rises, and becomes NaN.
        let loss = |step: i32| 0.1 + f64::from((step - 600).abs()) / 1000.0;
        let mut losses: Vec<f64> = (0..900).map(loss).collect();
        losses.push(f64::NAN);
        let found = found(&test(1001), &losses);
        assert_eq!(found.points.len(), 900);
        // The rate of step 600 is 0.01; smoothing turns 13 steps or so later.
        assert!(
            (0.0023..0.0034).contains(&found.suggested),
            "{}",
            found.suggested
        );
    }

    #[test]
    fn spans_epochs_and_finds_a_usable_rate() {
        let _turn = turn();
        let folder = tempfile::tempdir().unwrap();
        let dataset = testing::dataset(folder.path(), 3_000);
        let found = tune::<CpuExecutor>(&test(150), &dataset, &()).unwrap();
        assert_eq!(found.points.len(), 150);
        assert!(
            (1e-4..0.1).contains(&found.suggested),
            "{}",
            found.suggested
        );
    }
}
