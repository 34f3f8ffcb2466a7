//! GPU inputs, values, gradients and steps, compared with plain loops in f64.

use std::{any, panic};

use cubecl::prelude::*;
use features::{SHARED, shared_rows};
use gpu::{Config, Parameters, Trainer};
use models::{Activation, Architecture, Feature, Features, INPUTS, View};
use records::position::{GameResult, Label, Origin, Record};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Position};

const BOUNDS: [f32; 4] = [1.6, 0.99, 1.98, 1.98];
const HALF_K: f32 = 0.184104;
const SHARE: f32 = 0.3;
const RATE: f64 = 1e-3;

/// Defines each test for the first device of every compiled-in backend; skips where there is none.
macro_rules! on_devices {
    ($($test:ident),* $(,)?) => {
        #[cfg(feature = "cuda")]
        mod cuda {
            $(#[test]
            fn $test() {
                super::with_device::<cubecl::cuda::CudaRuntime>(super::$test);
            })*
        }

        #[cfg(feature = "wgpu")]
        mod wgpu {
            $(#[test]
            fn $test() {
                super::with_device::<cubecl::wgpu::WgpuRuntime>(super::$test);
            })*
        }
    };
}

on_devices!(
    inputs_match_the_cpu,
    values_and_gradients_match_the_cpu,
    steps_are_deterministic,
);

/// Launches every CUDA kernel without looking at results: tests/cuda.sh has a driver without a GPU
/// compile them.
#[cfg(feature = "cuda")]
#[test]
fn cuda_kernels_launch() {
    with_device::<cubecl::cuda::CudaRuntime>(launch_kernels);
}

/// Calls `test` with a client, or skips it without a device.
fn with_device<R: Runtime>(test: fn(&ComputeClient<R>)) {
    match panic::catch_unwind(|| R::client(&Default::default())) {
        Ok(client) => test(&client),
        Err(_) => test_support::skip(&format!("no device for {}", any::type_name::<R>())),
    }
}

/// Returns positions of random games, about half of them Chess960.
fn positions(count: usize) -> Vec<Record> {
    let mut random = fastrand::Rng::with_seed(7);
    let mut records = Vec::with_capacity(count);
    while records.len() < count {
        let mut position = start(&mut random);
        for _ in 0..random.usize(10..200) {
            let moves = position.legal_moves();
            if moves.is_empty() || position.is_insufficient_material() {
                break;
            }
            // En-passant captures and castling would be rare.
            let special = moves.iter().find(|m| m.is_en_passant() || m.is_castle());
            let chosen = match special {
                Some(special) if random.bool() => *special,
                _ => moves[random.usize(..moves.len())],
            };
            position = position.play(chosen).expect("a legal move");
            let label = Label::from_centipawns(random.i64(-1500..1500));
            let results = [
                None,
                Some(GameResult::WhiteWins),
                Some(GameResult::Draw),
                Some(GameResult::BlackWins),
            ];
            let origin = Origin {
                result: results[random.usize(..4)],
                ..Origin::default()
            };
            if !position.legal_moves().is_empty() {
                records.push(Record::new(&position, label, origin));
            }
        }
    }
    random.shuffle(&mut records);
    records.truncate(count);
    records
}

/// Returns a standard or, as often, a random Chess960 starting position.
fn start(random: &mut fastrand::Rng) -> Chess {
    if random.bool() {
        return Chess::new();
    }
    let mut rank = [' '; 8];
    rank[2 * random.usize(..4)] = 'b';
    rank[2 * random.usize(..4) + 1] = 'b';
    for piece in ['q', 'n', 'n'] {
        let free: Vec<usize> = (0..8).filter(|&file| rank[file] == ' ').collect();
        rank[free[random.usize(..free.len())]] = piece;
    }
    for piece in ['r', 'k', 'r'] {
        let free = (0..8)
            .find(|&file| rank[file] == ' ')
            .expect("three are left");
        rank[free] = piece;
    }
    let rank: String = rank.iter().collect();
    let white = rank.to_uppercase();
    let fen = format!("{rank}/pppppppp/8/8/8/8/PPPPPPPP/{white} w KQkq - 0 1");
    let fen: Fen = fen.parse().expect("a FEN");
    fen.into_position(CastlingMode::Chess960).expect("legal")
}

