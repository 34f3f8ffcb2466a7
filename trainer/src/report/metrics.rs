//! Reader of the metrics files of runs.

use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::TrainerError;
use crate::report::course::Stretch;

/// Metrics of an epoch, a line of `NAME.metrics.jsonl`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct EpochLine {
    /// Number of the epoch, counted from 1.
    pub epoch: u64,
    /// Mean training loss over its positions.
    pub train_loss: f64,
    /// Figures on held-out games; null without any.
    pub validation: Value,
    /// Training positions a second, validation excluded.
    pub samples_per_second: f64,
    /// Training time spent waiting for batches.
    pub waiting_seconds: f64,
    /// Rest of the training time.
    pub computing_seconds: f64,
}

impl EpochLine {
    /// Returns the figure on held-out games at the JSON pointer `place` in `validation`.
    pub fn held_out(&self, place: &str) -> Option<f64> {
        self.validation.pointer(place)?.as_f64()
    }

    /// Returns the training time in seconds.
    pub fn seconds(&self) -> f64 {
        self.waiting_seconds + self.computing_seconds
    }

    /// Returns the number of training positions.
    pub fn positions(&self) -> u64 {
        (self.samples_per_second * self.seconds()).round() as u64
    }

    /// Returns the figure that ranks nets, smaller being better.
    fn rank(&self) -> Option<f64> {
        self.held_out("/judged")
    }
}

/// Returns the epoch with the net that a run keeps: the best by
/// [`judged`](crate::training::validation::Validation::judged), or, without held-out games, the
/// last.
pub fn best(epochs: &[EpochLine]) -> Option<&EpochLine> {
    let ranked = epochs.iter().filter(|epoch| epoch.rank().is_some());
    let best = ranked.min_by(|a, b| {
        let [a, b] = [a, b].map(|epoch| epoch.rank().unwrap_or(f64::INFINITY));
        a.total_cmp(&b)
    });
    best.or(epochs.last())
}

/// Reads the epochs in `NAME.metrics.jsonl`.
pub fn read_epochs(path: &Path) -> Result<Vec<EpochLine>, TrainerError> {
    read_lines(path)
}

/// Reads the steps in `NAME.steps.jsonl`.
pub fn read_steps(path: &Path) -> Result<Vec<Stretch>, TrainerError> {
    read_lines(path)
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
