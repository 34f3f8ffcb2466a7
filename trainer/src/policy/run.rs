//! Run of a policy: epochs, checkpoints, and the choice of the best.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use datasets::{Dataset, MoveRecord};
use host::{StopSignal, rate, tell};
use models::{PolicyMetadata, PolicyNetwork};
use network::{PolicySamples, PolicyTrainer, Settings};
use serde::{Deserialize, Serialize};

use crate::batch::reader::read_epoch;
use crate::error::TrainerError;
use crate::files::{self, ending};
use crate::net::policy_on_grid;
use crate::policy::baseline::TrainingMoves;
use crate::policy::figures::{PolicyReport, measure};
use crate::policy::plan::PolicyPlan;
use crate::policy::{golden, picture};
use crate::training::checkpoint::Checkpoint;
use crate::training::feed::prepared;
use crate::training::progress::Progress;
use crate::training::run::{CHECKPOINT, check_free};

/// Metrics of a finished epoch, a line of `NAME.metrics.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyEpoch {
    /// Number of the epoch, counted from 1.
    pub epoch: u64,
    /// Mean cross-entropy over its moves, before each batch's update.
    pub train_loss: f64,
    /// Figures on the held-out moves; `None` without any.
    pub report: Option<PolicyReport>,
    /// Training moves a second, validation excluded.
    pub moves_per_second: f64,
}

/// State of a run except its weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct History {
    /// Number of steps taken in all epochs.
    steps: u64,
    /// Finished epochs.
    epochs: Vec<PolicyEpoch>,
    /// Moves of the current epoch trained on.
    moves: u64,
    /// Sum of their losses.
    loss: f64,
    /// Training time of the current epoch in seconds.
    seconds: f64,
}

impl History {
    /// Returns the epoch with the best policy: the least log-loss on the held-out moves, or,
    /// without any, the last.
    fn best(&self) -> Option<&PolicyEpoch> {
        let loss = |epoch: &PolicyEpoch| Some(epoch.report.as_ref()?.all.log_loss);
        let ranked = self
            .epochs
            .iter()
            .filter_map(|epoch| Some((epoch, loss(epoch)?)));
        let best = ranked.min_by(|(_, a), (_, b)| a.total_cmp(b));
        best.map(|(epoch, _)| epoch).or(self.epochs.last())
    }

    fn epoch(&self) -> u64 {
        self.epochs.len() as u64 + 1
    }
}

/// Result of a run.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Path of the written policy.
    pub net: std::path::PathBuf,
    /// Number of epochs.
    pub epochs: u64,
    /// Metrics of the epoch whose policy was written.
    pub best: PolicyEpoch,
}

/// Trains a policy, and keeps that of the epoch with the least log-loss on the held-out moves.
///
/// Beside the policy `NAME.safetensors`, writes `NAME.metrics.jsonl` (one object an epoch),
/// `NAME.svg` (the curve, and the moves foretold), `NAME.golden.json`, and `NAME.checkpoint`, from
/// which [`PolicyPlan::resume`] resumes.
///
/// # Errors
/// [`TrainerError`]; a policy that was written before stays.
pub fn fit(
    dataset: &Dataset<MoveRecord>,
    plan: &PolicyPlan,
    stop: &StopSignal,
) -> Result<Summary, TrainerError> {
    let mut run = Run::begin(dataset, plan, stop)?;
    if run.history.epoch() <= plan.epochs {
        run.progress.line(&plan.in_words(dataset));
    }
    while run.history.epoch() <= plan.epochs {
        run.train_epoch()?;
        run.close_epoch()?;
    }
    let best = run.history.best().expect("at least one epoch was run");
    Ok(Summary {
        net: plan.out.clone(),
        epochs: plan.epochs,
        best: best.clone(),
    })
}

struct Run<'a> {
    dataset: &'a Dataset<MoveRecord>,
    plan: &'a PolicyPlan,
    stop: &'a StopSignal,
    training: TrainingMoves,
    metadata: PolicyMetadata,
    golden: Vec<MoveRecord>,
    trainer: PolicyTrainer,
    history: History,
    /// Bytes of the best policy so far.
    net: Option<Vec<u8>>,
    checkpoint: Checkpoint<PolicyMetadata, History>,
    /// Time of the last checkpoint.
    checkpoint_at: Instant,
    progress: Progress,
}