fn architectures() -> Vec<Architecture> {
    let one = Architecture {
        view: View::Both,
        activation: Activation::PairwiseClippedRelu,
        buckets: 8,
        second: None,
        third: None,
        mirrored: true,
        ..Architecture::hidden([64, 1, 1])
    };
    vec![
        one,
        Architecture {
            first: 51,
            view: View::Mover,
            activation: Activation::SquaredClippedRelu,
            mirrored: false,
            buckets: 1,
            ..one
        },
        Architecture {
            first: 40,
            activation: Activation::ClippedRelu,
            buckets: 3,
            ..one
        },
        Architecture::hidden([45, 7, 32]),
        Architecture {
            third: None,
            second: Some(16),
            first: 34,
            buckets: 4,
            ..one
        },
        Architecture {
            third: Some(32),
            second: Some(15),
            activation: Activation::SquaredClippedRelu,
            ..one
        },
        Architecture {
            features: Features::Pieces,
            mirrored: false,
            activation: Activation::SquaredClippedRelu,
            ..one
        },
    ]
}

fn config(architecture: Architecture, batch: usize) -> Config {
    let mut bounds = BOUNDS.to_vec();
    if architecture.second.is_none() {
        bounds[1] = 1.98;
    }
    Config {
        architecture,
        batch,
        own_scale: 0.25,
        bounds,
        exponent: 1.0,
        weight_decay: 0.1,
        clip_norm: 2.0,
        betas: [0.9, 0.999],
        epsilon: 1e-5,
    }
}

/// Returns random parameters; some first-layer weights exceed the bound.
fn random(architecture: Architecture, seed: u64) -> Parameters {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut parameters = Parameters::zeros(architecture);
    let mut fill = |numbers: &mut [f32], size: f32| {
        for number in numbers {
            *number = (random.f32() - 0.5) * 2.0 * size;
        }
    };
    fill(&mut parameters.own, 0.5);
    fill(&mut parameters.shared, 0.05);
    fill(&mut parameters.bias, 0.5);
    for (weight, bias) in &mut parameters.later {
        fill(weight, 0.3);
        fill(bias, 0.3);
    }
    parameters.own[100..120].fill(20.0);
    parameters
}

/// Reference network in f64.
struct Plain<'a> {
    config: &'a Config,
    parameters: &'a Parameters,
}

/// Active inputs by view, target and bucket of a position.
type Sample = (Vec<Vec<usize>>, f64, usize);

fn sample(config: &Config, record: &Record) -> Sample {
    let features: Vec<Feature> = features::active(record).collect();
    let views = config.architecture.inputs(&features).into_iter();
    let read = |input: &Feature| config.architecture.features.contains(*input);
    let views = views.map(|view| view.into_iter().filter(read).map(Feature::index).collect());
    let chance = (f64::from(features::target_pawns(record)) * f64::from(HALF_K)).tanh();
    let share = f64::from(SHARE);
    let target = match features::result(record) {
        Some(result) => (1.0 - share) * chance + share * f64::from(result),
        None => chance,
    };
    (
        views.collect(),
        target,
        features::bucket(config.architecture, record),
    )
}

