//! A run from its first step to its last: a dataset in, the best net out.

use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::time::Instant;
use std::{fs, thread};

use datasets::{Dataset, Split};
use host::{StopSignal, tell};
use models::{Metadata, Network};
use serde::Serialize;

use crate::error::TrainerError;
use crate::files::{self, ending};
use crate::input::batch::Batch;
use crate::input::reader::read_epoch;
use crate::network::evaluate::{Evaluate, Train, parts};
use crate::network::model::Model;
use crate::network::net;
use crate::training::artifacts::RunArtifacts;
use crate::training::checkpoint::{Checkpoint, State};
use crate::training::history::{Epoch, History};
use crate::training::learner::Learner;
use crate::training::plan::Plan;
use crate::training::progress::Progress;
use crate::training::readings::Unseen;
use crate::training::regularisation::Regularisation;
use crate::training::replicas::Replicas;
use crate::training::validation::{Validation, validate};

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
    /// The page with all there is to see.
    pub report: PathBuf,
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
/// [`TrainerError`]; a net that was written before stays.
pub fn fit<B: Train>(
    dataset: &Dataset,
    plan: &Plan,
    devices: &[B::Device],
    stop: &StopSignal,
) -> Result<Summary, TrainerError> {
    let mut run = Run::<B>::begin(dataset, plan, devices, stop)?;
    if run.artifacts.history.epoch() <= plan.epochs {
        run.progress.line(&plan.in_words(dataset));
    }
    run.run_epochs()?;
    Ok(run.summary())
}

/// The parts of a batch and its number of positions, if there is one more.
type Received<B> = Result<Option<(Vec<<B as Evaluate>::Samples>, usize)>, TrainerError>;

