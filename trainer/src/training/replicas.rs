//! A model on one device or several, and the gradient of a batch that is cut
//! into a part for each: data parallelism, as Burn's own training loop does it
//! with an optimizer on the main device.
//!
//! One thread gives all devices their work, one after the other, and does not
//! wait for them: Burn's CUDA backend has a thread a device that carries it out.
//! It also gives both ends of every transfer between two GPUs in one order,
//! without which two of them could wait for each other.

use std::mem;

use burn::module::Module;
use burn::optim::{GradientsAccumulator, GradientsParams};
use burn::tensor::Tensor;

use crate::network::evaluate::Train;
use crate::network::model::Model;

/// A model, and copies of it on other devices with the same parameters.
pub struct Replicas<B: Train> {
    first: Model<B>,
    others: Vec<Model<B>>,
}

impl<B: Train> Replicas<B> {
    /// Copies a model to all devices but the first, which it is on.
    pub fn new(model: Model<B>, devices: &[B::Device]) -> Replicas<B> {
        let others = devices.iter().skip(1);
        Replicas {
            others: others.map(|device| model.clone().fork(device)).collect(),
            first: model,
        }
    }

    /// The model on the first device.
    pub fn first(&self) -> &Model<B> {
        &self.first
    }

    /// Replaces the model, which is on the first device, and sends its
    /// parameters to the others.
    pub fn set(&mut self, model: Model<B>) {
        self.others = mem::take(&mut self.others)
            .into_iter()
            .map(|replica| replica.load_record(model.clone().into_record()))
            .collect();
        self.first = model;
    }

    /// The mean loss of a batch, to the power `exponent`, shape `[1]`, and its gradient, both on the
    /// first device. Of the batch's records each device has a part, in the
    /// order of the devices; one part at least.
    pub fn gradients(
        &self,
        parts: Vec<B::Samples>,
        exponent: f64,
    ) -> (Tensor<B::InnerBackend, 1>, GradientsParams) {
        let records = |part: &B::Samples| B::count(part) as f64;
        let batch: f64 = parts.iter().map(records).sum();
        let replicas = [&self.first].into_iter().chain(&self.others);
        // All devices have their work before anything is moved, which waits
        // until the work of its device is at least begun.
        let computed: Vec<_> = replicas
            .zip(parts)
            .map(|(model, part)| {
                // A batch's mean loss is the sum of its parts', each times its
                // share; so then is the gradient. All of a batch is exactly 1.
                let share = records(&part) / batch;
                let loss = model.loss(&part, exponent) * share;
                let gradients = GradientsParams::from_grads(loss.backward(), model);
                (loss.inner(), gradients)
            })
            .collect();
        let mut computed = computed.into_iter();
        let (mut total, gradients) = computed.next().expect("a batch has a part");
        let device = total.device();
        let mut sum = GradientsAccumulator::new();
        sum.accumulate(&self.first, gradients);
        for (loss, gradients) in computed {
            total = total + loss.to_device(&device);
            sum.accumulate(&self.first, gradients.to_device(&device, &self.first));
        }
        (total, sum.grads())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn_flex::{Flex, FlexDevice};
    use models::{Architecture, Network};

    use crate::input::batch::Batch;
    use crate::network::evaluate::Parts;
    use crate::network::target::Aim;
    use crate::testing::{Cpu, SMALL, games, turn};
    use crate::training::learner::Learner;
    use crate::training::readings::Unseen;
    use crate::training::schedule::Schedule;

    const STEPS: usize = 20;

    /// Losses and gradient lengths of some steps with so many replicas, and the
    /// network after them.
    fn trained(replicas: usize) -> (Vec<[f32; 2]>, Network) {
        let devices = vec![FlexDevice; replicas];
        let start = Model::<Cpu>::fresh(SMALL, 5, &FlexDevice);
        let schedule = Schedule::new(5e-3, STEPS as u64);
        // Every gradient is shortened.
        let mut learner = Learner::new(Replicas::new(start, &devices), schedule, 0.3, 0.05);
        let mut unseen = Unseen::default();
        // No size is divisible by 2 or 3, and some replicas have no part
        // of the last.
        let records = games(STEPS * 35);
        let mut batches: Vec<&[_]> = records.chunks_exact(35).collect();
        batches[3] = &batches[3][..5];
        batches[8] = &batches[8][..7];
        batches[STEPS - 1] = &batches[STEPS - 1][..1];
        for batch in batches {
            let batch = Batch::new(batch.to_vec());
            let parts = Parts::<Cpu>::new(SMALL, &batch, Aim::LABEL, devices.len());
            unseen.push(learner.learn(parts.send(&devices)), batch.records.len());
        }
        let steps = unseen.fetch().into_iter();
        let readings = steps.map(|step| [step.loss, step.gradient_norm]);
        (readings.collect(), learner.network())
    }

    fn weights(network: &Network) -> impl Iterator<Item = f32> {
        let layers = network.layers().iter();
        layers.flat_map(|layer| layer.weight.iter().chain(&layer.bias).copied())
    }

    fn most(distances: impl Iterator<Item = f32>) -> f32 {
        distances.fold(0.0, |most, distance| most.max(distance.abs()))
    }

    #[test]
    fn several_replicas_learn_what_one_does() {
        let _turn = turn();
        let (alone, network) = trained(1);
        let start = Model::<Flex>::fresh(SMALL, 5, &FlexDevice).network();
        let moved = most(weights(&start).zip(weights(&network)).map(|(a, b)| a - b));
        assert!(moved > 0.01, "{moved}");
        for replicas in [2, 3] {
            let (readings, together) = trained(replicas);
            for (step, (one, many)) in alone.iter().zip(&readings).enumerate() {
                for (one, many) in one.iter().zip(many) {
                    let apart = (one - many).abs() / one;
                    assert!(apart < 1e-4, "step {step}: {one} and {many}");
                }
            }
            let apart = most(
                weights(&network)
                    .zip(weights(&together))
                    .map(|(a, b)| a - b),
            );
            assert!(apart < 1e-3 * moved, "{apart} of {moved}");
            assert_eq!(trained(replicas), (readings, together), "repeated");
        }
    }

    #[test]
    fn a_step_moves_as_many_bytes_as_documented() {
        let network = Network::random(Architecture::ARTICLE, 1);
        let model = Model::<Flex>::new(&network, &FlexDevice);
        let text = include_str!("../../../docs/training.md");
        let bytes = model.num_params() * size_of::<f32>();
        assert_eq!(bytes, 2_026_768);
        assert!(text.contains("2,026,768 bytes"));
        assert_eq!(model.num_params(), 506_692);
        assert!(text.contains("506,692 parameters"));
    }
}
