//! `trainer fit`: a dataset in, the best net out.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use burn::tensor::backend::Backend;
use burn::tensor::{ElementConversion, Tensor};
use datasets::{Dataset, Split};
use models::{Metadata, Network, Shape};
use serde::Serialize;
use serde_json::json;

use crate::batch::Batch;
use crate::curves::{self, Point};
use crate::device::Device;
use crate::failure::Failure;
use crate::learner::{Learner, WEIGHT_DECAY};
use crate::model::{Evaluate, Model, Train};
use crate::output::write_whole;
use crate::progress::Progress;
use crate::reader::read_epoch;
use crate::schedule::Schedule;
use crate::validation::{Validation, validate};
use crate::{golden, net, target};

/// Steps between two looks at the loss: each waits for the device.
pub const LOOK_EVERY: u64 = 32;

/// What to train and how.
#[derive(Debug)]
pub struct Plan {
    /// Where the net goes.
    pub out: PathBuf,
    /// The sizes of the hidden layers.
    pub shape: Shape,
    /// The net to start from and its file, instead of fresh weights.
    pub init: Option<(PathBuf, Network)>,
    /// The device, for the metadata.
    pub device: Device,
    /// Passes over the training positions.
    pub epochs: u64,
    /// Positions a step.
    pub batch: usize,
    /// Peak learning rate.
    pub learning_rate: f64,
    /// Decides the order of positions, and random starting weights.
    pub seed: u64,
}

/// How a run ended.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// The net that was written.
    pub net: PathBuf,
    /// Where it was trained.
    pub device: String,
    /// Epochs that were run.
    pub epochs: u64,
    /// The epoch whose net was written.
    pub best_epoch: u64,
    /// That net's figures on the held-out games; none if there are none.
    pub validation: Option<Validation>,
    /// Time of the whole run.
    pub seconds: f64,
    /// Training positions a second, over the epochs' training alone.
    pub samples_per_second: f64,
}

/// Trains a network and keeps the epoch with the smallest winchance on the
/// held-out games; the last, where no game is held out.
///
/// Beside the net `NAME.safetensors` appear `NAME.metrics.jsonl` (one object
/// an epoch), `NAME.svg` (the curves) and `NAME.golden.json`.
///
/// # Errors
/// [`Failure`]; a net that was written before stays.
pub fn fit<B: Train>(
    dataset: &Dataset,
    plan: &Plan,
    device: &B::Device,
) -> Result<Summary, Failure> {
    let began = Instant::now();
    let samples = dataset.len(Split::Train);
    let steps = plan.epochs * samples.div_ceil(plan.batch as u64);
    let schedule = Schedule::new(plan.learning_rate, steps);
    let start = match &plan.init {
        Some((_, network)) => Model::new(network, device),
        None => Model::fresh(plan.shape, plan.seed, device),
    };
    let mut learner = Learner::<B>::new(start, schedule);
    let mut keeper = Keeper::new(dataset, plan)?;
    let progress = Progress::new(plan.epochs * samples);
    let mut training_seconds = 0.0;
    for epoch in 1..=plan.epochs {
        let rate = learner.rate();
        let epoch_began = Instant::now();
        let train_loss = train_epoch(&mut learner, dataset, plan, epoch, device, &progress)?;
        let seconds = epoch_began.elapsed().as_secs_f64();
        training_seconds += seconds;
        let step = samples.div_ceil(plan.batch as u64);
        let diverged = || Failure::Diverged {
            epoch,
            step,
            loss: f32::NAN,
        };
        let network = net::rounded(&learner.network()).ok_or_else(diverged)?;
        let model = Model::<B::InnerBackend>::new(&network, device);
        let validation = validate(&model, dataset, plan.batch, device)?;
        let samples_per_second = samples as f64 / seconds;
        let entry = Epoch {
            epoch,
            learning_rate: rate,
            train_loss,
            validation,
            samples_per_second,
        };
        let kept = keeper.take(entry, &network, &model, device)?;
        progress.line(&entry.line(plan.epochs, kept));
    }
    progress.finish();
    let best = keeper.best.expect("at least one epoch was run and kept");
    Ok(Summary {
        net: plan.out.clone(),
        device: plan.device.to_string(),
        epochs: plan.epochs,
        best_epoch: best.epoch,
        validation: best.validation,
        seconds: began.elapsed().as_secs_f64(),
        samples_per_second: (plan.epochs * samples) as f64 / training_seconds,
    })
}

