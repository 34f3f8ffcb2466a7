//! Piece-square tables fitted to the same labels by the same loss: a baseline that networks must
//! beat. Each input except threats has a value in pawns, and a position is worth their sum.

use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use datasets::{Dataset, Record, Split};
use features::PIECES;
use models::{Architecture, Feature, INPUTS, Layer, Metadata, Network};
use serde::Serialize;
use serde_json::json;

use crate::batch::reader::read_epoch;
use crate::error::TrainerError;
use crate::files;
use crate::net;
use crate::report::metrics::Validation;
use crate::training::plan;
use crate::training::progress::Progress;
use crate::training::schedule::Schedule;
use crate::training::validation::validate;
use network;
use network::target::{self, Aim, slope, win_chance};

/// Peak learning rate, in pawns.
const LEARNING_RATE: f64 = 0.02;
/// Adam's parameters (Kingma and Ba, 2015), with the authors' values.
const BETAS: [f64; 2] = [0.9, 0.999];
const EPSILON: f64 = 1e-8;

/// Neurons of each hidden layer of the net that computes the sum.
const NEURONS: usize = 32;
/// Pawns over which each neuron's activation rises from 0 to 1.
const SLICE: f32 = 2.0;

/// Settings of a fit.
#[derive(Debug)]
pub struct TablesPlan {
    /// Path of the net to write.
    pub out: PathBuf,
    /// Whether an existing net is replaced.
    pub force: bool,
    /// Passes over the training positions.
    pub epochs: u64,
    /// Positions a step.
    pub batch: usize,
    /// Seed of the order of positions.
    pub seed: u64,
}

/// Result of a fit.
#[derive(Debug, Serialize)]
pub struct TablesSummary {
    /// Path of the written net.
    pub net: PathBuf,
    /// Passes over the training positions.
    pub epochs: u64,
    /// Figures on the held-out games; `None` without any.
    pub validation: Option<Validation>,
    /// Duration of the whole run in seconds.
    pub seconds: f64,
}

