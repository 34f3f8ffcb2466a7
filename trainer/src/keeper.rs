//! What a run leaves beside its net, and the net itself.

use std::path::PathBuf;

use datasets::{Dataset, Split};
use models::{Metadata, Network};
use serde_json::json;

use crate::batch::Batch;
use crate::curves::{self, Point};
use crate::failure::Failure;
use crate::golden;
use crate::history::{Epoch, History};
use crate::model::{Evaluate, Model};
use crate::output::write_whole;
use crate::plan::Plan;

/// Keeps the best net and the record of the run.
pub struct Keeper<'a> {
    plan: &'a Plan,
    metadata: Metadata,
    golden: Option<Batch>,
    /// The run so far.
    pub history: History,
}

impl<'a> Keeper<'a> {
    /// Writes the metrics of the run so far, so that an --out that cannot be
    /// written is known before the training rather than after.
    ///
    /// # Errors
    /// [`Failure::Unwritable`] or [`Failure::Data`].
    pub fn new(
        dataset: &Dataset,
        plan: &'a Plan,
        metadata: Metadata,
        history: History,
    ) -> Result<Keeper<'a>, Failure> {
        let keeper = Keeper {
            plan,
            metadata,
            golden: golden_batch(dataset)?,
            history,
        };
        keeper.write_metrics()?;
        Ok(keeper)
    }

    /// Takes in an epoch that has ended. Returns whether its net is the best so
    /// far, and was written.
    ///
    /// # Errors
    /// [`Failure::Unwritable`].
    pub fn take<B: Evaluate>(
        &mut self,
        epoch: Epoch,
        network: &Network,
        model: &Model<B>,
        device: &B::Device,
    ) -> Result<bool, Failure> {
        let better = self.history.close(epoch);
        if better {
            self.write_net(&epoch, network)?;
            self.write_golden(model, device)?;
        }
        self.write_metrics()?;
        self.write_curves(&epoch)?;
        Ok(better)
    }

    fn beside(&self, extension: &str) -> PathBuf {
        self.plan.beside(extension)
    }

    fn write_net(&mut self, epoch: &Epoch, network: &Network) -> Result<(), Failure> {
        self.metadata.validation = json!({ "epoch": epoch.epoch, "figures": epoch.validation });
        write_whole(&self.plan.out, &network.to_bytes(&self.metadata))
    }

    fn write_golden<B: Evaluate>(
        &self,
        model: &Model<B>,
        device: &B::Device,
    ) -> Result<(), Failure> {
        let Some(batch) = &self.golden else {
            return Ok(());
        };
        let vectors = golden::vectors(model, batch, device);
        let text = serde_json::to_string_pretty(&vectors).expect("numbers and names");
        write_whole(&self.beside("golden.json"), text.as_bytes())
    }

    fn write_metrics(&self) -> Result<(), Failure> {
        let lines = self.history.epochs.iter().map(|epoch| {
            let line = serde_json::to_string(epoch).expect("numbers and names");
            line + "\n"
        });
        let text: String = lines.collect();
        write_whole(&self.beside("metrics.jsonl"), text.as_bytes())
    }

    fn write_curves(&self, epoch: &Epoch) -> Result<(), Failure> {
        let points = self.history.epochs.iter().map(|epoch| Point {
            epoch: epoch.epoch,
            train: epoch.train_loss,
            validation: epoch.validation.map(|v| v.loss),
        });
        let points: Vec<Point> = points.collect();
        let material = epoch.validation.map(|v| v.material_loss);
        let best = self.history.best().map_or(0, |best| best.epoch);
        let svg = curves::svg(&points, material, best);
        write_whole(&self.beside("svg"), svg.as_bytes())
    }
}

/// The positions of the golden vectors: from the held-out games, the same in
/// every run. `None` if no game is held out.
fn golden_batch(dataset: &Dataset) -> Result<Option<Batch>, Failure> {
    let block = dataset
        .shuffled(Split::Validation, 0, 0)?
        .next()
        .transpose()?;
    Ok(block.map(|mut records| {
        records.truncate(golden::POSITIONS);
        Batch::new(records)
    }))
}