/// One pass over the training positions. Returns the mean loss.
fn train_epoch<B: Train>(
    learner: &mut Learner<B>,
    dataset: &Dataset,
    plan: &Plan,
    epoch: u64,
    device: &B::Device,
    progress: &Progress,
) -> Result<f64, Failure> {
    let mut losses = RunningLoss::default();
    thread::scope(|scope| {
        let order = (plan.seed, epoch);
        let batches = read_epoch(scope, dataset, Split::Train, order, plan.batch, 0);
        let mut batches = batches
            .into_iter()
            .map(|batch| batch.map(|batch| (batch.words(device), batch.records.len())))
            .peekable();
        for step in 1u64.. {
            let Some(batch) = batches.next() else { break };
            let (words, samples) = batch?;
            losses.add(learner.learn(words), samples);
            // The next batch is sent to the device before this one is waited for.
            batches.peek();
            if step.is_multiple_of(LOOK_EVERY) {
                let loss = losses.look();
                if !loss.is_finite() {
                    return Err(Failure::Diverged { epoch, step, loss });
                }
                progress.show(losses.mean(), learner.rate());
            }
            progress.advance(samples);
        }
        Ok(())
    })?;
    losses.look();
    Ok(losses.mean())
}

/// A mean of losses that stay on the device until they are looked at.
struct RunningLoss<B: Backend> {
    unseen: Option<Tensor<B, 1>>,
    sum: f64,
    unseen_samples: usize,
    samples: usize,
}

impl<B: Backend> Default for RunningLoss<B> {
    fn default() -> Self {
        RunningLoss {
            unseen: None,
            sum: 0.0,
            unseen_samples: 0,
            samples: 0,
        }
    }
}

impl<B: Backend> RunningLoss<B> {
    fn add(&mut self, loss: Tensor<B, 1>, samples: usize) {
        let sum = loss * samples as f32;
        self.unseen = Some(match self.unseen.take() {
            Some(unseen) => unseen + sum,
            None => sum,
        });
        self.unseen_samples += samples;
    }

    /// Fetches what is still on the device; returns its mean.
    fn look(&mut self) -> f32 {
        let Some(unseen) = self.unseen.take() else {
            return 0.0;
        };
        let sum: f32 = unseen.into_scalar().elem();
        let samples = std::mem::take(&mut self.unseen_samples);
        self.sum += f64::from(sum);
        self.samples += samples;
        sum / samples as f32
    }

    fn mean(&self) -> f64 {
        self.sum / self.samples as f64
    }
}

/// One line of the metrics.
#[derive(Clone, Copy, Debug, Serialize)]
struct Epoch {
    /// Counted from 1.
    epoch: u64,
    /// At its first step.
    learning_rate: f64,
    /// Mean over its batches, each before its step.
    train_loss: f64,
    /// The rounded net on the held-out games.
    validation: Option<Validation>,
    /// Training alone.
    samples_per_second: f64,
}

impl Epoch {
    /// What the smaller of which is better.
    fn rank(&self) -> Option<f64> {
        self.validation
            .map(|v| v.figures.net.winchance.unwrap_or(v.loss))
    }

    fn line(&self, epochs: u64, kept: bool) -> String {
        let Epoch {
            epoch,
            train_loss,
            samples_per_second,
            ..
        } = self;
        let held_out = self.validation.map(|v| {
            let net = v.figures.net;
            let show = |x: Option<f64>| x.map_or("-".to_string(), |x| format!("{x:.4}"));
            format!(
                "; held-out games: loss {:.4}, winchance {}, clamp10 {}, sign accuracy {}",
                v.loss,
                show(net.winchance),
                show(net.clamp10),
                show(net.sign_accuracy)
            )
        });
        format!(
            "epoch {epoch}/{epochs}: training loss {train_loss:.4}{}; {samples_per_second:.0} samples/s{}",
            held_out.unwrap_or_default(),
            if kept { "; kept" } else { "" }
        )
    }
}

/// Keeps the best net and the record of the run.
struct Keeper<'a> {
    plan: &'a Plan,
    metadata: Metadata,
    metrics: File,
    metrics_path: PathBuf,
    golden: Option<Batch>,
    points: Vec<Point>,
    best: Option<Epoch>,
}

