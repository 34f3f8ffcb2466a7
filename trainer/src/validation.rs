//! How good a net is on the held-out games.

use std::thread;

use datasets::{Dataset, Split};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::figures::{Comparison, Tally};
use crate::model::{Evaluate, Model};
use crate::position;
use crate::reader::read_epoch;
use crate::target::win_chance;

/// Figures on the validation side of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Validation {
    /// The training loss here: mates count too.
    pub loss: f64,
    /// The material balance by the same measure.
    pub material_loss: f64,
    /// The named figures: mates are left out.
    #[serde(flatten)]
    pub figures: Comparison,
}

/// Evaluates a model on every held-out position. `None` if there is none.
///
/// # Errors
/// [`Failure::Data`] if the dataset cannot be read.
pub fn validate<B: Evaluate>(
    model: &Model<B>,
    dataset: &Dataset,
    batch_size: usize,
    device: &B::Device,
) -> Result<Option<Validation>, Failure> {
    let mut tally = Tally::default();
    let (mut count, mut loss, mut material_loss) = (0u64, 0.0, 0.0);
    thread::scope(|scope| -> Result<(), Failure> {
        for batch in read_epoch(scope, dataset, Split::Validation, (0, 0), batch_size, 0) {
            let batch = batch?;
            for (record, value) in batch.records.iter().zip(model.values(&batch, device)) {
                tally.add(record, value);
                let target = win_chance(position::label(record));
                let distance = |pawns: f32| f64::from((win_chance(pawns) - target).abs());
                count += 1;
                loss += distance(value);
                material_loss += distance(position::material(record));
            }
        }
        Ok(())
    })?;
    let mean = |sum: f64| sum / count as f64;
    Ok((count > 0).then(|| Validation {
        loss: mean(loss),
        material_loss: mean(material_loss),
        figures: tally.report().all,
    }))
}
