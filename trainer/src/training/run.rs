//! Training run: epochs, checkpoints, and the choice of the best net.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, mem, thread};

use datasets::Dataset;
use host::{Exists, StopSignal, tell};
use models::{Metadata, Network};
use serde::Serialize;
use serde_json::Value;

use crate::batch::filter::Dropped;
use crate::batch::reader::read_epoch;
use crate::error::TrainerError;
use crate::files::{self, ending};
use crate::net;
use crate::report::live::State as PageState;
use crate::report::metrics::{Epoch, Validation};
use crate::training::artifacts::RunArtifacts;
use crate::training::checkpoint::{Checkpoint, State};
use crate::training::executor::{Executor, Settings};
use crate::training::feed::{Ready, feed};
use crate::training::history::RunHistory;
use crate::training::learner::Learner;
use crate::training::live::LivePage;
use crate::training::plan::Plan;
use crate::training::progress::Progress;
use crate::training::regularisation::Regularisation;
use crate::training::validation::validate;
use network::CpuModel;

/// Steps between two fetches of metrics: each synchronises with the device.
pub const FETCH_EVERY: usize = 32;

/// File extension of a checkpoint, replacing the net's `safetensors`.
pub const CHECKPOINT: &str = "checkpoint";

/// Result of a run.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Path of the written net.
    pub net: PathBuf,
    /// Device of the training.
    pub device: String,
    /// Number of epochs.
    pub epochs: u64,
    /// Epoch of the written net.
    pub best_epoch: u64,
    /// Figures of the written net on the held-out games; `None` without any.
    pub validation: Option<Validation>,
    /// Duration of the whole run in seconds, interruptions excluded.
    pub seconds: f64,
    /// Training positions a second, validation excluded.
    pub samples_per_second: f64,
    /// Numbers of positions dropped by the filter.
    pub left_out: Dropped,
    /// Path of the report page.
    pub report: PathBuf,
}

/// Trains a network and keeps the net of the epoch with the smallest winchance on the held-out
/// games; without any, of the last.
///
/// Beside the net `NAME.safetensors`, writes `NAME.metrics.jsonl` (one object an epoch),
/// `NAME.steps.jsonl`, `NAME.svg` (the curves), `NAME.golden.json`, `NAME.report.html` (the live
/// page), and `NAME.checkpoint`, from which [`Plan::resume`] resumes.
///
/// # Errors
/// [`TrainerError`]; a net that was written before stays.
pub fn fit<E: Executor>(
    dataset: &Dataset,
    plan: &mut Plan,
    device: &E::Device,
    stop: &StopSignal,
) -> Result<Summary, TrainerError> {
    if plan.resume {
        extend_if_asked(dataset, plan)?;
    }
    let mut run = Run::<E>::begin(dataset, plan, device, stop)?;
    if run.artifacts.history.epoch() > plan.epochs {
        return Ok(run.summary());
    }
    run.progress.line(&plan.in_words(dataset));
    for warning in plan.warnings() {
        run.progress.line(&format!("warning: {warning}"));
    }
    run.show_page(PageState::Training);
    let ended = run.run_epochs();
    let why = ended.as_ref().err().map(ToString::to_string);
    run.show_page(match &why {
        Some(why) => PageState::Ended { why },
        None => PageState::Measuring,
    });
    ended.map(|()| run.summary())
}

/// Next batch on the device and its number of positions; `None` at the end of the epoch.
type Received<E> = Result<Option<(<E as Executor>::Batch, usize)>, TrainerError>;

/// State of a run between two steps.
struct Run<'a, E: Executor> {
    dataset: &'a Dataset,
    plan: &'a Plan,
    stop: &'a StopSignal,
    learner: Learner<E>,
    artifacts: RunArtifacts<'a>,
    checkpoint: Checkpoint,
    /// Time of the last checkpoint.
    checkpoint_at: Instant,
    /// Time up to which the history counts the run's duration.
    counted_until: Instant,
    /// Step time missing from the history: waiting for data, and computing.
    unreported_time: [Duration; 2],
    progress: Progress,
    page: LivePage,
}