impl<'a> Keeper<'a> {
    /// Opens the metrics, so that an --out that cannot be written is known
    /// before the training rather than after.
    fn new(dataset: &Dataset, plan: &'a Plan) -> Result<Keeper<'a>, Failure> {
        let metrics_path = plan.out.with_extension("metrics.jsonl");
        let metrics = File::create(&metrics_path).map_err(Failure::unwritable(&metrics_path))?;
        Ok(Keeper {
            plan,
            metadata: metadata(dataset, plan),
            metrics,
            metrics_path,
            golden: golden_batch(dataset)?,
            points: Vec::new(),
            best: None,
        })
    }

    /// Takes in an epoch. Returns whether its net is the best so far, and was
    /// written.
    fn take<B: Evaluate>(
        &mut self,
        epoch: Epoch,
        network: &Network,
        model: &Model<B>,
        device: &B::Device,
    ) -> Result<bool, Failure> {
        let line = serde_json::to_string(&epoch).expect("numbers and names");
        writeln!(self.metrics, "{line}").map_err(Failure::unwritable(&self.metrics_path))?;
        let better = match (epoch.rank(), self.best.and_then(|best| best.rank())) {
            (Some(rank), Some(best)) => rank < best,
            _ => true,
        };
        if better {
            self.best = Some(epoch);
            self.write_net(epoch, network)?;
            self.write_golden(model, device)?;
        }
        self.write_curves(epoch)?;
        Ok(better)
    }

    fn write_net(&mut self, epoch: Epoch, network: &Network) -> Result<(), Failure> {
        self.metadata.validation = json!({ "epoch": epoch.epoch, "figures": epoch.validation });
        write_whole(&self.plan.out, &network.to_bytes(&self.metadata))
    }

    fn write_golden<B: Evaluate>(
        &self,
        model: &Model<B>,
        device: &B::Device,
    ) -> Result<(), Failure> {
        let Some(batch) = &self.golden else {
            return Ok(());
        };
        let vectors = golden::vectors(model, batch, device);
        let text = serde_json::to_string_pretty(&vectors).expect("numbers and names");
        write_whole(
            &self.plan.out.with_extension("golden.json"),
            text.as_bytes(),
        )
    }

    fn write_curves(&mut self, epoch: Epoch) -> Result<(), Failure> {
        self.points.push(Point {
            epoch: epoch.epoch,
            train: epoch.train_loss,
            validation: epoch.validation.map(|v| v.loss),
        });
        let material = epoch.validation.map(|v| v.material_loss);
        let best = self.best.map_or(0, |best| best.epoch);
        let svg = curves::svg(&self.points, material, best);
        write_whole(&self.plan.out.with_extension("svg"), svg.as_bytes())
    }
}

/// All that is known before the first epoch. No times and no paths that
/// differ from run to run: the same run gives the same bytes.
fn metadata(dataset: &Dataset, plan: &Plan) -> Metadata {
    let mut metadata = Metadata::new(
        plan.shape,
        concat!("kibitz trainer ", env!("CARGO_PKG_VERSION")),
    );
    metadata.target = target::metadata();
    metadata.training = json!({
        "optimizer": "AdamW",
        "weight_decay": WEIGHT_DECAY,
        "learning_rate": plan.learning_rate,
        "schedule": "linear warm-up, cosine to zero",
        "epochs": plan.epochs,
        "batch": plan.batch,
        "seed": plan.seed,
        "init": plan.init.as_ref().and_then(|(path, _)| path.file_name()).map(|name| name.to_string_lossy()),
        "device": plan.device.to_string(),
    });
    metadata.dataset = json!({
        "fingerprint": dataset.fingerprint(),
        "positions_train": dataset.len(Split::Train),
        "positions_validation": dataset.len(Split::Validation),
    });
    metadata
}

/// The positions of the golden vectors: from the held-out games, the same in
/// every run. `None` if no game is held out.
fn golden_batch(dataset: &Dataset) -> Result<Option<Batch>, Failure> {
    let block = dataset
        .shuffled(Split::Validation, 0, 0)?
        .next()
        .transpose()?;
    Ok(block.map(|mut records| {
        records.truncate(golden::POSITIONS);
        Batch::new(records)
    }))
}
