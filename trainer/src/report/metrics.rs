//! Metrics of a run's epochs, and the reader of the metrics files.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::TrainerError;
use crate::report::course::Stretch;
use crate::report::curves::Point;
use crate::report::figures::Comparison;

/// Figures on the validation split of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Validation {
    /// Figure that ranks nets, smaller being better: the error in win chance without mates, or, if
    /// results count in the target, the loss.
    pub judged: f64,
    /// Mean training loss against the target at the end of the run; mates count.
    pub loss: f64,
    /// Same loss of the material balance.
    pub material_loss: f64,
    /// Error in win chance on quiet positions, without mates; `None` without any.
    pub quiet_winchance: Option<f64>,
    /// Named figures, without mates.
    #[serde(flatten)]
    pub figures: Comparison,
}

/// Metrics of a finished epoch, a line of `NAME.metrics.jsonl`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// Number of the epoch, counted from 1.
    pub epoch: u64,
    /// Learning rate of its first step.
    pub learning_rate: f64,
    /// Mean loss over its positions, before each batch's update.
    pub train_loss: f64,
    /// Number of steps with clipped gradients.
    pub clipped_steps: u64,
    /// Figures of the rounded net on the held-out games; `None` without any.
    pub validation: Option<Validation>,
    /// Training positions a second, validation excluded.
    pub samples_per_second: f64,
    /// Training time spent waiting for batches.
    pub waiting_seconds: f64,
    /// Rest of the training time.
    pub computing_seconds: f64,
}

impl Epoch {
    /// Returns the training time in seconds.
    pub fn seconds(&self) -> f64 {
        self.waiting_seconds + self.computing_seconds
    }

    /// Returns the number of training positions.
    pub fn positions(&self) -> u64 {
        (self.samples_per_second * self.seconds()).round() as u64
    }

    /// Formats the epoch as a line of progress; `kept` marks the best net so far.
    pub fn line(&self, epochs: u64, kept: bool) -> String {
        let held_out = self.validation.map(|v| {
            let net = v.figures.net;
            let show = |x: Option<f64>| x.map_or("-".to_string(), |x| format!("{x:.4}"));
            format!(
                "; held-out games: loss {:.4}, winchance {} (quiet {}), clamp10 {}, sign accuracy {}",
                v.loss,
                show(net.winchance),
                show(v.quiet_winchance),
                show(net.clamp10),
                show(net.sign_accuracy)
            )
        });
        let clipped = match self.clipped_steps {
            0 => String::new(),
            steps => format!("; {} gradients clipped", host::thousands(steps)),
        };
        format!(
            "epoch {}/{epochs}: training loss {:.4}{}; {} samples/s, {:.0} % of the time \
             waiting for data{clipped}{}",
            self.epoch,
            self.train_loss,
            held_out.unwrap_or_default(),
            host::rate(self.samples_per_second),
            100.0 * self.waiting_seconds / self.seconds(),
            if kept { "; kept" } else { "" }
        )
    }
}

/// Returns the epoch with the net that a run keeps: the best by [`Validation::judged`], or, without
/// held-out games, the last.
pub fn best(epochs: &[Epoch]) -> Option<&Epoch> {
    let ranked = epochs
        .iter()
        .filter_map(|epoch| Some((epoch, epoch.validation?.judged)));
    let best = ranked.min_by(|(_, a), (_, b)| a.total_cmp(b));
    best.map(|(epoch, _)| epoch).or(epochs.last())
}

/// Returns the epochs as points of the loss curves.
pub fn points(epochs: &[Epoch]) -> Vec<Point> {
    let mut positions = 0;
    let points = epochs.iter().map(|epoch| {
        positions += epoch.positions();
        Point {
            epoch: epoch.epoch,
            positions,
            train: epoch.train_loss,
            validation: epoch.validation.map(|v| v.loss),
        }
    });
    points.collect()
}

/// Reads the epochs in `NAME.metrics.jsonl`.
pub fn read_epochs(path: &Path) -> Result<Vec<Epoch>, TrainerError> {
    read_lines(path)
}

/// Reads the steps in `NAME.steps.jsonl`; empty if they were not recorded.
pub fn read_steps(path: &Path) -> Result<Vec<Stretch>, TrainerError> {
    match path.exists() {
        true => read_lines(path),
        false => Ok(Vec::new()),
    }
}

fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, TrainerError> {
    let bytes = host::read(path, LARGEST)?;
    // Invalid UTF-8 is invalid JSON too.
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().enumerate().map(|(index, line)| {
        serde_json::from_str(line).map_err(|error| TrainerError::NoMetrics {
            path: path.to_path_buf(),
            why: format!("line {}: {error}", index + 1),
        })
    });
    lines.collect()
}

/// Size limit of metrics files, in bytes: far above those of any run.
const LARGEST: u64 = 256 << 20;
