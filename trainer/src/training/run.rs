//! A run from its first step to its last: a dataset in, the best net out.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, mem, thread};

use datasets::Dataset;
use host::{Exists, StopSignal, tell};
use models::{Metadata, Network};
use serde::Serialize;
use serde_json::Value;

use crate::error::TrainerError;
use crate::files::{self, ending};
use crate::input::filter::Dropped;
use crate::input::reader::read_epoch;
use crate::net;
use crate::report::live::State as PageState;
use crate::training::artifacts::RunArtifacts;
use crate::training::checkpoint::{Checkpoint, State};
use crate::training::executor::{Executor, Settings};
use crate::training::feed::{Ready, feed};
use crate::training::history::{Epoch, History};
use crate::training::learner::Learner;
use crate::training::live::LivePage;
use crate::training::plan::Plan;
use crate::training::progress::Progress;
use crate::training::regularisation::Regularisation;
use crate::training::validation::{Validation, validate};
use network::CpuModel;

/// Steps between two looks at what they measured: each waits for the device.
pub const LOOK_EVERY: usize = 32;

/// What the name of a checkpoint ends with, in place of the net's `safetensors`.
const CHECKPOINT: &str = "checkpoint";

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
    /// Positions that its filter left out of the training.
    pub left_out: Dropped,
    /// The page with all there is to see.
    pub report: PathBuf,
}

/// Trains a network and keeps the epoch with the smallest winchance on the
/// held-out games; the last, where no game is held out.
///
/// Beside the net `NAME.safetensors` appear `NAME.metrics.jsonl` (one object
/// an epoch), `NAME.steps.jsonl`, `NAME.svg` (the curves), `NAME.golden.json`,
/// `NAME.report.html` (the page of a run that goes on), and `NAME.checkpoint`, from
/// which [`Plan::resume`] goes on.
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

/// A batch on the device and its number of positions, if there is one more.
type Received<E> = Result<Option<(<E as Executor>::Batch, usize)>, TrainerError>;

/// A run between two steps.
struct Run<'a, E: Executor> {
    dataset: &'a Dataset,
    plan: &'a Plan,
    stop: &'a StopSignal,
    learner: Learner<E>,
    artifacts: RunArtifacts<'a>,
    checkpoint: Checkpoint,
    /// When the checkpoint was written.
    saved: Instant,
    /// Until when the history knows the time.
    timed: Instant,
    /// Time of steps that the history does not know of yet: without data, and the
    /// rest.
    untold: [Duration; 2],
    progress: Progress,
    page: LivePage,
}