impl<'a> Run<'a> {
    /// Begins or resumes a run.
    fn begin(
        dataset: &'a Dataset<MoveRecord>,
        plan: &'a PolicyPlan,
        stop: &'a StopSignal,
    ) -> Result<Run<'a>, TrainerError> {
        check_free(&plan.out, plan.resume)?;
        let training = TrainingMoves::count(dataset)?;
        let metadata = plan.metadata(dataset, &training.by_band);
        let checkpoint = Checkpoint::new(plan.beside(CHECKPOINT), metadata.clone());
        let settings = Settings {
            batch: plan.batch,
            weight_decay: plan.weight_decay,
            clip_norm: plan.clip_norm,
            loss_exponent: 1.0,
        };
        let start = PolicyNetwork::untrained(plan.neurons, plan.seed);
        let mut trainer = PolicyTrainer::new(&start, settings);
        let (mut history, mut net) = (History::default(), None);
        let resumed = match plan.resume {
            true => checkpoint.load()?,
            false => None,
        };
        let begins = resumed.is_none();
        if let Some(state) = resumed {
            trainer
                .restore(state.record)
                .map_err(|error| checkpoint.refused(&format!("its weights: {error}")))?;
            (history, net) = (state.history, state.net);
            tell(match history.epoch() > plan.epochs {
                true => format!("this run has ended already, after {} epochs", plan.epochs),
                false => format!(
                    "going on in epoch {} after {} moves",
                    history.epoch(),
                    host::thousands(history.moves)
                ),
            });
        } else if plan.resume {
            let checkpoint = checkpoint.path().display();
            tell(format_args!("no checkpoint {checkpoint}: starting anew"));
        }
        let done = history.epochs.len() as u64 * plan.moves + history.moves;
        let mut run = Run {
            dataset,
            plan,
            stop,
            training,
            metadata,
            golden: golden::moves(dataset)?,
            trainer,
            history,
            net,
            checkpoint,
            checkpoint_at: Instant::now(),
            progress: Progress::new(plan.epochs * plan.moves, done),
        };
        if begins {
            // From now on, the name of the net belongs to this run.
            run.save()?;
        }
        // Bring the files to the state of the checkpoint: some may have been written after it.
        run.write_files()?;
        Ok(run)
    }

    /// Trains on the rest of the epoch's moves.
    fn train_epoch(&mut self) -> Result<(), TrainerError> {
        let (dataset, plan) = (self.dataset, self.plan);
        let order = (plan.seed, self.history.epoch());
        let done = self.history.moves.div_ceil(plan.batch as u64);
        let schedule = plan.schedule();
        thread::scope(|scope| {
            let batches = read_epoch(scope, dataset, None, order, plan.batch, done);
            let prepare = |_, records: Vec<MoveRecord>| {
                (Arc::new(PolicySamples::new(&records)), records.len())
            };
            let mut batches = prepared(scope, batches, prepare);
            loop {
                let began = Instant::now();
                let Some((batch, moves)) = batches.next().transpose()? else {
                    return Ok(());
                };
                if self.stop.is_asked() {
                    self.save()?;
                    return Err(TrainerError::Interrupted {
                        checkpoint: self.checkpoint.path().to_path_buf(),
                        exit_code: self.stop.exit_code(),
                    });
                }
                let waiting = began.elapsed();
                let rate = schedule.rate(self.history.steps);
                let step = self.trainer.learn(&batch, rate);
                let computing = began.elapsed() - waiting;
                if !(step.loss.is_finite() && step.gradient_norm.is_finite()) {
                    return Err(self.diverged(format!("the loss became {}", step.loss)));
                }
                self.count(step.loss, moves, waiting, computing);
                if self.checkpoint_at.elapsed() >= plan.checkpoint_every {
                    self.save()?;
                }
                if self.progress.is_due() {
                    let loss = self.history.loss / self.history.moves as f64;
                    self.progress.show(self.history.epoch(), loss, rate);
                }
            }
        })
    }

    /// Adds a step to the history.
    fn count(&mut self, loss: f32, moves: usize, waiting: Duration, computing: Duration) {
        self.history.steps += 1;
        self.history.moves += moves as u64;
        self.history.loss += f64::from(loss) * moves as f64;
        self.history.seconds += (waiting + computing).as_secs_f64();
        self.progress.step(moves, waiting, computing);
    }

    /// Returns the error of a step whose numbers are not finite. Writes its batch beside the net.
    fn diverged(&self, what: String) -> TrainerError {
        let (dataset, plan) = (self.dataset, self.plan);
        let order = (plan.seed, self.history.epoch());
        let step = self.history.moves.div_ceil(plan.batch as u64);
        let batch = plan.beside("diverged.txt");
        let text = thread::scope(|scope| {
            let batches = read_epoch(scope, dataset, None, order, plan.batch, step);
            let records = batches.recv().into_iter().flatten().flatten();
            records
                .map(|record: MoveRecord| format!("{record:?}\n"))
                .collect::<String>()
        });
        match files::write(&batch, text.as_bytes()) {
            Err(error) => error,
            Ok(()) => TrainerError::Diverged {
                what,
                epoch: self.history.epoch(),
                step: step + 1,
                batch,
            },
        }
    }

    /// Measures the epoch's policy, keeps it if it is the best, and begins the next epoch.
    fn close_epoch(&mut self) -> Result<(), TrainerError> {
        if !self.trainer.is_finite() {
            return Err(self.diverged("a weight became infinite or NaN".to_string()));
        }
        let network = policy_on_grid(self.trainer.network());
        let report = measure(&network, self.dataset, &self.training)?;
        let history = &mut self.history;
        let epoch = PolicyEpoch {
            epoch: history.epoch(),
            train_loss: history.loss / history.moves as f64,
            report,
            moves_per_second: history.moves as f64 / history.seconds,
        };
        history.epochs.push(epoch.clone());
        (history.moves, history.loss, history.seconds) = (0, 0.0, 0.0);
        let kept = history.best() == Some(&epoch);
        if kept {
            let mut metadata = self.metadata.clone();
            metadata.validation = serde_json::to_value(&epoch.report).expect("plain JSON");
            self.net = Some(network.to_bytes(&metadata));
        }
        self.progress.line(&epoch.line(self.plan.epochs, kept));
        // The checkpoint first: all other files are derived from it.
        self.save()?;
        self.write_files()
    }

    fn refused(&self) -> impl Fn(models::NetError) -> TrainerError + use<> {
        let path = self.plan.out.clone();
        move |error| TrainerError::NetRefused {
            path: path.clone(),
            error,
        }
    }

    /// Writes the best policy so far and what belongs to it, after the first epoch.
    fn write_files(&self) -> Result<(), TrainerError> {
        let Some(bytes) = &self.net else {
            return Ok(());
        };
        let plan = self.plan;
        files::write(&plan.out, bytes)?;
        let (network, _) = PolicyNetwork::from_bytes(bytes).map_err(self.refused())?;
        let vectors = golden::vectors(&network, &self.golden);
        let text = serde_json::to_string_pretty(&vectors).expect("numbers and names");
        files::write(&plan.beside(ending::GOLDEN), text.as_bytes())?;
        let epochs = &self.history.epochs;
        let lines = epochs.iter().map(|epoch| {
            let line = serde_json::to_string(epoch).expect("numbers and names");
            line + "\n"
        });
        let lines: String = lines.collect();
        files::write(&plan.beside(ending::METRICS), lines.as_bytes())?;
        let best = self.history.best().and_then(|best| best.report.as_ref());
        let svg = picture::svg(epochs, best);
        files::write(&plan.beside(ending::CURVES), svg.as_bytes())
    }

    /// Writes the checkpoint.
    fn save(&mut self) -> Result<(), TrainerError> {
        let record = self.trainer.record();
        self.checkpoint
            .save(&self.history, self.net.as_deref(), &record)?;
        self.checkpoint_at = Instant::now();
        Ok(())
    }
}

impl PolicyEpoch {
    /// Formats the epoch as a line of progress; `kept` marks the best policy so far.
    fn line(&self, epochs: u64, kept: bool) -> String {
        let held_out = self.report.as_ref();
        let held_out = held_out.map(|report| format!("; {}", report.all.in_words()));
        format!(
            "epoch {}/{epochs}: training log-loss {:.3}{}; {} moves/s{}",
            self.epoch,
            self.train_loss,
            held_out.unwrap_or_default(),
            rate(self.moves_per_second),
            if kept { "; kept" } else { "" }
        )
    }
}
