//! Learner: a network in training, with its optimizer and its place in the schedule.

use models::Network;
use serde_json::{Value, json};

use crate::error::TrainerError;
use crate::training::executor::{BETAS, EPSILON, Executor, Settings};
use crate::training::schedule::Schedule;
use network::CpuModel;

/// Returns the optimizer's entry in a net's metadata.
pub fn metadata(weight_decay: f64) -> Value {
    json!({
        "name": "AdamW",
        "betas": BETAS,
        "epsilon": EPSILON,
        "weight_decay": weight_decay,
    })
}

/// Loss, gradient norm and learning rate of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearnedStep {
    /// Positions in the batch.
    pub samples: u64,
    /// Mean loss of the batch before the update.
    pub loss: f32,
    /// Global gradient norm before clipping.
    pub gradient_norm: f32,
    /// Learning rate of the step.
    pub learning_rate: f64,
}

/// A network in training, with its optimizer and its place in the schedule.
pub struct Learner<E: Executor> {
    executor: E,
    schedule: Schedule,
    step: u64,
    /// Batch sizes and learning rates of steps with unfetched measurements. Fetching is batched
    /// because it waits for the device.
    unfetched: Vec<(u64, f64)>,
}

impl<E: Executor> Learner<E> {
    /// Starts training a model.
    pub fn new(
        device: &E::Device,
        model: CpuModel,
        schedule: Schedule,
        settings: Settings,
    ) -> Result<Learner<E>, TrainerError> {
        Ok(Learner {
            executor: E::start(device, model, settings)?,
            schedule,
            step: 0,
            unfetched: Vec::new(),
        })
    }

    /// Returns the executor.
    pub fn executor(&mut self) -> &mut E {
        &mut self.executor
    }

    /// Takes a step on a batch of `samples` positions at the schedule's rate.
    pub fn learn(&mut self, batch: &E::Batch, samples: usize) {
        let rate = self.rate();
        self.executor.learn(batch, rate);
        self.step += 1;
        self.unfetched.push((samples as u64, rate));
    }

    /// Returns the number of steps with measurements not fetched yet.
    pub fn unfetched(&self) -> usize {
        self.unfetched.len()
    }

    /// Returns the measurements of these steps, in order. Waits for the device.
    pub fn fetch(&mut self) -> Vec<LearnedStep> {
        if self.unfetched.is_empty() {
            return Vec::new();
        }
        let steps = self.unfetched.drain(..).zip(self.executor.fetch());
        let steps = steps.map(|((samples, learning_rate), found)| LearnedStep {
            samples,
            loss: found.loss,
            gradient_norm: found.gradient_norm,
            learning_rate,
        });
        steps.collect()
    }

    /// Returns the number of steps taken.
    pub fn steps(&self) -> u64 {
        self.step
    }

    /// Returns the learning rate of the next step.
    pub fn rate(&self) -> f64 {
        self.schedule.rate(self.step)
    }

    /// Returns the network with its current weights.
    pub fn network(&self) -> Network {
        self.executor.network()
    }

    /// Returns whether every parameter is finite.
    pub fn is_finite(&self) -> bool {
        self.executor.is_finite()
    }

    /// Serialises parameters and optimizer moments without loss.
    pub fn record(&self) -> Vec<u8> {
        self.executor.record()
    }

