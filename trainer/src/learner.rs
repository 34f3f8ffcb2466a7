//! One step of training.

use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::{AdamW, AdamWConfig, GradientsParams, Optimizer};
use burn::tensor::{Int, Tensor};
use models::Network;

use crate::model::{Model, Train};
use crate::schedule::Schedule;

/// How fast weights decay, in units of the learning rate (decoupled, as in
/// Loshchilov and Hutter, "Decoupled weight decay regularization", 2019).
pub const WEIGHT_DECAY: f32 = 0.3;

/// A model with its optimizer and its place in the schedule.
pub struct Learner<B: Train> {
    model: Model<B>,
    optimizer: OptimizerAdaptor<AdamW, Model<B>, B>,
    schedule: Schedule,
    step: u64,
}

impl<B: Train> Learner<B> {
    /// Starts from a model.
    pub fn new(model: Model<B>, schedule: Schedule) -> Learner<B> {
        let optimizer = AdamWConfig::new().with_weight_decay(WEIGHT_DECAY).init();
        Learner {
            model,
            optimizer,
            schedule,
            step: 0,
        }
    }

    /// Takes one step of AdamW on a batch's records, `[batch, WORDS]`, and
    /// clips the weights to what integer inference can hold. Returns the loss
    /// before the step, shape `[1]`, still on the device.
    pub fn learn(&mut self, words: Tensor<B, 2, Int>) -> Tensor<B::InnerBackend, 1> {
        let loss = self.model.loss(words);
        let gradients = GradientsParams::from_grads(loss.backward(), &self.model);
        let rate = self.schedule.rate(self.step);
        let model = self.optimizer.step(rate, self.model.clone(), gradients);
        self.model = model.clipped();
        self.step += 1;
        loss.inner()
    }

    /// The learning rate of the next step.
    pub fn rate(&self) -> f64 {
        self.schedule.rate(self.step)
    }

    /// The network as it is now.
    pub fn network(&self) -> Network {
        self.model.network()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::backend::Autodiff;
    use burn_flex::Flex;
    use models::Shape;

    use crate::batch::Batch;
    use crate::testing::{games, record};

    type Cpu = Autodiff<Flex>;

    const SMALL: Shape = Shape {
        first: 64,
        second: 16,
        third: 16,
    };

    fn trained(steps: u64, seed: u64) -> (Network, Vec<f32>) {
        let device = Default::default();
        let words = Batch::new(games(64)).words(&device);
        let start = Model::fresh(SMALL, seed, &device);
        let mut learner = Learner::<Cpu>::new(start, Schedule::new(5e-3, steps));
        let losses = (0..steps)
            .map(|_| learner.learn(words.clone()).into_scalar())
            .collect();
        (learner.network(), losses)
    }

    #[test]
    fn overfits_one_batch() {
        let (_, losses) = trained(1500, 1);
        assert!(losses[0] > 0.1, "{}", losses[0]);
        assert!(losses[1499] < 0.1 * losses[0], "{}", losses[1499]);
    }

    #[test]
    fn the_same_seed_gives_the_same_weights_to_the_bit() {
        let (first, first_losses) = trained(50, 7);
        let (second, second_losses) = trained(50, 7);
        assert_eq!(first, second);
        assert_eq!(first_losses, second_losses);
        assert_ne!(first, trained(50, 8).0);
    }

    #[test]
    fn weights_stay_where_integers_can_hold_them() {
        let start = record("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", 30_000);
        let device = Default::default();
        let words = Batch::new(vec![start; 4]).words(&device);
        let fresh = Model::fresh(SMALL, 3, &device);
        let mut learner = Learner::<Cpu>::new(fresh, Schedule::new(1.0, 40));
        for _ in 0..40 {
            learner.learn(words.clone());
        }
        let network = learner.network();
        let widest = network.layers()[3]
            .weight
            .iter()
            .fold(0f32, |m, w| m.max(w.abs()));
        assert!(widest > 0.9, "the step was to reach far: {widest}");
        models::QuantisedNetwork::new(&network).unwrap();
    }
}