/// A run between two steps.
struct Run<'a, B: Train> {
    dataset: &'a Dataset,
    plan: &'a Plan,
    devices: &'a [B::Device],
    stop: &'a StopSignal,
    learner: Learner<B>,
    /// Steps that the history does not know of yet.
    unseen: Unseen<B::InnerBackend>,
    artifacts: RunArtifacts<'a>,
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
        stop: &'a StopSignal,
    ) -> Result<Run<'a, B>, TrainerError> {
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
        let start = start.with_own_scale(own_scale).with_inputs(plan.inputs);
        let replicas = Replicas::new(start, devices);
        let mut learner = Learner::new(replicas, schedule, weight_decay, plan.clip_norm);
        let (mut history, mut net) = (History::default(), None);
        let resumed = before(&checkpoint, plan, &metadata)?;
        let begins = resumed.is_none();
        if let Some(state) = resumed {
            learner = learner
                .restore(state.history.steps, state.record, device)
                .map_err(|error| checkpoint.refused(&format!("its weights: {error}")))?;
            (history, net) = (state.history, state.net);
        }
        let samples = dataset.len(Split::Train);
        let done = history.epochs.len() as u64 * samples + history.pass.samples;
        let mut run = Run {
            dataset,
            plan,
            devices,
            stop,
            learner,
            unseen: Unseen::default(),
            artifacts: RunArtifacts::new(dataset, plan, metadata, history, net)?,
            checkpoint,
            saved: now,
            timed: now,
            progress: Progress::new(plan.epochs * samples, done),
        };
        if begins {
            // From now on the name of the net belongs to this run.
            run.save()?;
        }
        // Of the checkpoint, whatever was written after it when the program ended.
        run.artifacts.write_net::<B::InnerBackend>(device)?;
        run.artifacts.write_course()?;
        Ok(run)
    }

    fn run_epochs(&mut self) -> Result<(), TrainerError> {
        while self.artifacts.history.epoch() <= self.plan.epochs {
            self.train_epoch()?;
            self.close_epoch()?;
        }
        Ok(())
    }

    /// Trains on what is left of the epoch's positions.
    fn train_epoch(&mut self) -> Result<(), TrainerError> {
        let (dataset, plan) = (self.dataset, self.plan);
        let order = (plan.seed, self.artifacts.history.epoch());
        let done = self
            .artifacts
            .history
            .pass
            .samples
            .div_ceil(plan.batch as u64);
        thread::scope(|scope| {
            let batches = read_epoch(scope, dataset, Split::Train, order, plan.batch, done);
            let began = Instant::now();
            let mut next = self.receive(&batches)?;
            let mut received = Instant::now();
            let mut waiting = received - began;
            while let Some((parts, samples)) = next {
                if self.stop.is_asked() {
                    self.save()?;
                    return Err(TrainerError::Interrupted {
                        checkpoint: self.checkpoint.path().to_path_buf(),
                        exit_code: self.stop.exit_code(),
                    });
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
                self.artifacts.history.pass.spend(waiting, computing);
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
        Ok(Some((
            parts::<B>(&batch, self.devices),
            batch.records.len(),
        )))
    }

    /// Looks at what the last steps measured, where it is time to.
    fn look_if_due(&mut self) -> Result<(), TrainerError> {
        let show = self.progress.is_due();
        if self.saved.elapsed() >= self.plan.checkpoint_every {
            self.save()?;
        } else if show || self.unseen.len() == LOOK_EVERY {
            self.look()?;
        }
        if show {
            let history = &self.artifacts.history;
            let (epoch, loss) = (history.epoch(), history.pass.loss());
            self.progress.show(epoch, loss, self.learner.rate());
        }
        Ok(())
    }

    /// Takes what the last steps measured into the history.
    fn look(&mut self) -> Result<(), TrainerError> {
        for step in self.unseen.fetch() {
            let pass = &mut self.artifacts.history.pass;
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
    fn check_weights(&self) -> Result<(), TrainerError> {
        if self.learner.is_finite() {
            return Ok(());
        }
        let batches = self
            .artifacts
            .history
            .pass
            .samples
            .div_ceil(self.plan.batch as u64);
        let last = batches.saturating_sub(1);
        Err(self.diverged(last, "a weight became infinite or NaN".to_string()))
    }

    /// Writes a batch of the epoch, counted from 0, beside the net. Returns the
    /// failure that names it.
    fn diverged(&self, number: u64, what: String) -> TrainerError {
        let batch = self.plan.beside("diverged.txt");
        match self.write_batch(number, &batch) {
            Ok(()) => TrainerError::Diverged {
                what,
                epoch: self.artifacts.history.epoch(),
                step: number + 1,
                batch,
            },
            Err(failure) => failure,
        }
    }

    fn write_batch(&self, number: u64, path: &Path) -> Result<(), TrainerError> {
        let (dataset, plan) = (self.dataset, self.plan);
        let order = (plan.seed, self.artifacts.history.epoch());
        let mut text = String::new();
        thread::scope(|scope| {
            let batches = read_epoch(scope, dataset, Split::Train, order, plan.batch, number);
            if let Ok(batch) = batches.recv() {
                for record in &batch?.records {
                    record.write_line(&mut text);
                }
            }
            Ok::<(), TrainerError>(())
        })?;
        files::write(path, text.as_bytes())
    }

    /// Measures the net of the epoch, keeps it if it is the best, and begins
    /// the next epoch.
    fn close_epoch(&mut self) -> Result<(), TrainerError> {
        self.check_weights()?;
        let network = net::rounded(&self.learner.network());
        let network = network.expect("finite weights are kept within what f16 holds");
        let validation = validate(&network, self.dataset)?;
        let history = &self.artifacts.history;
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
        let kept = self.artifacts.take(entry, &network);
        self.progress.line(&entry.line(self.plan.epochs, kept));
        // The checkpoint first: all else is made from it.
        self.save()?;
        if kept {
            self.artifacts
                .write_net::<B::InnerBackend>(&self.devices[0])?;
        }
        self.artifacts.write_course()
    }

    /// Writes the checkpoint.
    fn save(&mut self) -> Result<(), TrainerError> {
        self.look()?;
        self.check_weights()?;
        let history = &mut self.artifacts.history;
        history.steps = self.learner.steps();
        let now = Instant::now();
        history.seconds += (now - self.timed).as_secs_f64();
        self.timed = now;
        let (artifacts, record) = (&self.artifacts, self.learner.record());
        self.checkpoint
            .save(&artifacts.history, artifacts.net(), &record)?;
        self.saved = Instant::now();
        Ok(())
    }

    /// How a run ended that has run all its epochs.
    fn summary(&self) -> Summary {
        let history = &self.artifacts.history;
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
            report: self.plan.beside(ending::PAGE),
        }
    }
}

/// What was done before, for a run that is to go on. `None` for one that
/// begins: nothing that it will write may be there yet.
fn before(
    checkpoint: &Checkpoint,
    plan: &Plan,
    metadata: &Metadata,
) -> Result<Option<State>, TrainerError> {
    let before = if plan.resume {
        checkpoint.load()?
    } else {
        None
    };
    let Some(state) = before else {
        let beside = ending::RESULTS.map(|ending| plan.beside(ending));
        let own = [plan.out.clone(), checkpoint.path().to_path_buf()];
        for path in own.into_iter().chain(beside) {
            if path.exists() {
                return Err(TrainerError::Exists {
                    path,
                    resume: !plan.resume && checkpoint.path().exists(),
                });
            }
        }
        if plan.resume {
            let checkpoint = checkpoint.path().display();
            tell(format_args!("no checkpoint {checkpoint}: beginning"));
        }
        return Ok(None);
    };
    if plan.out.exists() {
        let found = fs::read(&plan.out).map_err(TrainerError::unreadable(&plan.out))?;
        if state.net.is_none() || !is_of(&found, metadata) {
            return Err(TrainerError::OtherNet {
                path: plan.out.clone(),
                checkpoint: checkpoint.path().to_path_buf(),
            });
        }
    }
    let history = &state.history;
    if history.epoch() > plan.epochs {
        let epochs = plan.epochs;
        tell(format_args!(
            "this run has ended already: epoch {epochs} of {epochs} is done"
        ));
    } else {
        tell(format_args!(
            "going on in epoch {} behind {} positions, step {} of the run",
            history.epoch(),
            history.pass.samples,
            history.steps,
        ));
    }
    Ok(Some(state))
}

/// Whether a file is a net of the run that `metadata` describes, of whatever
/// epoch.
fn is_of(net: &[u8], metadata: &Metadata) -> bool {
    let Ok((_, mut found)) = Network::from_bytes(net) else {
        return false;
    };
    found.validation = metadata.validation.clone();
    found == *metadata
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::rc::Rc;
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    use burn_flex::FlexDevice;
    use serde_json::Value;

    use crate::network::clipping::CLIP_NORM;
    use crate::network::first_layer::Inputs;
    use crate::testing::{self, Cpu, SMALL};
    use crate::training::device::Device;
    use crate::training::schedule::Decay;

    const EPOCHS: u64 = 3;

    fn plan(folder: &Path, resume: bool) -> Plan {
        Plan {
            out: folder.join("n.safetensors"),
            shape: SMALL,
            init: None,
            device: Device::Cpu,
            inputs: Inputs::default(),
            epochs: EPOCHS,
            batch: 100,
            regularisation: Regularisation::for_positions(1),
            learning_rate: 3e-3,
            decay: Decay::Cosine,
            warm_up: None,
            clip_norm: CLIP_NORM,
            seed: 1,
            checkpoint_every: Duration::MAX,
            resume,
        }
    }

    fn copy(from: &Path, to: &Path) {
        fs::create_dir(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }

    /// What a signal leaves that comes before the first step: [`TrainerError`] and
    /// the checkpoint.
    fn stopped(dataset: &Dataset, plan: &Plan) -> Option<State> {
        let stop = StopSignal::default();
        stop.flag().store(true, Ordering::Relaxed);
        let ended = fit::<Cpu>(dataset, plan, &[FlexDevice], &stop);
        assert!(matches!(
            ended,
            Ok(_) | Err(TrainerError::Interrupted { .. })
        ));
        let path = plan.beside("checkpoint");
        let checkpoint = Checkpoint::new(path, plan.metadata(dataset));
        checkpoint.load().unwrap()
    }

    /// Wherever a run is killed between two files that it writes, the net that
    /// lies there when it goes on is the one that its checkpoint knows as the
    /// best, or there is none in either.
    #[test]
    fn a_run_that_is_killed_between_two_files_owns_its_net() {
        let _turn = testing::turn();
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::create_dir(path("data")).unwrap();
        let dataset = testing::dataset_with(&path("data"), 1500, 20);
        fs::create_dir(path("run")).unwrap();
        let (from, to) = (path("run"), path(""));
        let kills = Rc::new(Cell::new(0));
        let count = Rc::clone(&kills);
        let keep = move || {
            count.set(count.get() + 1);
            copy(&from, &to.join(count.get().to_string()));
        };
        let work = || {
            let stop = StopSignal::default();
            fit::<Cpu>(&dataset, &plan(&path("run"), false), &[FlexDevice], &stop).unwrap()
        };
        let summary = files::watched::after_each_file(keep, work);
        // At the start and after each epoch a checkpoint and the metrics, then the
        // curves, and more than once a net and its golden vectors.
        assert!(kills.get() >= 2 + 3 * EPOCHS + 4, "{}", kills.get());
        let mut epochs = Vec::new();
        for kill in 1..=kills.get() {
            let plan = plan(&path(&kill.to_string()), true);
            let state = stopped(&dataset, &plan).unwrap();
            let best = state.history.best();
            // Through text, as the net's file has it.
            let expected = best.map(|best| -> Value {
                let figures =
                    serde_json::json!({ "epoch": best.epoch, "figures": best.validation });
                serde_json::from_str(&figures.to_string()).unwrap()
            });
            let net = fs::read(&plan.out).ok();
            assert!(net == state.net, "kill {kill}");
            let found = net.map(|net| {
                let (_, metadata) = Network::from_bytes(&net).unwrap();
                metadata.validation
            });
            assert_eq!(found, expected, "kill {kill}");
            let metrics = fs::read_to_string(plan.beside(ending::METRICS)).unwrap();
            assert_eq!(metrics.lines().count(), state.history.epochs.len());
            assert_eq!(plan.beside(ending::GOLDEN).exists(), best.is_some());
            epochs.push(state.history.epochs.len() as u64);
        }
        assert!(epochs.is_sorted());
        assert_eq!((epochs[0], epochs[epochs.len() - 1]), (0, EPOCHS));
        assert_eq!(summary.epochs, EPOCHS);
    }

    /// A net that was lost is in the checkpoint; one of another run is not
    /// written over.
    #[test]
    fn a_run_that_goes_on_has_its_net_and_spares_others() {
        let _turn = testing::turn();
        let place = tempfile::tempdir().unwrap();
        let dataset = testing::dataset_with(place.path(), 1500, 20);
        let begun = plan(place.path(), false);
        fit::<Cpu>(&dataset, &begun, &[FlexDevice], &StopSignal::default()).unwrap();
        let net = fs::read(&begun.out).unwrap();
        fs::remove_file(&begun.out).unwrap();
        let again = plan(place.path(), true);
        stopped(&dataset, &again).unwrap();
        assert!(fs::read(&begun.out).unwrap() == net);

        let other = Network::random(SMALL, 9).to_bytes(&Metadata::new(SMALL, "another"));
        for bytes in [&other[..], b"no net"] {
            fs::write(&begun.out, bytes).unwrap();
            let ended = fit::<Cpu>(&dataset, &again, &[FlexDevice], &StopSignal::default());
            let error = ended.err().unwrap();
            assert_eq!(error.exit_code() as u8, 5);
            assert!(error.to_string().contains("no net of the run"), "{error}");
            assert!(fs::read(&begun.out).unwrap() == bytes);
        }
    }
}