impl<'a, E: Executor> Run<'a, E> {
    /// Begins or resumes a run.
    fn begin(
        dataset: &'a Dataset,
        plan: &'a Plan,
        device: &E::Device,
        stop: &'a StopSignal,
    ) -> Result<Run<'a, E>, TrainerError> {
        let now = Instant::now();
        let metadata = plan.metadata(dataset);
        let checkpoint = Checkpoint::new(plan.beside(CHECKPOINT), metadata.clone());
        let Regularisation {
            own_scale,
            weight_decay,
        } = plan.regularisation;
        let init = plan.init.as_ref().map(|net| &net.network);
        let start = CpuModel::start(init, plan.architecture, plan.seed);
        let start = start.with_own_scale(own_scale);
        let settings = Settings {
            batch: plan.batch.min(plan.selection.positions as usize),
            weight_decay,
            clip_norm: plan.clip_norm,
            loss_exponent: plan.loss_exponent,
        };
        let mut learner = Learner::new(device, start, plan.schedule(), settings)?;
        let (mut history, mut net) = (RunHistory::default(), None);
        let resumed = load_to_resume(&checkpoint, plan, &metadata)?;
        let begins = resumed.is_none();
        if let Some(state) = resumed {
            learner = learner
                .restore(state.history.steps, state.record)
                .map_err(|error| checkpoint.refused(&format!("its weights: {error}")))?;
            (history, net) = (state.history, state.net);
        }
        let samples = plan.selection.positions;
        let done = history.epochs.len() as u64 * samples + history.pass.samples;
        let mut run = Run {
            dataset,
            plan,
            stop,
            learner,
            artifacts: RunArtifacts::new(dataset, plan, metadata, history, net)?,
            checkpoint,
            checkpoint_at: now,
            counted_until: now,
            unreported_time: [Duration::ZERO; 2],
            progress: Progress::new(plan.epochs * samples, done),
            page: LivePage::new(plan, plan.in_words(dataset)),
        };
        if begins {
            // From now on, the name of the net belongs to this run.
            run.save()?;
        }
        // Bring the files to the state of the checkpoint: some may have been written after it.
        run.artifacts.write_net()?;
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