impl Plain<'_> {
    fn first(&self) -> Vec<f64> {
        let width = self.config.architecture.first;
        let mut weights = Vec::new();
        for input in 0..INPUTS {
            for column in 0..width {
                weights.push(self.unbounded(input, column).clamp(-1.6, 1.6));
            }
        }
        weights
    }

    fn unbounded(&self, input: usize, column: usize) -> f64 {
        let width = self.config.architecture.first;
        let own = self.parameters.own[input * width + column] * self.config.own_scale;
        let shared = shared_rows(input).map(|row| self.parameters.shared[row * width + column]);
        f64::from(own) + shared.map(f64::from).sum::<f64>()
    }

    /// Returns the values, the mean loss, and its gradient.
    fn pass(&self, samples: &[Sample]) -> (Vec<f64>, f64, Parameters) {
        let architecture = self.config.architecture;
        let (width, buckets) = (architecture.first, architecture.buckets);
        let (first, sizes) = (self.first(), architecture.layers());
        let k = f64::from(HALF_K);
        let exponent = f64::from(self.config.exponent);
        let mut gradient: Vec<f64> = vec![0.0; INPUTS * width];
        let mut bias_gradient = vec![0.0; width];
        let mut later: Vec<(Vec<f64>, Vec<f64>)> = sizes[1..]
            .iter()
            .map(|&(outputs, inputs)| (vec![0.0; outputs * inputs], vec![0.0; outputs]))
            .collect();
        let (mut values, mut total) = (Vec::new(), 0.0);
        let clip = |x: f64| x.clamp(0.0, 1.0);
        let inside = |x: f64| if x > 0.0 && x < 1.0 { 1.0 } else { 0.0 };
        let half = architecture.activations();
        for (views, target, bucket) in samples {
            let sums: Vec<Vec<f64>> = views
                .iter()
                .map(|inputs| {
                    let bias = self.parameters.bias.iter().map(|&b| f64::from(b));
                    let mut sums: Vec<f64> = bias.collect();
                    for &input in inputs {
                        for (sum, weight) in sums.iter_mut().zip(&first[input * width..]) {
                            *sum += weight;
                        }
                    }
                    sums
                })
                .collect();
            let active = |sums: &Vec<f64>| -> Vec<f64> {
                (0..half)
                    .map(|column| match architecture.activation {
                        Activation::ClippedRelu => clip(sums[column]),
                        Activation::SquaredClippedRelu => clip(sums[column]).powi(2),
                        Activation::PairwiseClippedRelu => {
                            clip(sums[column]) * clip(sums[half + column])
                        }
                    })
                    .collect()
            };
            let mut layers: Vec<Vec<f64>> = vec![sums.iter().flat_map(active).collect()];
            let mut raw: Vec<Vec<f64>> = Vec::new();
            for (index, &(all, _)) in sizes[1..].iter().enumerate() {
                let outputs = all / buckets;
                let (weight, bias) = &self.parameters.later[index];
                let begin = bucket * outputs;
                let out: Vec<f64> = (0..outputs)
                    .map(|output| {
                        let inputs = layers[index].iter().enumerate();
                        let products = inputs
                            .map(|(input, x)| x * f64::from(weight[input * all + begin + output]));
                        products.sum::<f64>() + f64::from(bias[begin + output])
                    })
                    .collect();
                layers.push(out.iter().map(|&x| clip(x)).collect());
                raw.push(out);
            }
            let value = raw.last().expect("an output")[0];
            values.push(value);
            let distance = (value * k).tanh() - target;
            total += distance.abs().powf(exponent);
            let mut back = vec![
                exponent
                    * distance.abs().powf(exponent - 1.0)
                    * distance.signum()
                    * k
                    * (1.0 - (value * k).tanh().powi(2))
                    / samples.len() as f64,
            ];
            for (index, &(all, inputs)) in sizes[1..].iter().enumerate().rev() {
                let begin = bucket * (all / buckets);
                let (weight, _) = &self.parameters.later[index];
                let mut before = vec![0.0; inputs];
                for (output, &back) in back.iter().enumerate() {
                    later[index].1[begin + output] += back;
                    for input in 0..inputs {
                        let at = input * all + begin + output;
                        later[index].0[at] += back * layers[index][input];
                        before[input] += back * f64::from(weight[at]);
                    }
                }
                if index > 0 {
                    for (before, &x) in before.iter_mut().zip(&raw[index - 1]) {
                        *before *= inside(x);
                    }
                }
                back = before;
            }
            for ((inputs, sums), back) in views.iter().zip(&sums).zip(back.chunks(half)) {
                let mut of_sums = vec![0.0; width];
                for (column, &back) in back.iter().enumerate() {
                    let x = sums[column];
                    match architecture.activation {
                        Activation::ClippedRelu => of_sums[column] = back * inside(x),
                        Activation::SquaredClippedRelu => {
                            of_sums[column] = back * inside(x) * 2.0 * x;
                        }
                        Activation::PairwiseClippedRelu => {
                            let y = sums[half + column];
                            of_sums[column] = back * inside(x) * clip(y);
                            of_sums[half + column] = back * inside(y) * clip(x);
                        }
                    }
                }
                for (column, back) in of_sums.iter().enumerate() {
                    bias_gradient[column] += back;
                    for &input in inputs {
                        gradient[input * width + column] += back;
                    }
                }
            }
        }
        let mut shared = vec![0.0; SHARED * width];
        for input in 0..INPUTS {
            for column in 0..width {
                let at = input * width + column;
                if self.unbounded(input, column).abs() > 1.6 {
                    gradient[at] = 0.0;
                }
                for row in shared_rows(input) {
                    shared[row * width + column] += gradient[at];
                }
                gradient[at] *= f64::from(self.config.own_scale);
            }
        }
        let single = |numbers: Vec<f64>| numbers.into_iter().map(|x| x as f32).collect();
        let found = Parameters {
            own: single(gradient),
            shared: single(shared),
            bias: single(bias_gradient),
            later: later
                .into_iter()
                .map(|(w, b)| (single(w), single(b)))
                .collect(),
        };
        (values, total / samples.len() as f64, found)
    }
}

