//! How good a net is on the held-out games.

use datasets::{Dataset, Split};
use models::Network;
use serde::{Deserialize, Serialize};

use crate::error::TrainerError;
use crate::input::position;
use crate::report::figures::{Comparison, ErrorSums};
use network::Aim;
use network::Evaluator;
use network::target::win_chance;

/// Figures on the validation side of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Validation {
    /// What the smaller of which is better: the error in win chance, mates left out, or
    /// where results count too, the loss.
    pub judged: f64,
    /// The training loss here, as the end of the run aims: mates count too.
    pub loss: f64,
    /// The material balance by the same measure.
    pub material_loss: f64,
    /// The named figures: mates are left out.
    #[serde(flatten)]
    pub figures: Comparison,
}

/// Evaluates a network on every held-out position. `None` if there is none. The loss is
/// that of training by `exponent` and `aim`.
///
/// It is done on the processor, with the network as its file has it, wherever it
/// was trained: so the figures are those that `trainer eval` finds, to the last
/// digit.
///
/// # Errors
/// [`TrainerError::Data`] if the dataset cannot be read.
pub fn validate(
    network: &Network,
    dataset: &Dataset,
    exponent: f64,
    aim: Aim,
) -> Result<Option<Validation>, TrainerError> {
    let evaluator = Evaluator::new(network);
    let mut tally = ErrorSums::default();
    let (mut count, mut loss, mut material_loss) = (0u64, 0.0, 0.0);
    for block in dataset.blocks(Split::Validation)? {
        let records = block?;
        for (record, value) in records.iter().zip(evaluator.values(&records)) {
            tally.add(record, value);
            let target = aim.target(record);
            let distance = |pawns: f32| {
                let distance = f64::from((win_chance(pawns) - target).abs());
                match exponent {
                    1.0 => distance,
                    _ => distance.powf(exponent),
                }
            };
            count += 1;
            loss += distance(value);
            material_loss += distance(position::material(record));
        }
    }
    let mean = |sum: f64| sum / count as f64;
    let figures = tally.report().all;
    let by_labels = figures.net.winchance.filter(|_| aim == Aim::LABEL);
    Ok((count > 0).then(|| Validation {
        judged: by_labels.unwrap_or(mean(loss)),
        loss: mean(loss),
        material_loss: mean(material_loss),
        figures,
    }))
}
