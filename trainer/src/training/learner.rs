//! One step of training.

use burn::module::Module;
use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::{AdamW, AdamWConfig, Optimizer};
use burn::record::{FullPrecisionSettings, NamedMpkBytesRecorder, Recorder, RecorderError};
use models::Network;
use serde_json::{Value, json};

use crate::network::clipping;
use crate::network::evaluate::Train;
use crate::network::finite::is_finite;
use crate::network::model::Model;
use crate::training::readings::Reading;
use crate::training::replicas::Replicas;
use crate::training::schedule::Schedule;

/// How fast AdamW forgets gradients and their squares, and what keeps it from
/// dividing by zero: Burn's defaults, named so that they stay what they are.
const BETAS: [f64; 2] = [0.9, 0.999];
const EPSILON: f64 = 1e-5;

/// The optimizer as a net's metadata names it.
pub fn metadata(weight_decay: f64) -> Value {
    json!({
        "name": "AdamW",
        "betas": BETAS,
        "epsilon": EPSILON,
        "weight_decay": weight_decay,
    })
}

/// A model with its optimizer, which is on the first of its devices, and its
/// place in the schedule.
pub struct Learner<B: Train> {
    replicas: Replicas<B>,
    optimizer: OptimizerAdaptor<AdamW, Model<B>, B>,
    schedule: Schedule,
    clip_norm: f32,
    loss_exponent: f64,
    step: u64,
}

/// Parameters and moments in Burn's own format, f32.
type Format = NamedMpkBytesRecorder<FullPrecisionSettings>;

impl<B: Train> Learner<B> {
    /// Starts from a model. Weights decay by `weight_decay`
    /// ([`Regularisation`](crate::training::regularisation::Regularisation)), gradients
    /// are shortened to the length `clip_norm`.
    pub fn new(
        replicas: Replicas<B>,
        schedule: Schedule,
        weight_decay: f64,
        clip_norm: f32,
    ) -> Learner<B> {
        let optimizer = AdamWConfig::new()
            .with_beta_1(BETAS[0] as f32)
            .with_beta_2(BETAS[1] as f32)
            .with_epsilon(EPSILON as f32)
            .with_weight_decay(weight_decay as f32)
            .init();
        Learner {
            replicas,
            optimizer,
            schedule,
            clip_norm,
            loss_exponent: 1.0,
            step: 0,
        }
    }

    /// The same by another power of the distance than the first
    /// ([`target::loss`](crate::network::target::loss)).
    pub fn with_loss_exponent(self, loss_exponent: f64) -> Learner<B> {
        Learner {
            loss_exponent,
            ..self
        }
    }

    /// Takes one step of AdamW on a batch, which lies on the devices as
    /// [`Parts`](crate::network::evaluate::Parts) lays it, and clips the
    /// weights to what integer inference can hold. What it measured, before the
    /// step, stays on the first device.
    pub fn learn(&mut self, parts: Vec<B::Samples>) -> Reading<B::InnerBackend> {
        self.learn_at(self.schedule.rate(self.step), parts)
    }

    /// The same at another learning rate than the schedule's.
    pub fn learn_at(&mut self, rate: f64, parts: Vec<B::Samples>) -> Reading<B::InnerBackend> {
        let (loss, mut gradients) = self.replicas.gradients(parts, self.loss_exponent);
        let model = self.replicas.first();
        let gradient_norm = clipping::clip(model, &mut gradients, self.clip_norm);
        let model = self.optimizer.step(rate, model.clone(), gradients);
        self.replicas.set(model.clipped());
        self.step += 1;
        Reading {
            loss,
            gradient_norm,
            learning_rate: rate,
        }
    }

    /// Steps that were taken.
    pub fn steps(&self) -> u64 {
        self.step
    }

    /// The learning rate of the next step.
    pub fn rate(&self) -> f64 {
        self.schedule.rate(self.step)
    }

    /// The network as it is now.
    pub fn network(&self) -> Network {
        self.replicas.first().network()
    }

    /// Whether every parameter is a finite number.
    pub fn is_finite(&self) -> bool {
        is_finite(self.replicas.first())
    }

    /// Parameters and moments, to the bit.
    pub fn record(&self) -> Vec<u8> {
        let model = self.replicas.first().clone();
        let state = (model.into_record(), self.optimizer.to_record());
        let bytes = Recorder::<B>::record(&Format::default(), state, ());
        bytes.expect("tensors can be written to memory")
    }