/// Returns the named parts of parameters.
fn parts(parameters: &Parameters) -> Vec<(String, &[f32])> {
    let mut parts = vec![
        ("own".to_string(), &parameters.own[..]),
        ("shared".to_string(), &parameters.shared[..]),
        ("bias".to_string(), &parameters.bias[..]),
    ];
    for (index, (weight, bias)) in parameters.later.iter().enumerate() {
        parts.push((format!("weights of layer {}", index + 1), weight));
        parts.push((format!("bias of layer {}", index + 1), bias));
    }
    parts
}

/// Asserts that numbers differ by at most `bound`, relative to the largest.
fn assert_close(found: &[f32], expected: &[f32], bound: f32, what: &str) {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(1e-12f32, |max, x| max.max(x.abs()));
    for (at, (x, y)) in found.iter().zip(expected).enumerate() {
        assert!((x - y).abs() <= bound * scale, "{what} {at}: {x}, not {y}");
    }
}

fn trainer<R: Runtime>(
    client: &ComputeClient<R>,
    config: &Config,
    parameters: &Parameters,
) -> Trainer<R> {
    Trainer::new(client.clone(), config.clone(), parameters)
}

fn inputs_match_the_cpu<R: Runtime>(client: &ComputeClient<R>) {
    let records = positions(100_000);
    let kinds = |test: fn(&Record) -> bool| records.iter().filter(|r| test(r)).count();
    assert!(kinds(|r| r.en_passant().is_some()) > 50);
    assert!(kinds(|r| r.in_check()) > 1000);
    let mut tested = Vec::new();
    for architecture in architectures() {
        // All that inputs and buckets depend on.
        let Architecture {
            features,
            view,
            mirrored,
            buckets,
            ..
        } = architecture;
        let inputs = (features, view, mirrored, buckets);
        if tested.contains(&inputs) {
            continue;
        }
        // All positions once, and a fifth of them with other inputs.
        let records = if tested.is_empty() {
            &records[..]
        } else {
            &records[..20_000]
        };
        tested.push(inputs);
        let config = config(architecture, 10_000);
        let mut trainer = trainer(client, &config, &Parameters::zeros(architecture));
        for records in records.chunks(10_000) {
            let found = trainer.derived(&trainer.send(records), SHARE);
            for (at, record) in records.iter().enumerate() {
                let (views, target, bucket) = sample(&config, record);
                for (found, expected) in found.inputs.iter().zip(&views) {
                    let found = found[at].iter().map(|&input| input as usize);
                    assert!(found.eq(expected.iter().copied()), "{}", record.epd());
                }
                let distance = f64::from(found.targets[at]) - target;
                assert!(distance.abs() < 1e-6, "{}", record.epd());
                assert_eq!(found.buckets[at] as usize, bucket);
            }
        }
    }
}

