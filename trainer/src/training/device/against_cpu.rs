//! What GPUs compute, against what the processor does: the same tests on every
//! interface that this build has, in software where there is no GPU.

use std::env;
use std::path::Path;
use std::process::Command;

use burn::tensor::Tensor;
use burn_flex::FlexDevice;
use datasets::{Record, read_labelled};
use models::{Activation, Architecture, Network, View};

use super::{Api, Device, DeviceChoice, Job};
use crate::error::TrainerError;
use crate::network::evaluate::Train;
use crate::network::first_layer::Inputs;
use crate::network::model::Model;
use crate::network::precision::Precision;
use crate::network::target::Aim;
use crate::testing::{Cpu, SMALL, games, turn};
use crate::training::learner::Learner;
use crate::training::replicas::Replicas;
use crate::training::schedule::Schedule;

const RATE: f64 = 5e-3;

/// Both views, products, buckets.
const PAIRWISE: Architecture = Architecture {
    view: View::Both,
    activation: Activation::PairwiseClippedRelu,
    third: None,
    buckets: 8,
    ..SMALL
};

/// Squares, and nothing between the first layer and the output.
const SQUARED: Architecture = Architecture {
    activation: Activation::SquaredClippedRelu,
    second: None,
    third: None,
    ..SMALL
};

/// The interfaces that this build has and that can be tested here.
const BUILT: [(Api, bool); 2] = [
    (Api::Cuda, cfg!(feature = "cuda")),
    (Api::Vulkan, cfg!(feature = "vulkan")),
];

/// Does a job on the first GPU of each interface, software if it must be.
fn on_gpus<J: Job + Copy>(job: J, mut check: impl FnMut(Result<J::Output, TrainerError>)) {
    for (api, _) in BUILT.into_iter().filter(|(_, built)| *built) {
        match Device::find(DeviceChoice::Named(Device::Gpus(api, vec![0]))) {
            Ok(device) => check(device.run(job)),
            Err(why) => test_support::skip(&why.to_string()),
        }
    }
}

/// The greatest distance of two lists of numbers.
fn apart(found: &[f32], expected: &[f32]) -> f32 {
    assert_eq!(found.len(), expected.len());
    let distances = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
    // A NaN is no distance, and as bad as any.
    distances.fold(0.0, |most, x| if x <= most { most } else { x })
}

/// Positions of real games.
fn real(count: usize) -> Vec<Record> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/samples");
    let mut records = Vec::new();
    let sample = samples.join("dump_2026-06_annotated500.pgn.zst");
    read_labelled(&sample, |record| records.push(record)).expect("a sample");
    // From all over the sample.
    let every = records.len() / count;
    assert!(every > 0, "{}", records.len());
    records.into_iter().step_by(every).take(count).collect()
}

/// A net's values of positions.
#[derive(Clone, Copy)]
struct Values<'a>(&'a Network, &'a [Record], Inputs, Precision);

impl Job for Values<'_> {
    type Output = Vec<f32>;

    fn run<B: Train>(self, devices: &[B::Device]) -> Result<Vec<f32>, TrainerError> {
        let Values(network, records, inputs, precision) = self;
        let model = Model::<B>::new(network, &devices[0]);
        let model = model.with_inputs(inputs).with_precision(precision);
        let batches = records.chunks(4096);
        Ok(batches
            .flat_map(|records| model.values(records, &devices[0]))
            .collect())
    }
}

fn shipped() -> Network {
    let net = include_bytes!("../../../../models/default.safetensors");
    Network::from_bytes(net).expect("a net").0
}

#[test]
fn values_are_those_of_the_processor() {
    let _turn = turn();
    let (network, records) = (shipped(), real(10_000));
    let job = Values(&network, &records, Inputs::Sparse, Precision::Full);
    let expected = job.run::<Cpu>(&[FlexDevice]).expect("values");
    assert!(expected.iter().any(|value| value.abs() > 1.0));
    on_gpus(job, |found| {
        let apart = apart(&found.expect("values"), &expected);
        assert!(apart < 1e-4, "{apart} pawns");
    });
    // Sizes that fill no register, and a position by itself.
    for (architecture, count) in [([45, 7, 3], 33), ([48, 8, 3], 33), ([64, 16, 1], 1)] {
        let network = Network::random(Architecture::hidden(architecture), 2);
        let job = Values(&network, &records[..count], Inputs::Sparse, Precision::Full);
        let expected = job.run::<Cpu>(&[FlexDevice]).expect("values");
        on_gpus(job, |found| {
            let apart = apart(&found.expect("values"), &expected);
            assert!(apart < 1e-4, "{architecture:?}: {apart} pawns");
        });
    }
    // The product may be in TF32, whose numbers have 10 bits behind the point.
    let job = Values(&network, &records[..1000], Inputs::Dense, Precision::Full);
    on_gpus(job, |found| {
        let apart = apart(&found.expect("values"), &expected[..1000]);
        assert!(apart < 1e-2, "{apart} pawns");
    });
}

