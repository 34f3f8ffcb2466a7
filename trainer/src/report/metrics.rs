//! Metrics of a run's epochs and steps, and the reader of the metrics files.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::TrainerError;
use crate::report::figures::NetAndMaterial;

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
    /// Error in win chance on quiet positions, without mates; `None` without any, and in metrics of
    /// earlier versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quiet_winchance: Option<f64>,
    /// Named figures, without mates.
    #[serde(flatten)]
    pub figures: NetAndMaterial,
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

/// Returns the loss of the material balance on the held-out games; `None` before the first
/// validation.
pub fn material(epochs: &[Epoch]) -> Option<f64> {
    let last = epochs.last()?;
    last.validation.map(|v| v.material_loss)
}

/// Aggregated metrics of consecutive steps: a line of `NAME.steps.jsonl`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stretch {
    /// Number of the last step in the run, counted from 1.
    pub step: u64,
    /// Number of steps.
    pub steps: u64,
    /// Positions trained on.
    pub positions: u64,
    /// Mean loss over the positions, before each batch's update.
    pub train_loss: f64,
    /// Mean gradient norm of the steps, before clipping.
    pub gradient_norm: f64,
    /// Learning rate of the last step.
    pub learning_rate: f64,
    /// Time spent waiting for batches.
    pub waiting_seconds: f64,
    /// Rest of the time.
    pub computing_seconds: f64,
}

impl Stretch {
    /// Merges this stretch with the next one.
    pub fn with(self, next: Stretch) -> Stretch {
        let mean = |(a, weight_a): (f64, u64), (b, weight_b): (f64, u64)| {
            (a * weight_a as f64 + b * weight_b as f64) / (weight_a + weight_b) as f64
        };
        Stretch {
            step: next.step,
            steps: self.steps + next.steps,
            positions: self.positions + next.positions,
            train_loss: mean(
                (self.train_loss, self.positions),
                (next.train_loss, next.positions),
            ),
            gradient_norm: mean(
                (self.gradient_norm, self.steps),
                (next.gradient_norm, next.steps),
            ),
            learning_rate: next.learning_rate,
            waiting_seconds: self.waiting_seconds + next.waiting_seconds,
            computing_seconds: self.computing_seconds + next.computing_seconds,
        }
    }

    /// Merges consecutive stretches; `None` without any.
    pub fn joined(stretches: &[Stretch]) -> Option<Stretch> {
        stretches.iter().copied().reduce(Stretch::with)
    }

    /// Returns the training time in seconds.
    pub fn seconds(&self) -> f64 {
        self.waiting_seconds + self.computing_seconds
    }

    /// Returns the positions a second; not finite without any time.
    pub fn positions_per_second(&self) -> f64 {
        self.positions as f64 / self.seconds()
    }

    /// Returns the share of time spent waiting for data, in per cent; not finite without any time.
    pub fn waiting_percent(&self) -> f64 {
        100.0 * self.waiting_seconds / self.seconds()
    }
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

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::report::figures::ErrorSums;

    /// Returns the metrics of an epoch of `positions` positions, with these losses.
    pub fn epoch(epoch: u64, positions: u64, train_loss: f64, held_out: Option<f64>) -> Epoch {
        let validation = held_out.map(|loss| Validation {
            judged: loss,
            loss,
            material_loss: 0.4,
            quiet_winchance: None,
            figures: ErrorSums::default().report().all,
        });
        Epoch {
            epoch,
            learning_rate: 1e-3,
            train_loss,
            clipped_steps: 0,
            validation,
            samples_per_second: positions as f64,
            waiting_seconds: 0.25,
            computing_seconds: 0.75,
        }
    }
}
