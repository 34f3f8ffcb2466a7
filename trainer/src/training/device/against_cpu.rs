//! GPU steps compared with CPU steps, on every compiled-in interface, in software without a GPU.
//! Crate `gpu` compares values and gradients.

use datasets::Record;
use models::{Activation, Architecture, Network, View};

use super::{Api, Device, DeviceChoice, Job};
use crate::error::TrainerError;
use crate::testing::{SMALL, by_material, games, turn};
use crate::training::executor::{CpuExecutor, Executor, Settings};
use crate::training::learner::{LearnedStep, Learner};
use crate::training::schedule::Schedule;
use network::Aim;
use network::CpuModel;

const STEPS: u64 = 30;
const BATCH: usize = 500;
const SETTINGS: Settings = Settings {
    batch: BATCH,
    weight_decay: 0.1,
    // Below every gradient's norm.
    clip_norm: 0.02,
    loss_exponent: 1.0,
};

/// Both views, pairwise products, buckets, and the output right after the first layer.
const ONE_LAYER: Architecture = Architecture {
    view: View::Both,
    mirrored: true,
    activation: Activation::PairwiseClippedRelu,
    second: None,
    third: None,
    buckets: 8,
    ..SMALL
};

/// Interfaces, and whether this build has them; Metal cannot be tested here.
const BUILT: [(Api, bool); 2] = [
    (Api::Cuda, cfg!(feature = "cuda")),
    (Api::Vulkan, cfg!(feature = "vulkan")),
];

/// Does a job on the first GPU of each interface, in software without a hardware GPU.
fn on_gpus<J: Job + Copy>(job: J, mut check: impl FnMut(Result<J::Output, TrainerError>)) {
    for (api, _) in BUILT.into_iter().filter(|(_, built)| *built) {
        match Device::find(DeviceChoice::Named(Device::Gpu(api, 0))) {
            Ok(device) => check(device.run(job)),
            Err(why) => test_support::skip(&why.to_string()),
        }
    }
}

/// Takes some steps, the last batch being smaller; halfway, a second learner resumes from the first
/// one's record.
#[derive(Clone, Copy)]
struct Steps(Architecture);

impl Job for Steps {
    type Output = (Network, Vec<LearnedStep>);

    fn run<E: Executor>(self, device: &E::Device) -> Result<Self::Output, TrainerError> {
        let new = |seed| {
            let start = CpuModel::fresh(self.0, seed).with_own_scale(0.25);
            Learner::<E>::new(device, start, Schedule::new(5e-3, STEPS), SETTINGS)
        };
        let records = games(3 * BATCH - 37);
        let records: Vec<Record> = records.iter().map(by_material).collect();
        let step = |learner: &mut Learner<E>, step: u64| {
            let batch = records.chunks(BATCH).nth(step as usize % 3).expect("three");
            let aim = Aim { result_share: 0.2 };
            let ready = E::prepare(self.0, batch.to_vec(), aim);
            let sent = learner.executor().send(ready);
            learner.learn(&sent, batch.len());
        };
        let mut first = new(1)?;
        (0..STEPS / 2).for_each(|number| step(&mut first, number));
        let mut measured = first.fetch();
        // Another seed, so that all numbers must come from the record.
        let second = new(2)?.restore(STEPS / 2, first.record());
        let mut second = second.expect("a record");
        (STEPS / 2..STEPS).for_each(|number| {
            step(&mut first, number);
            step(&mut second, number);
        });
        measured.extend(second.fetch());
        assert_eq!(first.network(), second.network(), "the resumed run differs");
        assert!(second.is_finite());
        Ok((second.network(), measured))
    }
}