    /// Trains on the rest of the epoch's positions.
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
            let keeps = plan.selection.filter.test();
            let batches = read_epoch(scope, dataset, keeps, order, plan.batch, done);
            let first = self.learner.steps();
            let aim = move |number| plan.aim(first + number);
            let mut batches = feed::<E>(scope, batches, plan.architecture, aim);
            let began = Instant::now();
            let mut next = self.receive(&mut batches)?;
            let mut received = Instant::now();
            let mut waiting = received - began;
            while let Some((batch, samples)) = next {
                if self.stop.is_asked() {
                    self.save()?;
                    return Err(TrainerError::Interrupted {
                        checkpoint: self.checkpoint.path().to_path_buf(),
                        exit_code: self.stop.exit_code(),
                    });
                }
                self.learner.learn(&batch, samples);
                let queued = Instant::now();
                // Send the next batch to the device before waiting for this one.
                next = self.receive(&mut batches)?;
                let sent = Instant::now();
                self.report_if_due()?;
                let computing = (queued - received) + sent.elapsed();
                self.artifacts.history.pass.spend(waiting, computing);
                self.progress.step(samples, waiting, computing);
                self.unreported_time[0] += waiting;
                self.unreported_time[1] += computing;
                (received, waiting) = (Instant::now(), sent - queued);
            }
            self.look()
        })
    }

    /// Sends the next batch to the device; returns it and its number of positions. `None` at the
    /// end of the epoch.
    fn receive(
        &mut self,
        batches: &mut impl Iterator<Item = Result<Ready<E>, datasets::Error>>,
    ) -> Received<E> {
        let Some((prepared, positions)) = batches.next().transpose()? else {
            return Ok(None);
        };
        Ok(Some((self.learner.executor().send(prepared), positions)))
    }

    /// Saves the checkpoint and updates metrics, progress bar and page, where due.
    fn report_if_due(&mut self) -> Result<(), TrainerError> {
        let show = self.progress.is_due();
        let page = self.page.is_due();
        if self.checkpoint_at.elapsed() >= self.plan.checkpoint_every {
            self.save()?;
        } else if show || page || self.learner.unfetched() == FETCH_EVERY {
            self.look()?;
        }
        if show {
            let history = &self.artifacts.history;
            let (epoch, loss) = (history.epoch(), history.pass.loss());
            self.progress.show(epoch, loss, self.learner.rate());
        }
        if page {
            self.show_page(PageState::Training);
        }
        Ok(())
    }

    /// Writes the live page.
    fn show_page(&mut self, state: PageState) {
        let since = self.counted_until.elapsed();
        let history = &self.artifacts.history;
        self.page.write(history, &self.progress, state, since);
    }

    /// Fetches the metrics of the last steps into the history.
    fn look(&mut self) -> Result<(), TrainerError> {
        let steps = self.learner.fetch();
        let broken = steps.iter().position(|step| {
            let numbers = [step.loss, step.gradient_norm];
            !numbers.iter().all(|number| number.is_finite())
        });
        let good = &steps[..broken.unwrap_or(steps.len())];
        let last = self.learner.steps() - (steps.len() - good.len()) as u64;
        let history = &mut self.artifacts.history;
        if !good.is_empty() {
            let time = mem::take(&mut self.unreported_time);
            history.take(good, last, time, self.plan.clip_norm);
        }
        let Some(step) = broken.map(|broken| steps[broken]) else {
            return Ok(());
        };
        let batch = history.pass.samples / self.plan.batch as u64;
        let (loss, norm) = (step.loss, step.gradient_norm);
        Err(match loss.is_finite() {
            false => self.diverged(batch, format!("the loss became {loss}")),
            true => self.diverged(batch, format!("the gradient norm became {norm}")),
        })
    }

    /// Returns an error if a weight is not finite; the losses of all steps were.
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

    /// Writes a batch of the epoch, counted from 0, beside the net. Returns the error that names
    /// it.
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
            let batches = read_epoch(
                scope,
                dataset,
                plan.selection.filter.test(),
                order,
                plan.batch,
                number,
            );
            if let Ok(batch) = batches.recv() {
                for record in &batch? {
                    record.write_line(&mut text);
                }
            }
            Ok::<(), TrainerError>(())
        })?;
        files::write(path, text.as_bytes())
    }

    /// Validates the epoch's net, keeps it if it is the best, and begins the next epoch.
    fn close_epoch(&mut self) -> Result<(), TrainerError> {
        self.check_weights()?;
        let network = net::on_grid(&self.learner.network());
        let network = network.expect("finite weights are kept within what f16 holds");
        let plan = self.plan;
        // All epochs are judged by the target of the last one.
        let aim = plan.result_share.after(1.0);
        let validation = validate(&network, self.dataset, plan.loss_exponent, aim)?;
        let history = &self.artifacts.history;
        let (epoch, pass) = (history.epoch(), history.pass);
        let first_step = (epoch - 1) * plan.steps();
        let entry = Epoch {
            epoch,
            learning_rate: plan.schedule().rate(first_step),
            train_loss: pass.loss(),
            clipped_steps: pass.clipped_steps,
            validation,
            samples_per_second: pass.samples_per_second(),
            waiting_seconds: pass.waiting_seconds,
            computing_seconds: pass.computing_seconds,
        };
        let kept = self.artifacts.take(entry, &network);
        self.progress.line(&entry.line(self.plan.epochs, kept));
        // The checkpoint first: all other files are derived from it.
        self.save()?;
        if kept {
            self.artifacts.write_net()?;
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
        history.seconds += (now - self.counted_until).as_secs_f64();
        self.counted_until = now;
        let (artifacts, record) = (&self.artifacts, self.learner.record());
        self.checkpoint
            .save(&artifacts.history, artifacts.net(), &record)?;
        self.checkpoint_at = Instant::now();
        Ok(())
    }

    /// Returns the result of a finished run.
    fn summary(&self) -> Summary {
        let history = &self.artifacts.history;
        let best = history.best().expect("at least one epoch was run and kept");
        let training: f64 = history.epochs.iter().map(Epoch::seconds).sum();
        let samples = self.plan.epochs * self.plan.selection.positions;
        Summary {
            net: self.plan.out.clone(),
            device: self.plan.device.to_string(),
            epochs: self.plan.epochs,
            best_epoch: best.epoch,
            validation: best.validation,
            seconds: history.seconds,
            samples_per_second: samples as f64 / training,
            left_out: self.plan.selection.dropped,
            report: self.plan.beside(ending::PAGE),
        }
    }
}

/// Loads the checkpoint of a run to resume. `None` for a new run, after a check that none of its
/// files exist.
fn load_to_resume(
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
        check_free(&plan.out, plan.resume)?;
        if plan.resume {
            let checkpoint = checkpoint.path().display();
            tell(format_args!("no checkpoint {checkpoint}: starting anew"));
        }
        return Ok(None);
    };
    check_net(plan, &state, metadata)?;
    let history = &state.history;
    if history.epoch() > plan.epochs {
        let epochs = plan.epochs;
        tell(format_args!(
            "this run has ended already, after {epochs} of {epochs} epochs"
        ));
    } else {
        tell(format_args!(
            "going on in epoch {} after {} positions, at step {} of the run",
            history.epoch(),
            host::thousands(history.pass.samples),
            host::thousands(history.steps),
        ));
    }
    Ok(Some(state))
}

/// Returns whether a run that writes the net `out` has left a checkpoint.
pub fn has_checkpoint(out: &Path) -> bool {
    out.with_extension(CHECKPOINT).exists()
}

