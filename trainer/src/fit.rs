//! `trainer fit`: a dataset in, the best net out.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Instant;

use burn::tensor::{Int, Tensor};
use datasets::{Dataset, Split};
use serde::Serialize;

use crate::batch::Batch;
use crate::checkpoint::Checkpoint;
use crate::failure::Failure;
use crate::history::{Epoch, History};
use crate::interrupt::Interrupt;
use crate::keeper::Keeper;
use crate::learner::Learner;
use crate::model::{Model, Train};
use crate::net;
use crate::output::write_whole;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::reader::read_epoch;
use crate::readings::Unseen;
use crate::regularisation::Regularisation;
use crate::replicas::Replicas;
use crate::validation::{Validation, validate};

/// Steps between two looks at what they measured: each waits for the device.
pub const LOOK_EVERY: usize = 32;

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
    /// Time of the whole run, interruptions left out.
    pub seconds: f64,
    /// Training positions a second, over the epochs' training alone.
    pub samples_per_second: f64,
}

/// Trains a network and keeps the epoch with the smallest winchance on the
/// held-out games; the last, where no game is held out.
///
/// Beside the net `NAME.safetensors` appear `NAME.metrics.jsonl` (one object
/// an epoch), `NAME.svg` (the curves), `NAME.golden.json`, and
/// `NAME.checkpoint`, from which [`Plan::resume`] goes on.
///
/// Each step is shared among `devices`, one at least; all else is done on the
/// first.
///
/// # Errors
/// [`Failure`]; a net that was written before stays.
pub fn fit<B: Train>(
    dataset: &Dataset,
    plan: &Plan,
    devices: &[B::Device],
    interrupt: &Interrupt,
) -> Result<Summary, Failure> {
    let mut run = Run::<B>::begin(dataset, plan, devices, interrupt)?;
    let ended = run.run_epochs();
    run.progress.finish();
    ended.map(|()| run.summary())
}

/// The parts of a batch and its number of positions, if there is one more.
type Received<B> = Result<Option<(Vec<Tensor<B, 2, Int>>, usize)>, Failure>;

/// A run between two steps.
struct Run<'a, B: Train> {
    dataset: &'a Dataset,
    plan: &'a Plan,
    devices: &'a [B::Device],
    interrupt: &'a Interrupt,
    learner: Learner<B>,
    /// Steps that the history does not know of yet.
    unseen: Unseen<B::InnerBackend>,
    keeper: Keeper<'a>,
    checkpoint: Checkpoint,
    /// When the checkpoint was written.
    saved: Instant,
    /// Until when the history knows the time.
    timed: Instant,
    progress: Progress,
}