#[test]
fn steps_match_the_cpu_and_resume_from_a_record() {
    let _turn = turn();
    for architecture in [SMALL, ONE_LAYER] {
        let (expected, steps) = Steps(architecture).run::<CpuExecutor>(&()).expect("steps");
        assert!(
            steps
                .iter()
                .all(|step| step.gradient_norm > SETTINGS.clip_norm)
        );
        on_gpus(Steps(architecture), |found| {
            let (network, found) = found.expect("steps");
            for (found, expected) in found.iter().zip(&steps) {
                let close = |x: f32, y: f32| (x - y).abs() < 2e-3 * y.abs();
                assert!(
                    close(found.loss, expected.loss),
                    "{found:?}, not {expected:?}"
                );
                assert_eq!(found.learning_rate, expected.learning_rate);
            }
            for (found, expected) in network.layers().iter().zip(expected.layers()) {
                let apart = found.weight.iter().zip(&expected.weight);
                let apart = apart.map(|(x, y)| (x - y).abs()).sum::<f32>();
                let mean = apart / found.weight.len() as f32;
                assert!(mean < 1e-3, "weights {mean} apart");
            }
        });
    }
}

/// Memorises one batch; returns the losses of the first and the last step.
#[derive(Clone, Copy)]
struct Memorise;

impl Job for Memorise {
    type Output = [f32; 2];

    fn run<E: Executor>(self, device: &E::Device) -> Result<[f32; 2], TrainerError> {
        let steps = 400;
        let settings = Settings {
            batch: 64,
            weight_decay: 0.3,
            clip_norm: 1.0,
            loss_exponent: 1.0,
        };
        let start = CpuModel::fresh(SMALL, 1);
        let mut learner = Learner::<E>::new(device, start, Schedule::new(2e-2, steps), settings)?;
        let ready = E::prepare(SMALL, games(64), Aim::LABEL);
        let batch = learner.executor().send(ready);
        (0..steps).for_each(|_| learner.learn(&batch, 64));
        let measured = learner.fetch();
        Ok([measured.first(), measured.last()].map(|step| step.expect("a step").loss))
    }
}

#[test]
fn memorises_a_batch() {
    let _turn = turn();
    on_gpus(Memorise, |losses| {
        let [first, last] = losses.expect("steps");
        assert!(first > 0.1 && last < 0.1 * first, "from {first} to {last}");
    });
}

/// Restores an invalid record, one cut short, and one of another network.
#[derive(Clone, Copy)]
struct Damaged;

impl Job for Damaged {
    type Output = ();

    fn run<E: Executor>(self, device: &E::Device) -> Result<(), TrainerError> {
        let new = |architecture| {
            let start = CpuModel::fresh(architecture, 1);
            Learner::<E>::new(device, start, Schedule::new(5e-3, STEPS), SETTINGS)
        };
        let record = new(SMALL)?.record();
        for damaged in [
            vec![0x80; 100],
            record[..record.len() - 4].to_vec(),
            new(ONE_LAYER)?.record(),
        ] {
            assert!(new(SMALL)?.restore(1, damaged).is_err());
        }
        Ok(())
    }
}

#[test]
fn refuses_damaged_records() {
    let _turn = turn();
    on_gpus(Damaged, |found| found.expect("refusals"));
}

/// Starts with a batch too large for any device's memory.
#[derive(Clone, Copy)]
struct TooMuch;

impl Job for TooMuch {
    type Output = ();

    fn run<E: Executor>(self, device: &E::Device) -> Result<(), TrainerError> {
        let start = CpuModel::fresh(SMALL, 1);
        let settings = Settings {
            batch: 1 << 32,
            ..SETTINGS
        };
        E::start(device, start, settings).map(|_| ())
    }
}

#[test]
fn refuses_to_start_with_too_little_memory() {
    on_gpus(TooMuch, |found| {
        let error = found.unwrap_err();
        assert!(
            matches!(error, TrainerError::TooLittleMemory { .. }),
            "{error}"
        );
        assert!(error.to_string().contains("--batch"), "{error}");
        assert_eq!(error.exit_code() as u8, 8);
    });
}