    /// Goes on as a learner would that had taken so many steps and given this
    /// record. `device` is the first.
    ///
    /// # Errors
    /// If the record is damaged.
    pub fn restore(
        mut self,
        step: u64,
        record: Vec<u8>,
        device: &B::Device,
    ) -> Result<Learner<B>, RecorderError> {
        let (model, optimizer) = Recorder::<B>::load(&Format::default(), record, device)?;
        let model = self.replicas.first().clone().load_record(model);
        self.replicas.set(model);
        Ok(Learner {
            optimizer: self.optimizer.load_record(optimizer),
            step,
            ..self
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn_flex::FlexDevice;
    use models::Architecture;

    use crate::network::evaluate::Evaluate;
    use crate::network::target::Aim;
    use crate::testing::{Cpu, SMALL, games, record, turn};

    fn alone(model: Model<Cpu>) -> Replicas<Cpu> {
        Replicas::new(model, &[FlexDevice])
    }

    fn trained(steps: u64, seed: u64) -> (Network, Vec<f32>) {
        let device = Default::default();
        let samples = Cpu::samples(SMALL, &games(64), Aim::LABEL, &device);
        let start = Model::fresh(SMALL, seed, &device);
        let mut learner = Learner::<Cpu>::new(alone(start), Schedule::new(5e-3, steps), 0.3, 1.0);
        let losses = (0..steps)
            .map(|_| learner.learn(vec![samples.clone()]).loss.into_scalar())
            .collect();
        (learner.network(), losses)
    }

    #[test]
    fn overfits_one_batch() {
        let _turn = turn();
        let (_, losses) = trained(1500, 1);
        assert!(losses[0] > 0.1, "{}", losses[0]);
        assert!(losses[1499] < 0.1 * losses[0], "{}", losses[1499]);
    }

    #[test]
    fn the_same_seed_gives_the_same_weights_to_the_bit() {
        let _turn = turn();
        let (first, first_losses) = trained(50, 7);
        let (second, second_losses) = trained(50, 7);
        assert_eq!(first, second);
        assert_eq!(first_losses, second_losses);
        assert_ne!(first, trained(50, 8).0);
    }

    #[test]
    fn weights_stay_where_integers_can_hold_them() {
        let _turn = turn();
        let start = record("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", 30_000);
        let device = Default::default();
        let samples = Cpu::samples(SMALL, &[start; 4], Aim::LABEL, &device);
        let fresh = Model::fresh(SMALL, 3, &device);
        let mut learner = Learner::<Cpu>::new(alone(fresh), Schedule::new(1.0, 40), 0.3, 1.0);
        for _ in 0..40 {
            learner.learn(vec![samples.clone()]);
        }
        let network = learner.network();
        let widest = network.layers()[3]
            .weight
            .iter()
            .fold(0f32, |m, w| m.max(w.abs()));
        assert!(widest > 0.9, "the step was to reach far: {widest}");
        models::QuantisedNetwork::new(&network).unwrap();
    }

    fn batch() -> Vec<<Cpu as Evaluate>::Samples> {
        vec![Cpu::samples(
            Architecture::ARTICLE,
            &games(64),
            Aim::LABEL,
            &FlexDevice,
        )]
    }

    /// A learner of the full size, and its state after some steps.
    fn after(steps: u64, clip_norm: f32) -> (Learner<Cpu>, Network) {
        let device = Default::default();
        let start = Model::new(&Network::random(Architecture::ARTICLE, 4), &device);
        let mut learner = Learner::new(alone(start), Schedule::new(1e-2, 20), 0.3, clip_norm);
        for _ in 0..steps {
            learner.learn(batch());
        }
        let network = learner.network();
        (learner, network)
    }

    #[test]
    fn goes_on_from_its_record_to_the_bit() {
        let _turn = turn();
        let (undisturbed, _) = after(9, 1.0);
        let (halfway, network) = after(5, 1.0);
        let fresh = after(0, 1.0).0;
        let mut resumed = fresh
            .restore(5, halfway.record(), &Default::default())
            .unwrap();
        assert_eq!(resumed.network(), network);
        for _ in 5..9 {
            resumed.learn(batch());
        }
        assert_eq!(resumed.steps(), 9);
        assert_eq!(resumed.rate(), undisturbed.rate());
        assert_eq!(resumed.network(), undisturbed.network());
        let damaged = after(0, 1.0)
            .0
            .restore(5, vec![0x80; 100], &Default::default());
        assert!(damaged.is_err());
    }

    #[test]
    fn clipping_changes_nothing_but_gradients_that_are_too_long() {
        let _turn = turn();
        let norm = {
            let (mut learner, _) = after(0, 1.0);
            learner.learn(batch()).gradient_norm.into_scalar()
        };
        let (_, free) = after(1, 1e9);
        assert_eq!(after(1, norm * 1.001).1, free, "not acting");
        // Adam's first step hardly depends on scale; with epsilon it does.
        assert_ne!(after(1, norm * 1e-3).1, free, "acting");
    }
}
