//! How long a step takes, launch by launch and as a whole.
//!
//!     cargo run --release -p gpu --features cuda --example steps -- 2x512 65536

use std::time::{Duration, Instant};

use cubecl::Runtime;
use gpu::{Batch, Config, Parameters, Trainer};
use models::{Activation, Architecture, View};
use records::position::{Label, Origin, Record};
use shakmaty::{Chess, Position};

#[cfg(feature = "cuda")]
type Device = cubecl::cuda::CudaRuntime;
#[cfg(not(feature = "cuda"))]
type Device = cubecl::wgpu::WgpuRuntime;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments[at].parse::<usize>().expect("a number");
    let one = Architecture {
        view: View::Both,
        mirrored: true,
        activation: Activation::PairwiseClippedRelu,
        buckets: 8,
        second: None,
        third: None,
        ..Architecture::hidden([512, 1, 1])
    };
    let architecture = match &arguments[0][..] {
        "2x512" => one,
        "2x256" => Architecture { first: 256, ..one },
        "2x1024" => Architecture { first: 1024, ..one },
        "2x256-32-32" => Architecture {
            first: 256,
            second: Some(32),
            third: Some(32),
            ..one
        },
        "451-32-32" => Architecture::ARTICLE,
        other => panic!("{other}"),
    };
    let batch = number(1);
    let records = positions(1 << 20);
    let began = Instant::now();
    let config = Config {
        architecture,
        batch,
        own_scale: 1.0,
        bounds: vec![1.6, 0.99, 1.98, 1.98],
        half_k: 0.184104,
        exponent: 1.0,
        weight_decay: 0.1,
        clip_norm: 2.0,
        betas: [0.9, 0.999],
        epsilon: 1e-5,
    };
    let mut parameters = Parameters::zeros(architecture);
    let mut random = fastrand::Rng::with_seed(1);
    for weight in parameters.own.iter_mut().chain(&mut parameters.later[0].0) {
        *weight = 0.1 * (random.f32() - 0.5);
    }
    parameters.bias.fill(0.3);
    let client = Device::client(&Default::default());
    let mut trainer = Trainer::<Device>::new(client, config, &parameters);
    let batches = records.chunks_exact(batch).map(|records| trainer.send(records));
    let batches: Vec<Batch> = batches.collect();
    let batch_of = |step: usize| &batches[step % batches.len()];
    trainer.learn(batch_of(0), 1e-4, 0.0);
    let first = trainer.fetch();
    println!("first step after {:.2} s: {first:?}", began.elapsed().as_secs_f64());
    let mut times: Vec<(&str, Duration)> = Vec::new();
    for round in 0..5 {
        let found = trainer.timed(batch_of(round), 1e-4);
        if times.is_empty() {
            times = found;
        } else {
            for (best, found) in times.iter_mut().zip(found) {
                best.1 = best.1.min(found.1);
            }
        }
    }
    for (name, time) in &times {
        println!("  {name:16} {:8.3} ms", 1e3 * time.as_secs_f64());
    }
    trainer.fetch();
    let (began, mut count) = (Instant::now(), 0);
    while began.elapsed() < Duration::from_secs(2) {
        for _ in 0..32 {
            trainer.learn(batch_of(count), 1e-4, 0.0);
            count += 1;
        }
        trainer.fetch();
    }
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{architecture} batch {batch}: {:.3} ms a step, {:.2} M positions/s",
        1e3 * seconds / count as f64,
        (count * batch) as f64 / seconds / 1e6,
    );
}

/// Positions of random games.
fn positions(count: usize) -> Vec<Record> {
    let mut random = fastrand::Rng::with_seed(7);
    let mut records = Vec::with_capacity(count);
    while records.len() < count {
        let mut position = Chess::new();
        for _ in 0..random.usize(10..160) {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            position = position.play(moves[random.usize(..moves.len())]).expect("legal");
            let label = Label::from_centipawns(random.i64(-600..600));
            records.push(Record::new(&position, label, Origin::default()));
        }
    }
    records.truncate(count);
    records
}