    /// Restores the state that [`record`](Self::record) serialised after `step` steps.
    ///
    /// # Errors
    /// Describes the damage of an unreadable record.
    pub fn restore(mut self, step: u64, record: Vec<u8>) -> Result<Learner<E>, String> {
        self.executor.restore(step, record)?;
        Ok(Learner { step, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use models::Architecture;

    use crate::testing::{SMALL, games, record, turn};
    use crate::training::executor::CpuExecutor;
    use network::Aim;
    use network::Samples;

    fn learner(model: CpuModel, schedule: Schedule, clip_norm: f32) -> Learner<CpuExecutor> {
        let settings = Settings {
            batch: 64,
            weight_decay: 0.3,
            clip_norm,
            loss_exponent: 1.0,
        };
        Learner::new(&(), model, schedule, settings).expect("room")
    }

    /// Takes a step on a batch; returns its loss.
    fn loss(learner: &mut Learner<CpuExecutor>, batch: &Arc<Samples>) -> f32 {
        learner.learn(batch, batch.count());
        learner.fetch()[0].loss
    }

    fn trained(steps: u64, seed: u64) -> (Network, Vec<f32>) {
        let samples = Arc::new(Samples::new(SMALL, &games(64), Aim::LABEL));
        let start = CpuModel::fresh(SMALL, seed);
        let mut learner = learner(start, Schedule::new(5e-3, steps), 1.0);
        let losses = (0..steps).map(|_| loss(&mut learner, &samples)).collect();
        (learner.network(), losses)
    }

    #[test]
    fn memorises_a_batch() {
        let _turn = turn();
        let (_, losses) = trained(1500, 1);
        assert!(losses[0] > 0.1, "{}", losses[0]);
        assert!(losses[1499] < 0.1 * losses[0], "{}", losses[1499]);
    }

    #[test]
    fn weights_are_a_function_of_the_seed() {
        let _turn = turn();
        let (first, first_losses) = trained(50, 7);
        let (second, second_losses) = trained(50, 7);
        assert_eq!(first, second);
        assert_eq!(first_losses, second_losses);
        assert_ne!(first, trained(50, 8).0);
    }

    #[test]
    fn weights_stay_within_integer_bounds() {
        let _turn = turn();
        let start = record("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", 30_000);
        let samples = Arc::new(Samples::new(SMALL, &[start; 4], Aim::LABEL));
        let fresh = CpuModel::fresh(SMALL, 3);
        let mut learner = learner(fresh, Schedule::new(1.0, 40), 1.0);
        for _ in 0..40 {
            loss(&mut learner, &samples);
        }
        let network = learner.network();
        let widest = network.layers()[3]
            .weight
            .iter()
            .fold(0f32, |m, w| m.max(w.abs()));
        assert!(widest > 0.9, "the step was to reach far: {widest}");
        models::QuantisedNetwork::new(&network).unwrap();
    }

    fn batch() -> Arc<Samples> {
        Arc::new(Samples::new(Architecture::ARTICLE, &games(64), Aim::LABEL))
    }

    /// Returns a full-size learner after `steps` steps, and its network.
    fn after(steps: u64, clip_norm: f32) -> (Learner<CpuExecutor>, Network) {
        let start = CpuModel::new(&Network::random(Architecture::ARTICLE, 4));
        let mut learner = learner(start, Schedule::new(1e-2, 20), clip_norm);
        for _ in 0..steps {
            loss(&mut learner, &batch());
        }
        let network = learner.network();
        (learner, network)
    }

    #[test]
    fn resumes_exactly_from_its_record() {
        let _turn = turn();
        let (undisturbed, _) = after(9, 1.0);
        let (halfway, network) = after(5, 1.0);
        let fresh = after(0, 1.0).0;
        let mut resumed = fresh.restore(5, halfway.record()).unwrap();
        assert_eq!(resumed.network(), network);
        for _ in 5..9 {
            loss(&mut resumed, &batch());
        }
        assert_eq!(resumed.steps(), 9);
        assert_eq!(resumed.rate(), undisturbed.rate());
        assert_eq!(resumed.network(), undisturbed.network());
        let damaged = after(0, 1.0).0.restore(5, vec![0x80; 100]);
        assert!(damaged.is_err());
    }

    #[test]
    fn clipping_changes_only_long_gradients() {
        let _turn = turn();
        let norm = {
            let (mut learner, _) = after(0, 1.0);
            learner.learn(&batch(), 64);
            learner.fetch()[0].gradient_norm
        };
        let (_, free) = after(1, 1e9);
        assert_eq!(after(1, norm * 1.001).1, free, "not acting");
        // Adam's first step hardly depends on scale; with epsilon it does.
        assert_ne!(after(1, norm * 1e-3).1, free, "acting");
    }
}