/// Fits the tables, and writes them as a net that all programs read.
pub fn fit(dataset: &Dataset, plan: &TablesPlan) -> Result<TablesSummary, TrainerError> {
    let started = Instant::now();
    host::check_free(&plan.out, plan.force)?;
    files::check_writable(&plan.out)?;
    let tables = Tables::fit(dataset, plan)?;
    // With the file's rounding.
    let network = net::rounded(&tables.network()).expect("sums of steps that are finite");
    let validation = validate(&network, dataset, 1.0, Aim::LABEL)?;
    let mut metadata = Metadata::new(network.architecture(), plan::TOOL);
    metadata.target = target::metadata(1.0);
    metadata.training = json!({
        "model": "piece-square tables",
        "optimizer": { "name": "Adam", "betas": BETAS, "epsilon": EPSILON },
        "learning_rate": LEARNING_RATE,
        "schedule": schedule(dataset, plan).name(),
        "epochs": plan.epochs,
        "batch": plan.batch,
        "seed": plan.seed,
    });
    metadata.dataset = plan::dataset_metadata(dataset);
    metadata.validation = json!(validation);
    files::write(&plan.out, &network.to_bytes(&metadata))?;
    Ok(TablesSummary {
        net: plan.out.clone(),
        epochs: plan.epochs,
        validation,
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// Returns the learning-rate schedule of the run.
fn schedule(dataset: &Dataset, plan: &TablesPlan) -> Schedule {
    let steps = dataset.len(Split::Train).div_ceil(plan.batch as u64);
    Schedule::new(LEARNING_RATE, plan.epochs * steps)
}

/// Value of each input in pawns for the side to move, then that of having the move.
struct Tables([f64; INPUTS + 1]);

/// Index of the value of having the move.
const MOVE: usize = INPUTS;

impl Tables {
    /// Returns tables of piece values, equal on all squares: the starting point, so that a small
    /// dataset need not teach them.
    fn material() -> Tables {
        let mut tables = [0.0; INPUTS + 1];
        for (piece, squares) in tables.chunks_exact_mut(64).take(PIECES).enumerate() {
            squares.fill(f64::from(network::worth(piece)) / 100.0);
        }
        Tables(tables)
    }

    fn fit(dataset: &Dataset, plan: &TablesPlan) -> Result<Tables, TrainerError> {
        let samples = dataset.len(Split::Train);
        let schedule = schedule(dataset, plan);
        let mut adam = Adam::new(Tables::material());
        let mut progress = Progress::new(plan.epochs * samples, 0);
        for epoch in 1..=plan.epochs {
            let (mut loss, mut seen) = (0.0, 0);
            thread::scope(|scope| -> Result<(), TrainerError> {
                let order = (plan.seed, epoch);
                let mut asked = Instant::now();
                for batch in read_epoch(scope, dataset, None, order, plan.batch, 0) {
                    let records = batch?;
                    let received = Instant::now();
                    let rate = schedule.rate(adam.steps);
                    loss += adam.step(&records, rate);
                    seen += records.len();
                    progress.step(records.len(), received - asked, received.elapsed());
                    if progress.is_due() {
                        progress.show(epoch, loss / seen as f64, rate);
                    }
                    asked = Instant::now();
                }
                Ok(())
            })?;
            let mean = loss / seen as f64;
            progress.line(&format!("epoch {epoch}/{}: loss {mean:.4}", plan.epochs));
        }
        Ok(adam.tables)
    }

    /// Returns the value in pawns of a position with these inputs.
    fn value(&self, features: &[Feature]) -> f64 {
        let worth = |feature: &Feature| self.0[feature.index()];
        features.iter().map(worth).sum::<f64>() + self.0[MOVE]
    }

    /// Returns a net that computes the sum, for values up to 32 pawns: each first-layer neuron
    /// covers a slice of two pawns, over which its activation rises from 0 to 1. The next two
    /// layers are identities, and the output adds the slices up.
    fn network(&self) -> Network {
        let architecture = Architecture::hidden([NEURONS, NEURONS, NEURONS]);
        let reach = SLICE * NEURONS as f32 / 2.0;
        let row = self.0[..INPUTS].iter().map(|&worth| worth as f32 / SLICE);
        let row: Vec<f32> = row.collect();
        let lower_end = |neuron: usize| SLICE * neuron as f32 - reach;
        let bias = |neuron: usize| (self.0[MOVE] as f32 - lower_end(neuron)) / SLICE;
        let first = Layer {
            weight: row.repeat(NEURONS),
            bias: (0..NEURONS).map(bias).collect(),
        };
        let identity = Layer {
            weight: (0..NEURONS * NEURONS)
                .map(|at| f32::from(u8::from(at % NEURONS == at / NEURONS)))
                .collect(),
            bias: vec![0.0; NEURONS],
        };
        let output = Layer {
            weight: vec![SLICE; NEURONS],
            bias: vec![-reach],
        };
        Network::new(
            architecture,
            vec![first, identity.clone(), identity, output],
        )
    }
}

/// Adam optimizer and the tables it fits.
struct Adam {
    tables: Tables,
    steps: u64,
    means: [f64; INPUTS + 1],
    squares: [f64; INPUTS + 1],
}

impl Adam {
    fn new(tables: Tables) -> Adam {
        Adam {
            tables,
            steps: 0,
            means: [0.0; INPUTS + 1],
            squares: [0.0; INPUTS + 1],
        }
    }

    /// Takes a step on the mean loss of a batch. Returns the sum of its losses.
    fn step(&mut self, records: &[Record], rate: f64) -> f64 {
        let mut gradient = [0.0; INPUTS + 1];
        let mut loss = 0.0;
        let mut features = Vec::new();
        for record in records {
            features.clear();
            // Piece-square tables ignore threats.
            features.extend(features::without_attacks(record).features());
            let chance = f64::from(win_chance(self.tables.value(&features) as f32));
            let error = chance - f64::from(win_chance(features::target_pawns(record)));
            loss += error.abs();
            let pull = error.signum() * slope(chance) / records.len() as f64;
            for feature in &features {
                gradient[feature.index()] += pull;
            }
            gradient[MOVE] += pull;
        }
        self.steps += 1;
        let [beta1, beta2] = BETAS;
        let [mean_share, square_share] = BETAS.map(|beta| 1.0 - beta.powf(self.steps as f64));
        for (at, &slope) in gradient.iter().enumerate() {
            let (mean, square) = (&mut self.means[at], &mut self.squares[at]);
            *mean = beta1 * *mean + (1.0 - beta1) * slope;
            *square = beta2 * *square + (1.0 - beta2) * slope * slope;
            let length = (*square / square_share).sqrt() + EPSILON;
            self.tables.0[at] -= rate * (*mean / mean_share) / length;
        }
        loss
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::QuantisedNetwork;

    use crate::testing::{self, games};

    #[test]
    fn the_net_computes_the_sum_of_the_tables() {
        let mut tables = Tables([0.0; INPUTS + 1]);
        for (at, worth) in tables.0.iter_mut().enumerate() {
            // Pseudo-random, from -3 to 3 pawns.
            *worth = ((at * 7919) % 601) as f64 / 100.0 - 3.0;
        }
        let network = tables.network();
        let quantised = QuantisedNetwork::new(&network).unwrap();
        let mut reached = 0.0f64;
        for record in games(300) {
            let features: Vec<Feature> = features::active(&record).collect();
            let sum = tables.value(&features);
            assert!(sum.abs() < 32.0, "{sum}");
            assert!((f64::from(network.evaluate(&features)) - sum).abs() < 1e-4);
            // Each of some 40 terms is off by at most half a 127th of a slice.
            let pawns = f64::from(quantised.evaluate_features(&features)) / 100.0;
            assert!((pawns - sum).abs() < 0.3, "{pawns} {sum}");
            reached = reached.max(sum.abs());
        }
        assert!(reached > 10.0, "{reached}");
    }

    #[test]
    fn fitting_starts_from_material() {
        let tables = Tables::material();
        for game in games(50) {
            let features: Vec<Feature> = features::active(&game).collect();
            let material = f64::from(features::material(&game));
            assert!((tables.value(&features) - material).abs() < 1e-5);
        }
    }

    #[test]
    fn adam_learns_a_sum() {
        let records: Vec<Record> = games(1_000).iter().map(testing::by_material).collect();
        let mut adam = Adam::new(Tables([0.0; INPUTS + 1]));
        let first = adam.step(&records, LEARNING_RATE);
        let losses = (0..1_000).map(|_| adam.step(&records, LEARNING_RATE));
        let last = losses.last().unwrap();
        assert!(first > 0.1 * records.len() as f64, "{first}");
        assert!(last < 0.1 * first, "{first} {last}");
    }

    #[test]
    fn refuses_to_overwrite_a_net() {
        let folder = tempfile::tempdir().unwrap();
        let dataset = testing::dataset(folder.path(), 2_000);
        let plan = TablesPlan {
            out: folder.path().join("linear.safetensors"),
            force: false,
            epochs: 2,
            batch: 512,
            seed: 1,
        };
        assert_eq!(fit(&dataset, &plan).unwrap().validation, None);
        let net = net::read(&plan.out).unwrap();
        assert_eq!(net.metadata.training["model"], "piece-square tables");
        let again = fit(&dataset, &plan).unwrap_err();
        assert!(again.to_string().contains("exists already"), "{again}");
    }
}