/// Checks that the run of `plan` has ended exactly as planned. Writes nothing.
pub fn check_finished(dataset: &Dataset, mut plan: Plan) -> Result<(), TrainerError> {
    let refused = |why: &str| {
        checkpoint_of(dataset, &plan).refused(&format!(
            "{why}, but a later stage of the recipe has started from its net; begin again \
             with another --out"
        ))
    };
    let Some(length) = checkpoint_of(dataset, &plan).length()? else {
        return Err(refused("it is missing"));
    };
    if !length.ended {
        return Err(refused("its run has not ended"));
    }
    take_restarts(&mut plan, length.restarts);
    checkpoint_of(dataset, &plan).load()?;
    Ok(())
}

/// Returns the checkpoint of the run that a plan describes.
fn checkpoint_of(dataset: &Dataset, plan: &Plan) -> Checkpoint {
    Checkpoint::new(plan.beside(CHECKPOINT), plan.metadata(dataset))
}

/// Sets a plan's restarts to its checkpoint's. A shorter plan is then refused as another run's.
fn take_restarts(plan: &mut Plan, restarts: Vec<u64>) {
    plan.restarts = restarts;
    plan.restarts.retain(|&epoch| epoch < plan.epochs);
}

/// Checks that no file of a run with the net `out` exists, unless it resumes from a checkpoint.
pub fn check_free(out: &Path, resume: bool) -> Result<(), TrainerError> {
    let checkpoint = out.with_extension(CHECKPOINT);
    if resume && checkpoint.exists() {
        return Ok(());
    }
    let figures = ending::FIGURES.map(|ending| out.with_extension(ending));
    let own = [out.to_path_buf(), checkpoint.clone()];
    if let Some(path) = own.into_iter().chain(figures).find(|path| path.exists()) {
        let remedy = match checkpoint.exists() {
            true => "go on with --resume, remove it, or choose another --out",
            false => "remove it, or choose another --out",
        };
        return Err(Exists { path, remedy }.into());
    }
    for ending in ending::PICTURES {
        host::check_free_for_markup(&out.with_extension(ending))?;
    }
    Ok(())
}

/// Checks that an existing net at the run's path belongs to this run.
fn check_net(plan: &Plan, state: &State, metadata: &Metadata) -> Result<(), TrainerError> {
    if !plan.out.exists() {
        return Ok(());
    }
    let found = fs::read(&plan.out).map_err(TrainerError::unreadable(&plan.out))?;
    match state.net.is_some() && is_net_of(&found, metadata) {
        true => Ok(()),
        false => Err(TrainerError::OtherNet {
            path: plan.out.clone(),
            checkpoint: plan.beside(CHECKPOINT),
        }),
    }
}

/// Returns whether a file is a net of the run that `metadata` describes, from any epoch and with
/// any number of planned epochs.
fn is_net_of(net: &[u8], metadata: &Metadata) -> bool {
    let Ok((_, found)) = Network::from_bytes(net) else {
        return false;
    };
    let common = |metadata: &Metadata| {
        let mut common = metadata.clone();
        common.validation = Value::Null;
        if let Some(training) = common.training.as_object_mut() {
            training.remove("epochs");
            training.remove("restarts");
        }
        common
    };
    common(&found) == common(metadata)
}