/// A loss's gradients, by parameter.
#[derive(Clone, Copy)]
struct Gradients<'a>(&'a [Record], Architecture, Inputs, Precision);

impl Job for Gradients<'_> {
    type Output = Vec<Vec<f32>>;

    fn run<B: Train>(self, devices: &[B::Device]) -> Result<Vec<Vec<f32>>, TrainerError> {
        let Gradients(records, architecture, inputs, precision) = self;
        let model = Model::<B>::new(&Network::random(architecture, 2), &devices[0]);
        let model = model.with_own_scale(0.25).with_inputs(inputs);
        let model = model.with_precision(precision);
        let samples = B::samples(architecture, records, Aim::LABEL, &devices[0]);
        let loss = model.loss(&samples, 1.0);
        Ok(model.gradients(&loss.backward()))
    }
}

#[test]
fn gradients_of_every_layer_are_those_of_the_processor() {
    let _turn = turn();
    let shipped = Architecture::hidden([256, 32, 32]);
    let odd = Architecture::hidden([45, 8, 3]);
    // Two segments and a bit of a third; one group that is not full; one sample.
    for (count, architecture, inputs) in [
        (2_100, shipped, Inputs::Sparse),
        (2_100, shipped, Inputs::Dense),
        (300, PAIRWISE, Inputs::Sparse),
        (300, SQUARED, Inputs::Sparse),
        (33, odd, Inputs::Sparse),
        (1, SMALL, Inputs::Sparse),
    ] {
        let records = real(count);
        let job = Gradients(&records, architecture, inputs, Precision::Full);
        let expected = job.run::<Cpu>(&[FlexDevice]).expect("gradients");
        on_gpus(job, |found| {
            let found = found.expect("gradients");
            let distances = found.iter().zip(&expected).map(|(found, expected)| {
                let scale = expected.iter().fold(1e-6f32, |most, x| most.max(x.abs()));
                // A sample alone may leave all neurons clipped.
                assert!(count < 1_000 || scale > 1e-6, "a parameter has no gradient");
                apart(found, expected) / scale
            });
            let distances: Vec<f32> = distances.collect();
            assert!(
                distances.iter().all(|&distance| distance < 1e-3),
                "{count} samples, {architecture}, {inputs:?}, by parameter: {distances:?}"
            );
        });
    }
}

/// Does a job in half precision on the first GPU of each interface that has it.
fn on_gpus_in_half<J: Job + Copy>(job: InHalf<J>, mut check: impl FnMut(J::Output)) {
    on_gpus(job, |found| match found {
        Err(why @ TrainerError::NoHalf { .. }) => test_support::skip(&why.to_string()),
        found => check(found.expect("a result")),
    });
}

/// A job for devices that compute in half precision.
#[derive(Clone, Copy)]
struct InHalf<J>(J);

impl<J: Job> Job for InHalf<J> {
    type Output = J::Output;

    fn run<B: Train>(self, devices: &[B::Device]) -> Result<J::Output, TrainerError> {
        match B::computes_in(Precision::Half, &devices[0]) {
            true => self.0.run::<B>(devices),
            false => Err(TrainerError::NoHalf {
                device: format!("{:?}", devices[0]),
            }),
        }
    }
}

#[test]
fn values_in_half_precision_are_near_those_of_the_processor() {
    let _turn = turn();
    let (network, records) = (shipped(), real(10_000));
    for (inputs, count) in [(Inputs::Sparse, 10_000), (Inputs::Dense, 1_000)] {
        let records = &records[..count];
        let expected = Values(&network, records, inputs, Precision::Full);
        let expected = expected.run::<Cpu>(&[FlexDevice]).expect("values");
        let job = Values(&network, records, inputs, Precision::Half);
        on_gpus_in_half(InHalf(job), |found| {
            let most = apart(&found, &expected);
            let sum: f32 = found
                .iter()
                .zip(&expected)
                .map(|(a, b)| (a - b).abs())
                .sum();
            let mean = sum / count as f32;
            assert!(
                mean < 0.002 && most < 0.02,
                "{inputs:?}: {mean} pawns, {most} at most"
            );
            assert!(mean > 1e-5, "{inputs:?}: this was not half precision");
        });
    }
}

