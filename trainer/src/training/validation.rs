//! Validation: figures of a net on the held-out games.

use datasets::{Dataset, Split};
use models::Network;

use crate::error::TrainerError;
use crate::report::figures::ErrorSums;
use crate::report::metrics::Validation;
use network::Aim;
use network::Evaluator;
use network::target::win_chance;

/// Evaluates a network on every held-out position, with the training loss by `exponent` and `aim`.
/// `None` without held-out positions.
///
/// Runs on the CPU with the network as its file holds it, independent of the training device, so
/// that the figures equal those of `trainer eval` to the last digit.
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
    let mut sums = ErrorSums::default();
    let (mut count, mut loss, mut material_loss) = (0u64, 0.0, 0.0);
    for block in dataset.blocks(Split::Validation)? {
        let records = block?;
        for (record, value) in records.iter().zip(evaluator.values(&records)) {
            sums.add(record, value);
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
            material_loss += distance(features::material(record));
        }
    }
    let mean = |sum: f64| sum / count as f64;
    let report = sums.report();
    let figures = report.all;
    let by_labels = figures.net.winchance.filter(|_| aim == Aim::LABEL);
    Ok((count > 0).then(|| Validation {
        judged: by_labels.unwrap_or(mean(loss)),
        loss: mean(loss),
        material_loss: mean(material_loss),
        quiet_winchance: report.by_kind[0].comparison.net.winchance,
        figures,
    }))
}
