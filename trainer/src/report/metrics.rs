//! What a run left in figures beside its net, as it is read again.

use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::TrainerError;
use crate::report::course::Stretch;

/// What is read of an epoch, a line of `NAME.metrics.jsonl`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct EpochLine {
    /// Counted from 1.
    pub epoch: u64,
    /// Mean over its positions.
    pub train_loss: f64,
    /// The figures on held-out games; null if there are none.
    pub validation: Value,
    /// Training alone.
    pub samples_per_second: f64,
    /// Of the training, time in which no batch was ready.
    pub waiting_seconds: f64,
    /// Of the training, the rest.
    pub computing_seconds: f64,
}

impl EpochLine {
    /// A figure on held-out games, at this place in `validation`.
    pub fn held_out(&self, place: &str) -> Option<f64> {
        self.validation.pointer(place)?.as_f64()
    }

    /// How long its training took.
    pub fn seconds(&self) -> f64 {
        self.waiting_seconds + self.computing_seconds
    }

    /// Positions that it trained on.
    pub fn positions(&self) -> u64 {
        (self.samples_per_second * self.seconds()).round() as u64
    }

    /// What the smaller of which is better.
    fn rank(&self) -> Option<f64> {
        self.held_out("/judged")
    }
}

/// The epoch whose net a run keeps: the best by
/// [`judged`](crate::training::validation::Validation::judged), or without held-out games
/// the last.
pub fn best(epochs: &[EpochLine]) -> Option<&EpochLine> {
    let ranked = epochs.iter().filter(|epoch| epoch.rank().is_some());
    let best = ranked.min_by(|a, b| {
        let [a, b] = [a, b].map(|epoch| epoch.rank().unwrap_or(f64::INFINITY));
        a.total_cmp(&b)
    });
    best.or(epochs.last())
}

/// The epochs in `NAME.metrics.jsonl`.
///
/// # Errors
/// [`TrainerError::Unreadable`] or [`TrainerError::NoMetrics`].
pub fn read_epochs(path: &Path) -> Result<Vec<EpochLine>, TrainerError> {
    read_lines(path)
}

/// The steps in `NAME.steps.jsonl`.
///
/// # Errors
/// [`TrainerError::Unreadable`] or [`TrainerError::NoMetrics`].
pub fn read_steps(path: &Path) -> Result<Vec<Stretch>, TrainerError> {
    read_lines(path)
}

fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, TrainerError> {
    let bytes = host::read(path, LARGEST)?;
    // What is no text is no JSON either.
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().enumerate().map(|(index, line)| {
        serde_json::from_str(line).map_err(|error| TrainerError::NoMetrics {
            path: path.to_path_buf(),
            why: format!("line {}: {error}", index + 1),
        })
    });
    lines.collect()
}

/// The largest file that is read, in bytes: far more than any run leaves.
const LARGEST: u64 = 256 << 20;