impl<'a, B: Train> Run<'a, B> {
    /// Begins a run, or goes on with one.
    fn begin(
        dataset: &'a Dataset,
        plan: &'a Plan,
        devices: &'a [B::Device],
        interrupt: &'a Interrupt,
    ) -> Result<Run<'a, B>, Failure> {
        let now = Instant::now();
        let device = &devices[0];
        let metadata = plan.metadata(dataset);
        let checkpoint = Checkpoint::new(plan.beside("checkpoint"), metadata.clone());
        let Regularisation {
            own_scale,
            weight_decay,
        } = plan.regularisation;
        let start = match &plan.init {
            Some(net) => Model::new(&net.network, device),
            None => Model::fresh(plan.shape, plan.seed, device),
        };
        let schedule = plan.schedule(dataset);
        let replicas = Replicas::new(start.with_own_scale(own_scale), devices);
        let mut learner = Learner::new(replicas, schedule, weight_decay, plan.clip_norm);
        let mut history = History::default();
        let resumed = before(&checkpoint, plan)?;
        let begins = resumed.is_none();
        if let Some((before, record)) = resumed {
            learner = learner
                .restore(before.steps, record, device)
                .map_err(|error| checkpoint.refused(&error.to_string()))?;
            history = before;
        }
        let samples = dataset.len(Split::Train);
        let done = history.epochs.len() as u64 * samples + history.pass.samples;
        let mut run = Run {
            dataset,
            plan,
            devices,
            interrupt,
            learner,
            unseen: Unseen::default(),
            keeper: Keeper::new(dataset, plan, metadata, history)?,
            checkpoint,
            saved: now,
            timed: now,
            progress: Progress::new(plan.epochs * samples, done),
        };
        if begins {
            // From now on the name of the net belongs to this run.
            run.save()?;
        }
        Ok(run)
    }

    fn run_epochs(&mut self) -> Result<(), Failure> {
        while self.keeper.history.epoch() <= self.plan.epochs {
            self.train_epoch()?;
            self.close_epoch()?;
        }
        Ok(())
    }

    /// Trains on what is left of the epoch's positions.
    fn train_epoch(&mut self) -> Result<(), Failure> {
        let (dataset, plan) = (self.dataset, self.plan);
        let order = (plan.seed, self.keeper.history.epoch());
        let done = self.keeper.history.pass.samples.div_ceil(plan.batch as u64);
        thread::scope(|scope| {
            let batches = read_epoch(scope, dataset, Split::Train, order, plan.batch, done);
            let began = Instant::now();
            let mut next = self.receive(&batches)?;
            let mut received = Instant::now();
            let mut waiting = received - began;
            while let Some((parts, samples)) = next {
                if self.interrupt.is_asked() {
                    self.save()?;
                    let checkpoint = self.checkpoint.path().to_path_buf();
                    return Err(Failure::Interrupted { checkpoint });
                }
                let reading = self.learner.learn(parts);
                let queued = Instant::now();
                // The next batch is sent to the devices before this one is
                // waited for.
                next = self.receive(&batches)?;
                let sent = Instant::now();
                self.unseen.push(reading, samples);
                self.look_if_due()?;
                let computing = (queued - received) + sent.elapsed();
                self.keeper.history.pass.spend(waiting, computing);
                self.progress.step(samples, waiting, computing);
                (received, waiting) = (Instant::now(), sent - queued);
            }
            self.look()
        })
    }

    /// The next batch, a part on each device, and its number of positions.
    /// `None` at the end of the epoch.
    fn receive(&self, batches: &Receiver<Result<Batch, datasets::Error>>) -> Received<B> {
        let Ok(batch) = batches.recv() else {
            return Ok(None);
        };
        let batch = batch?;
        Ok(Some((batch.parts(self.devices), batch.records.len())))
    }

    /// Looks at what the last steps measured, where it is time to.
    fn look_if_due(&mut self) -> Result<(), Failure> {
        let show = self.progress.is_due();
        if self.saved.elapsed() >= self.plan.checkpoint_every {
            self.save()?;
        } else if show || self.unseen.len() == LOOK_EVERY {
            self.look()?;
        }
        if show {
            let history = &self.keeper.history;
            let (epoch, loss) = (history.epoch(), history.pass.loss());
            self.progress.show(epoch, loss, self.learner.rate());
        }
        Ok(())
    }

    /// Takes what the last steps measured into the history.
    fn look(&mut self) -> Result<(), Failure> {
        for step in self.unseen.fetch() {
            let pass = &mut self.keeper.history.pass;
            let batch = pass.samples / self.plan.batch as u64;
            let (loss, norm) = (step.loss, step.gradient_norm);
            if !loss.is_finite() {
                return Err(self.diverged(batch, format!("the loss became {loss}")));
            }
            if !norm.is_finite() {
                return Err(self.diverged(batch, format!("the gradient's length became {norm}")));
            }
            pass.add(step, self.plan.clip_norm);
        }
        Ok(())
    }

    /// Refuses weights that are no numbers; the losses of all steps were.
    fn check_weights(&self) -> Result<(), Failure> {
        if self.learner.is_finite() {
            return Ok(());
        }
        let batches = self
            .keeper
            .history
            .pass
            .samples
            .div_ceil(self.plan.batch as u64);
        let last = batches.saturating_sub(1);
        Err(self.diverged(last, "a weight became infinite or NaN".to_string()))
    }

    /// Writes a batch of the epoch, counted from 0, beside the net. Returns the
    /// failure that names it.
    fn diverged(&self, number: u64, what: String) -> Failure {
        let batch = self.plan.beside("diverged.txt");
        match self.write_batch(number, &batch) {
            Ok(()) => Failure::Diverged {
                what,
                epoch: self.keeper.history.epoch(),
                step: number + 1,
                batch,
            },
            Err(failure) => failure,
        }
    }

    fn write_batch(&self, number: u64, path: &Path) -> Result<(), Failure> {
        let (dataset, plan) = (self.dataset, self.plan);
        let order = (plan.seed, self.keeper.history.epoch());
        let mut text = String::new();
        thread::scope(|scope| {
            let batches = read_epoch(scope, dataset, Split::Train, order, plan.batch, number);
            if let Ok(batch) = batches.recv() {
                for record in &batch?.records {
                    record.write_line(&mut text);
                }
            }
            Ok::<(), Failure>(())
        })?;
        write_whole(path, text.as_bytes())
    }

    /// Measures the net of the epoch, keeps it if it is the best, and begins
    /// the next epoch.
    fn close_epoch(&mut self) -> Result<(), Failure> {
        self.check_weights()?;
        let network = net::rounded(&self.learner.network());
        let network = network.expect("finite weights are kept within what f16 holds");
        let device = &self.devices[0];
        let model = Model::<B::InnerBackend>::new(&network, device);
        let validation = validate(&model, self.dataset, self.plan.batch, device)?;
        let history = &self.keeper.history;
        let (epoch, pass) = (history.epoch(), history.pass);
        let first_step = (epoch - 1) * self.plan.steps(self.dataset);
        let entry = Epoch {
            epoch,
            learning_rate: self.plan.schedule(self.dataset).rate(first_step),
            train_loss: pass.loss(),
            clipped_steps: pass.clipped_steps,
            validation,
            samples_per_second: pass.samples_per_second(),
            waiting_seconds: pass.waiting_seconds,
            computing_seconds: pass.computing_seconds,
        };
        let kept = self.keeper.take(entry, &network, &model, device)?;
        self.progress.line(&entry.line(self.plan.epochs, kept));
        self.save()
    }

    /// Writes the checkpoint.
    fn save(&mut self) -> Result<(), Failure> {
        self.look()?;
        self.check_weights()?;
        let history = &mut self.keeper.history;
        history.steps = self.learner.steps();
        let now = Instant::now();
        history.seconds += (now - self.timed).as_secs_f64();
        self.timed = now;
        self.checkpoint.save(history, &self.learner.record())?;
        self.saved = Instant::now();
        Ok(())
    }

    /// How a run ended that has run all its epochs.
    fn summary(&self) -> Summary {
        let history = &self.keeper.history;
        let best = history.best().expect("at least one epoch was run and kept");
        let training: f64 = history.epochs.iter().map(Epoch::seconds).sum();
        let samples = self.plan.epochs * self.dataset.len(Split::Train);
        Summary {
            net: self.plan.out.clone(),
            device: self.plan.device.to_string(),
            epochs: self.plan.epochs,
            best_epoch: best.epoch,
            validation: best.validation,
            seconds: history.seconds,
            samples_per_second: samples as f64 / training,
        }
    }
}

/// What was done before, for a run that is to go on. `None` for one that
/// begins: its net must not be there yet.
fn before(checkpoint: &Checkpoint, plan: &Plan) -> Result<Option<(History, Vec<u8>)>, Failure> {
    let before = if plan.resume {
        checkpoint.load()?
    } else {
        None
    };
    let Some((history, record)) = before else {
        for path in [&plan.out, checkpoint.path()] {
            if path.exists() {
                return Err(Failure::Exists {
                    path: path.to_path_buf(),
                    resume: !plan.resume && checkpoint.path().exists(),
                });
            }
        }
        if plan.resume {
            eprintln!("no checkpoint {}: beginning", checkpoint.path().display());
        }
        return Ok(None);
    };
    if history.best().is_some() {
        // Only the last weights are in the checkpoint.
        fs::metadata(&plan.out).map_err(Failure::unreadable(&plan.out))?;
    }
    if history.epoch() > plan.epochs {
        eprintln!(
            "this run has ended already: all {} epochs are done",
            plan.epochs
        );
    } else {
        eprintln!(
            "going on in epoch {} behind {} positions, step {} of the run",
            history.epoch(),
            history.pass.samples,
            history.steps,
        );
    }
    Ok(Some((history, record)))
}