fn values_and_gradients_match_the_cpu<R: Runtime>(client: &ComputeClient<R>) {
    let records = positions(1500);
    for (seed, architecture) in architectures().into_iter().enumerate() {
        for (exponent, count) in [(1.0, 1500), (2.5, 700), (1.0, 1)] {
            let config = Config {
                exponent,
                ..config(architecture, 1500)
            };
            let parameters = random(architecture, seed as u64);
            let plain = Plain {
                config: &config,
                parameters: &parameters,
            };
            let samples: Vec<Sample> = records[..count]
                .iter()
                .map(|r| sample(&config, r))
                .collect();
            let (values, loss, gradient) = plain.pass(&samples);
            let mut trainer = trainer(client, &config, &parameters);
            let batch = trainer.send(&records[..count]);
            let values: Vec<f32> = values.into_iter().map(|x| x as f32).collect();
            assert_close(&trainer.values(&batch), &values, 1e-5, "value");
            let found = trainer.gradient(&batch, SHARE);
            for ((name, found), (_, expected)) in parts(&found).iter().zip(parts(&gradient)) {
                let what = format!("{architecture}, {count} positions, {name}");
                assert_close(found, expected, 1e-3, &what);
            }
            trainer.learn(&batch, RATE, SHARE);
            let measured = trainer.fetch();
            assert!((f64::from(measured[0].loss) - loss).abs() < 1e-5);
            let squares =
                |numbers: &[f32]| numbers.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>();
            let norm: f64 = parts(&gradient).iter().map(|(_, part)| squares(part)).sum();
            assert!((f64::from(measured[0].gradient_norm) / norm.sqrt() - 1.0).abs() < 1e-3);
        }
    }
}

/// Takes a step with each architecture, those of the article and of the shipped net included.
#[cfg(feature = "cuda")]
fn launch_kernels<R: Runtime>(client: &ComputeClient<R>) {
    let records = positions(100);
    let named = [Architecture::ARTICLE, Architecture::SHIPPED];
    for architecture in architectures().into_iter().chain(named) {
        for exponent in [1.0, 2.5] {
            let config = Config {
                exponent,
                ..config(architecture, 100)
            };
            let mut trainer = trainer(client, &config, &Parameters::zeros(architecture));
            trainer.learn(&trainer.send(&records), RATE, SHARE);
            trainer.wait();
        }
    }
}

/// Two runs with active gradient clipping give the same bits.
fn steps_are_deterministic<R: Runtime>(client: &ComputeClient<R>) {
    let records = positions(3000);
    for architecture in architectures() {
        let config = Config {
            clip_norm: 1e-3,
            ..config(architecture, 1000)
        };
        let parameters = random(architecture, 3);
        let learn = |trainer: &mut Trainer<R>, step: usize| {
            let len = if step == 5 { 333 } else { 1000 };
            let records = &records[step % 3 * 1000..][..len];
            trainer.learn(&trainer.send(records), RATE, SHARE);
        };
        let run = || {
            let mut trainer = trainer(client, &config, &parameters);
            (0..6).for_each(|step| learn(&mut trainer, step));
            (trainer.state(), trainer.fetch())
        };
        let (first, measured) = run();
        assert!(measured.iter().all(|step| step.gradient_norm > 1e-3));
        assert!((first.clone(), measured) == run());
        // Resuming halfway gives the same bits too.
        let mut halfway = trainer(client, &config, &parameters);
        (0..3).for_each(|step| learn(&mut halfway, step));
        let mut resumed = trainer(client, &config, &Parameters::zeros(architecture));
        resumed.restore(3, &halfway.state());
        (3..6).for_each(|step| learn(&mut resumed, step));
        assert!(resumed.state() == first);
    }
}