/// Extends a finished run if the plan has more epochs. The schedule of the added epochs starts
/// anew, with a warm-up to the same peak: at the end of the first schedule the rate is nearly 0,
/// and nothing would be learned from there. The optimizer keeps its moments.
///
/// Replaces the checkpoint before anything else, so that a run is extended only once.
fn extend_if_asked(dataset: &Dataset, plan: &mut Plan) -> Result<(), TrainerError> {
    let Some(length) = checkpoint_of(dataset, plan).length()? else {
        return Ok(());
    };
    take_restarts(plan, length.restarts);
    if !length.ended || plan.epochs <= length.epochs {
        return Ok(());
    }
    let epochs = mem::replace(&mut plan.epochs, length.epochs);
    let ended = checkpoint_of(dataset, plan);
    let state = ended.load()?;
    let state = state.ok_or_else(|| ended.refused("it was removed"))?;
    check_net(plan, &state, &plan.metadata(dataset))?;
    plan.epochs = epochs;
    plan.restarts.push(length.epochs);
    // Give the best net so far the metadata of the longer run.
    let net = state.net.map(|net| {
        let (network, found) = Network::from_bytes(&net)
            .map_err(|error| ended.refused(&format!("its net: {error}")))?;
        let metadata = Metadata {
            validation: found.validation,
            ..plan.metadata(dataset)
        };
        Ok::<_, TrainerError>(network.to_bytes(&metadata))
    });
    let net = net.transpose()?;
    checkpoint_of(dataset, plan).save(&state.history, net.as_deref(), &state.record)?;
    tell(format_args!(
        "this run had ended after epoch {}; the learning rate begins anew for {} more",
        length.epochs,
        epochs - length.epochs,
    ));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::rc::Rc;
    use std::sync::atomic::Ordering;

    use crate::batch::filter::{Filter, Selection};
    use crate::testing::{self, SMALL};
    use crate::training::device::Device;
    use crate::training::executor::CpuExecutor;
    use crate::training::plan::ResultShare;
    use crate::training::schedule::Decay;
    use network::CLIP_NORM;

    const EPOCHS: u64 = 3;

    fn plan(dataset: &Dataset, folder: &Path, resume: bool) -> Plan {
        Plan {
            out: folder.join("n.safetensors"),
            architecture: SMALL,
            init: None,
            device: Device::Cpu,
            selection: Selection::new(Filter::NONE, dataset).unwrap(),
            epochs: EPOCHS,
            restarts: Vec::new(),
            batch: 100,
            result_share: ResultShare::NONE,
            loss_exponent: 1.0,
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

    /// Runs `fit` with a signal before the first step; returns the checkpoint's state.
    fn stopped(dataset: &Dataset, plan: &mut Plan) -> Option<State> {
        let stop = StopSignal::default();
        stop.flag().store(true, Ordering::Relaxed);
        let ended = fit::<CpuExecutor>(dataset, plan, &(), &stop);
        assert!(matches!(
            ended,
            Ok(_) | Err(TrainerError::Interrupted { .. })
        ));
        let path = plan.beside(CHECKPOINT);
        let checkpoint = Checkpoint::new(path, plan.metadata(dataset));
        checkpoint.load().unwrap()
    }

    /// A run killed between any two file writes resumes with the net that its checkpoint has as the
    /// best, or with none in either.
    #[test]
    fn a_killed_run_resumes_with_its_best_net() {
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
            let mut plan = plan(&dataset, &path("run"), false);
            fit::<CpuExecutor>(&dataset, &mut plan, &(), &stop).unwrap()
        };
        let summary = files::watched::after_each_file(keep, work);
        // A checkpoint, the metrics and the steps at the start and after each epoch, then the
        // curves, and more than once a net and its golden vectors.
        assert!(kills.get() >= 3 + 4 * EPOCHS + 4, "{}", kills.get());
        let mut epochs = Vec::new();
        for kill in 1..=kills.get() {
            let mut plan = plan(&dataset, &path(&kill.to_string()), true);
            let state = stopped(&dataset, &mut plan).unwrap();
            let best = state.history.best();
            // As the net's file: through JSON text.
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
            let steps = fs::read_to_string(plan.beside(ending::STEPS)).unwrap();
            assert_eq!(steps.lines().count() as u64, state.history.steps);
            assert_eq!(plan.beside(ending::GOLDEN).exists(), best.is_some());
            epochs.push(state.history.epochs.len() as u64);
        }
        assert!(epochs.is_sorted());
        assert_eq!((epochs[0], epochs[epochs.len() - 1]), (0, EPOCHS));
        assert_eq!(summary.epochs, EPOCHS);
    }

    /// A lost net is restored from the checkpoint; a net of another run is not overwritten.
    #[test]
    fn resuming_restores_its_net_and_spares_others() {
        let _turn = testing::turn();
        let place = tempfile::tempdir().unwrap();
        let dataset = testing::dataset_with(place.path(), 1500, 20);
        let mut begun = plan(&dataset, place.path(), false);
        fit::<CpuExecutor>(&dataset, &mut begun, &(), &StopSignal::default()).unwrap();
        let net = fs::read(&begun.out).unwrap();
        fs::remove_file(&begun.out).unwrap();
        let mut again = plan(&dataset, place.path(), true);
        stopped(&dataset, &mut again).unwrap();
        assert!(fs::read(&begun.out).unwrap() == net);

        let other = Network::random(SMALL, 9).to_bytes(&Metadata::new(SMALL, "another"));
        for bytes in [&other[..], b"no net"] {
            fs::write(&begun.out, bytes).unwrap();
            let ended = fit::<CpuExecutor>(&dataset, &mut again, &(), &StopSignal::default());
            let error = ended.err().unwrap();
            assert_eq!(error.exit_code() as u8, 5);
            assert!(
                error.to_string().contains("not a net of the run"),
                "{error}"
            );
            assert!(fs::read(&begun.out).unwrap() == bytes);
        }
    }
}
