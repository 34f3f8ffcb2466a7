//! A whole training run to read from top to bottom: a dataset in, a net for the engine out.
//!
//! ```text
//! ingest build games.pgn.zst --out games.dataset
//! cargo run --release -p trainer --no-default-features --example simple -- games.dataset simple.safetensors
//! trainer eval --model simple.safetensors --data games.dataset
//! ```
//!
//! `trainer fit` takes the same steps, and adds what long runs need: checkpoints, GPUs, pictures,
//! and the choice of the best epoch.

use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use datasets::{Dataset, Split};
use models::{Activation, Architecture, Features, Metadata, Network, View};
use network::{Aim, CLIP_NORM, CpuModel, Evaluator, Samples, Settings, Trainer, target};

/// The usual first net of an engine, `(768 -> 128) x 2 -> 1`: 768 inputs, one for each piece on
/// each square, feed 128 neurons, once as the side to move sees the board and once as the other
/// side does. The output weighs all 256.
const ARCHITECTURE: Architecture = Architecture {
    features: Features::Pieces,
    view: View::Both,
    mirrored: false,
    first: 128,
    activation: Activation::SquaredClippedRelu,
    second: None,
    third: None,
    buckets: 1,
};
/// Passes over the training positions.
const EPOCHS: u64 = 5;
/// Positions a step. The gradient is their mean.
const BATCH: usize = 512;
/// Largest step size of the optimizer.
const LEARNING_RATE: f64 = 0.003;
/// Seed of the starting weights and of the order of positions: the same seed gives the same net.
const SEED: u64 = 1;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [data, net] = &arguments[..] else {
        return Err("usage: simple DATASET NET.safetensors".into());
    };
    let dataset = Dataset::open(Path::new(data))?;
    // An existing net stays, and a wrong path fails before the work.
    let mut file = File::create_new(net)?;

    // AdamW: each weight moves by its mean gradient over the root of its mean squared gradient.
    // Weight decay keeps the net from memorising single positions.
    let settings = Settings {
        batch: BATCH,
        weight_decay: 0.1,
        clip_norm: CLIP_NORM,
        loss_exponent: 1.0,
    };
    let mut trainer = Trainer::new(CpuModel::fresh(ARCHITECTURE, SEED), settings);
    let (mut seen, total) = (0, EPOCHS * dataset.len(Split::Train));
    for epoch in 1..=EPOCHS {
        let (mut loss, mut steps) = (0.0, 0);
        // Epochs differ in their order of records. Groups of records fit memory.
        for group in dataset.shuffled(Split::Train, SEED, epoch)? {
            for records in group?.chunks(BATCH) {
                // The rate rises over the first twentieth of the run, since AdamW's first means
                // are rough, then falls to zero, so that the weights settle.
                let done = seen as f64 / total as f64;
                let rate = LEARNING_RATE * (20.0 * done).min(1.0 - done);
                // The inputs of each position, and its label as a win chance.
                let samples = Samples::new(ARCHITECTURE, records, Aim::LABEL);
                trainer.learn(&Arc::new(samples), rate);
                seen += records.len() as u64;
            }
            for step in trainer.fetch() {
                loss += f64::from(step.loss);
                steps += 1;
            }
        }
        let held_out = held_out_loss(&trainer.network(), &dataset)?;
        println!(
            "epoch {epoch}: training loss {:.4}, held-out loss {held_out:.4}",
            loss / f64::from(steps)
        );
    }

    // The metadata names the architecture, by which all programs read the weights.
    let metadata = Metadata::new(ARCHITECTURE, "trainer/examples/simple.rs");
    file.write_all(&trainer.network().to_bytes(&metadata))?;
    Ok(())
}

/// Returns the mean distance in win chance to the labels of held-out games: `ingest build` keeps
/// 5 % of the games out of training, and only these tell learning from memorising. NaN without any.
fn held_out_loss(network: &Network, dataset: &Dataset) -> Result<f64, Box<dyn Error>> {
    let evaluator = Evaluator::new(network);
    let mut loss = 0.0;
    for block in dataset.blocks(Split::Validation)? {
        let records = block?;
        for (record, pawns) in records.iter().zip(evaluator.values(&records)) {
            // Between -1 (lost) and 1 (won): a pawn more matters less in a won game.
            let (chance, label) = (target::win_chance(pawns), Aim::LABEL.target(record));
            loss += f64::from((chance - label).abs());
        }
    }
    Ok(loss / dataset.len(Split::Validation) as f64)
}