impl<'a, E: Executor> Run<'a, E> {
    /// Begins a run, or goes on with one.
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
        let (mut history, mut net) = (History::default(), None);
        let resumed = before(&checkpoint, plan, &metadata)?;
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
            saved: now,
            timed: now,
            untold: [Duration::ZERO; 2],
            progress: Progress::new(plan.epochs * samples, done),
            page: LivePage::new(plan, plan.in_words(dataset)),
        };
        if begins {
            // From now on the name of the net belongs to this run.
            run.save()?;
        }
        // Of the checkpoint, whatever was written after it when the program ended.
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
            let filter = plan.selection.filter;
            let batches = read_epoch(scope, dataset, filter, order, plan.batch, done);
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
                // The next batch is sent to the device before this one is
                // waited for.
                next = self.receive(&mut batches)?;
                let sent = Instant::now();
                self.look_if_due()?;
                let computing = (queued - received) + sent.elapsed();
                self.artifacts.history.pass.spend(waiting, computing);
                self.progress.step(samples, waiting, computing);
                self.untold[0] += waiting;
                self.untold[1] += computing;
                (received, waiting) = (Instant::now(), sent - queued);
            }
            self.look()
        })
    }

    /// The batch of the next step, on the device, and its number of positions. `None` at the end
    /// of the epoch.
    fn receive(
        &mut self,
        batches: &mut impl Iterator<Item = Result<Ready<E>, datasets::Error>>,
    ) -> Received<E> {
        let Some((prepared, positions)) = batches.next().transpose()? else {
            return Ok(None);
        };
        Ok(Some((self.learner.executor().send(prepared), positions)))
    }

    /// Looks at what the last steps measured, where it is time to.
    fn look_if_due(&mut self) -> Result<(), TrainerError> {
        let show = self.progress.is_due();
        let page = self.page.is_due();
        if self.saved.elapsed() >= self.plan.checkpoint_every {
            self.save()?;
        } else if show || page || self.learner.unseen() == LOOK_EVERY {
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

    /// Writes the page.
    fn show_page(&mut self, state: PageState) {
        let since = self.timed.elapsed();
        let history = &self.artifacts.history;
        self.page.write(history, &self.progress, state, since);
    }

    /// Takes what the last steps measured into the history.
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
            let time = mem::take(&mut self.untold);
            history.take(good, last, time, self.plan.clip_norm);
        }
        let Some(step) = broken.map(|broken| steps[broken]) else {
            return Ok(());
        };
        let batch = history.pass.samples / self.plan.batch as u64;
        let (loss, norm) = (step.loss, step.gradient_norm);
        Err(match loss.is_finite() {
            false => self.diverged(batch, format!("the loss became {loss}")),
            true => self.diverged(batch, format!("the gradient's length became {norm}")),
        })
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
            let batches = read_epoch(
                scope,
                dataset,
                plan.selection.filter,
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

    /// Measures the net of the epoch, keeps it if it is the best, and begins
    /// the next epoch.
    fn close_epoch(&mut self) -> Result<(), TrainerError> {
        self.check_weights()?;
        let network = net::on_grid(&self.learner.network());
        let network = network.expect("finite weights are kept within what f16 holds");
        let plan = self.plan;
        // Epochs compare by one measure: what the last one aims at.
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
        // The checkpoint first: all else is made from it.
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
        check_free(&plan.out, plan.resume)?;
        if plan.resume {
            let checkpoint = checkpoint.path().display();
            tell(format_args!("no checkpoint {checkpoint}: beginning"));
        }
        return Ok(None);
    };
    check_net(plan, &state, metadata)?;
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

/// Returns whether a run that writes the net `out` has left a checkpoint.
pub fn has_checkpoint(out: &Path) -> bool {
    out.with_extension(CHECKPOINT).exists()
}

/// Checks that the run of `plan` has ended exactly as planned. Writes nothing.
///
/// # Errors
/// [`TrainerError::CheckpointRefused`] if its checkpoint is missing, of another plan, or
/// of a run that has not ended.
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

/// The checkpoint of the run that a plan describes.
fn checkpoint_of(dataset: &Dataset, plan: &Plan) -> Checkpoint {
    Checkpoint::new(plan.beside(CHECKPOINT), plan.metadata(dataset))
}

/// Gives a plan the restarts of its checkpoint. A plan that is shorter than they are is then
/// refused as another run's.
fn take_restarts(plan: &mut Plan, restarts: Vec<u64>) {
    plan.restarts = restarts;
    plan.restarts.retain(|&epoch| epoch < plan.epochs);
}

/// Makes sure that nothing of a run is there yet that is to write the net `out`, unless
/// it goes on from a checkpoint.
///
/// # Errors
/// [`TrainerError::Exists`].
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

/// Makes sure that the net that lies where the run writes its own is its own.
fn check_net(plan: &Plan, state: &State, metadata: &Metadata) -> Result<(), TrainerError> {
    if !plan.out.exists() {
        return Ok(());
    }
    let found = fs::read(&plan.out).map_err(TrainerError::unreadable(&plan.out))?;
    match state.net.is_some() && is_of(&found, metadata) {
        true => Ok(()),
        false => Err(TrainerError::OtherNet {
            path: plan.out.clone(),
            checkpoint: plan.beside(CHECKPOINT),
        }),
    }
}

/// Whether a file is a net of the run that `metadata` describes, of whatever
/// epoch, and of however many that the run was to have.
fn is_of(net: &[u8], metadata: &Metadata) -> bool {
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

/// Makes a run that has ended one that goes on, if the plan asks for more epochs. The
/// schedule of the added ones begins anew, with a warm-up to the same peak: at the end of
/// the first the rate is nearly 0, and nothing would be learned from there. The optimizer
/// keeps its moments.
///
/// The checkpoint is replaced before anything else, so that it can be done once only.
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
    let state = state.ok_or_else(|| ended.refused("it is no longer there"))?;
    check_net(plan, &state, &plan.metadata(dataset))?;
    plan.epochs = epochs;
    plan.restarts.push(length.epochs);
    // The best net so far says of itself what that of the longer run would.
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

    use crate::input::filter::{Filter, Selection};
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

    /// What a signal leaves that comes before the first step: [`TrainerError`] and
    /// the checkpoint.
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
            let mut plan = plan(&dataset, &path("run"), false);
            fit::<CpuExecutor>(&dataset, &mut plan, &(), &stop).unwrap()
        };
        let summary = files::watched::after_each_file(keep, work);
        // At the start and after each epoch a checkpoint, the metrics and the steps, then
        // the curves, and more than once a net and its golden vectors.
        assert!(kills.get() >= 3 + 4 * EPOCHS + 4, "{}", kills.get());
        let mut epochs = Vec::new();
        for kill in 1..=kills.get() {
            let mut plan = plan(&dataset, &path(&kill.to_string()), true);
            let state = stopped(&dataset, &mut plan).unwrap();
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
            let steps = fs::read_to_string(plan.beside(ending::STEPS)).unwrap();
            assert_eq!(steps.lines().count() as u64, state.history.steps);
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
            assert!(error.to_string().contains("no net of the run"), "{error}");
            assert!(fs::read(&begun.out).unwrap() == bytes);
        }
    }
}