#[test]
fn gradients_in_half_precision_are_near_those_of_the_processor() {
    let _turn = turn();
    let shipped = Architecture::hidden([256, 32, 32]);
    let odd = Architecture::hidden([45, 7, 3]);
    for (count, architecture, inputs) in [
        (2_100, shipped, Inputs::Sparse),
        (2_100, shipped, Inputs::Dense),
        (300, PAIRWISE, Inputs::Sparse),
        (300, SQUARED, Inputs::Sparse),
        (33, odd, Inputs::Sparse),
    ] {
        let records = real(count);
        let expected = Gradients(&records, architecture, inputs, Precision::Full);
        let expected = expected.run::<Cpu>(&[FlexDevice]).expect("gradients");
        let job = Gradients(&records, architecture, inputs, Precision::Half);
        on_gpus_in_half(InHalf(job), |found| {
            let length = |x: &[f32]| x.iter().map(|x| x * x).sum::<f32>().sqrt();
            let distances = found.iter().zip(&expected).map(|(found, expected)| {
                let apart: Vec<f32> = found.iter().zip(expected).map(|(a, b)| a - b).collect();
                length(&apart) / length(expected)
            });
            let distances: Vec<f32> = distances.collect();
            // Rounding alone is 0.0005; more comes of neurons and of the loss, which it
            // moves to the other side of a bound.
            assert!(
                distances.iter().all(|&distance| distance < 0.05),
                "{count} samples, {architecture}, {inputs:?}, by parameter: {distances:?}"
            );
        });
    }
}

/// The weights after some steps, shared by so many replicas on one device.
#[derive(Clone, Copy)]
struct Trained {
    replicas: usize,
    steps: usize,
}

impl Job for Trained {
    type Output = Vec<f32>;

    fn run<B: Train>(self, devices: &[B::Device]) -> Result<Vec<f32>, TrainerError> {
        let device = &devices[0];
        let start = Model::fresh(SMALL, 5, device);
        let start = Replicas::new(start, &vec![device.clone(); self.replicas]);
        let mut learner = Learner::<B>::new(start, Schedule::new(RATE, 100), 0.3, 1.0);
        for records in games(64 * self.steps).chunks_exact(64) {
            let parts = records.chunks(64usize.div_ceil(self.replicas));
            let parts = parts.map(|part| B::samples(SMALL, part, Aim::LABEL, device));
            learner.learn(parts.collect());
        }
        let network = learner.network();
        let layers = network.layers().iter();
        let numbers = layers.flat_map(|layer| layer.weight.iter().chain(&layer.bias));
        Ok(numbers.copied().collect())
    }
}

#[test]
fn steps_are_those_of_the_processor_whatever_the_number_of_replicas() {
    let _turn = turn();
    for steps in [1, 10] {
        let alone = Trained { replicas: 1, steps };
        let expected = alone.run::<Cpu>(&[FlexDevice]).expect("weights");
        for replicas in [1, 2] {
            // Adam divides by a gradient's length: where it is next to nothing, so is
            // what is certain of it.
            let bound = 0.02 * RATE as f32 * steps as f32;
            on_gpus(Trained { replicas, steps }, |found| {
                let apart = apart(&found.expect("weights"), &expected);
                assert!(apart < bound, "{replicas} replicas, {steps} steps: {apart}");
            });
        }
    }
}

#[test]
fn the_same_steps_give_the_same_weights_to_the_bit() {
    let _turn = turn();
    let job = Trained {
        replicas: 1,
        steps: 5,
    };
    let mut all = Vec::new();
    on_gpus(job, |found| all.push(found.expect("weights")));
    on_gpus(job, |found| {
        let found = found.expect("weights");
        assert!(all.contains(&found));
    });
}

/// Asks for 4 TiB.
#[derive(Clone, Copy)]
struct TooMuch;

impl Job for TooMuch {
    type Output = f32;

    fn run<B: Train>(self, devices: &[B::Device]) -> Result<f32, TrainerError> {
        let tensor = Tensor::<B, 2>::ones([1 << 20, 1 << 20], &devices[0]);
        Ok(tensor.sum().into_data().iter::<f32>().sum())
    }
}

/// In a process of its own: a device that ran out of memory is of no use any more, and
/// the program ends.
#[test]
fn too_little_memory_is_a_failure_in_words() {
    const ALONE: &str = "KIBITZ_TOO_MUCH";
    let name = "training::device::against_cpu::too_little_memory_is_a_failure_in_words";
    if env::var_os(ALONE).is_none() {
        let test = env::current_exe().expect("a test knows where it is");
        let mut alone = Command::new(test);
        alone.args(["--exact", name]).env(ALONE, "1");
        let ended = alone.output().expect("the test starts again");
        let said = String::from_utf8_lossy(&ended.stdout);
        assert!(
            ended.status.success() && said.contains("1 passed"),
            "{said}"
        );
        return;
    }
    on_gpus(TooMuch, |found| {
        let failure = found.expect_err("no device has 4 TiB");
        assert_eq!(failure.exit_code() as u8, 8);
        let said = failure.to_string();
        assert!(said.contains("choose a smaller --batch"), "{said}");
    });
}
