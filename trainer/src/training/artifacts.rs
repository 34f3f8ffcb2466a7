//! A run's output files: the best net, golden vectors, metrics and curves.

use datasets::{Dataset, Record, Split};
use models::{Metadata, Network};
use serde::Serialize;
use serde_json::json;

use crate::error::TrainerError;
use crate::files::{self, ending};
use crate::report::curves;
use crate::report::metrics::Epoch;
use crate::training::golden;
use crate::training::history::RunHistory;
use crate::training::plan::Plan;
use network::CpuModel;

/// The best net and the history of a run, and writers of the files made from them.
pub struct RunArtifacts<'a> {
    plan: &'a Plan,
    metadata: Metadata,
    golden: Option<Vec<Record>>,
    /// History of the run so far.
    pub history: RunHistory,
    /// Bytes of the best net so far.
    net: Option<Vec<u8>>,
}

impl<'a> RunArtifacts<'a> {
    /// Returns the artifacts of a new or resumed run.
    pub fn new(
        dataset: &Dataset,
        plan: &'a Plan,
        metadata: Metadata,
        history: RunHistory,
        net: Option<Vec<u8>>,
    ) -> Result<RunArtifacts<'a>, TrainerError> {
        Ok(RunArtifacts {
            plan,
            metadata,
            golden: golden_batch(dataset)?,
            history,
            net,
        })
    }

    /// Adds a finished epoch and its net. Returns whether the net is the best so far.
    pub fn take(&mut self, epoch: Epoch, network: &Network) -> bool {
        let better = self.history.close(epoch);
        if better {
            self.metadata.validation = json!({ "epoch": epoch.epoch, "figures": epoch.validation });
            self.net = Some(network.to_bytes(&self.metadata));
        }
        better
    }

    /// Returns the bytes of the best net so far; `None` before the first epoch has ended.
    pub fn net(&self) -> Option<&[u8]> {
        self.net.as_deref()
    }

    /// Writes the best net so far, and its golden vectors.
    ///
    /// # Errors
    /// [`TrainerError::Unwritable`], or [`TrainerError::NetRefused`] if a trainer with another kind
    /// of net made it.
    pub fn write_net(&self) -> Result<(), TrainerError> {
        let Some(bytes) = &self.net else {
            return Ok(());
        };
        files::write(&self.plan.out, bytes)?;
        let Some(records) = &self.golden else {
            return Ok(());
        };
        let (network, _) =
            Network::from_bytes(bytes).map_err(|error| TrainerError::NetRefused {
                path: self.plan.out.clone(),
                error,
            })?;
        let model = CpuModel::new(&network);
        let vectors = golden::vectors(&model, records);
        let text = serde_json::to_string_pretty(&vectors).expect("numbers and names");
        files::write(&self.plan.beside(ending::GOLDEN), text.as_bytes())
    }

    /// Writes the metrics of epochs and steps so far, and the curves.
    pub fn write_course(&self) -> Result<(), TrainerError> {
        let RunHistory { epochs, course, .. } = &self.history;
        files::write(&self.plan.beside(ending::METRICS), lines(epochs).as_bytes())?;
        let steps = lines(course.stretches());
        files::write(&self.plan.beside(ending::STEPS), steps.as_bytes())?;
        let Some(best) = self.history.best() else {
            return Ok(());
        };
        let svg = curves::svg(epochs, best.epoch);
        files::write(&self.plan.beside(ending::CURVES), svg.as_bytes())
    }
}

/// Formats each value as a line of JSON.
fn lines(values: &[impl Serialize]) -> String {
    let lines = values.iter().map(|value| {
        let line = serde_json::to_string(value).expect("numbers and names");
        line + "\n"
    });
    lines.collect()
}

/// Returns the positions of the golden vectors, from the held-out games, the same in every run.
/// `None` without held-out games.
fn golden_batch(dataset: &Dataset) -> Result<Option<Vec<Record>>, TrainerError> {
    let block = dataset
        .shuffled(Split::Validation, 0, 0)?
        .next()
        .transpose()?;
    Ok(block.map(|mut records| {
        records.truncate(golden::POSITIONS);
        records
    }))
}
