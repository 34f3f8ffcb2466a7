//! Measurement of a net against labels, beside material, and of its quantisation error.

use std::path::{Path, PathBuf};

use datasets::{Dataset, Record, Split, read_labelled};
use models::{Feature, Network};
use rayon::prelude::*;
use serde::Serialize;

use crate::error::TrainerError;
use crate::files::names;
use crate::report::boards::{Mistake, Worst};
use crate::report::calibration::{Calibration, CalibrationTally};
use crate::report::figures::{ErrorSums, Report};
use crate::report::integers::{Integers, IntegersTally};
use crate::report::scaled::Scaled;
use network::Evaluator;

/// PGN positions evaluated together.
const BLOCK: usize = 8192;

/// Measurements of a net on a set of positions.
#[derive(Debug, Serialize)]
pub struct Measurement {
    /// Figures against the labels, beside material.
    #[serde(flatten)]
    pub report: Report,
    /// Calibration of the predicted win chances.
    pub calibration: Calibration,
    /// Best factor on the net's values, on an even sample of the positions; `None` without labels
    /// other than mates.
    pub scaled: Option<Scaled>,
    /// Integer inference against the net's floats.
    pub integers: Integers,
    /// Positions with the largest error in win chance, the worst first.
    #[serde(skip)]
    pub worst: Vec<Mistake>,
}

/// Accumulates [`Measurement`] block by block.
struct Gathering {
    evaluator: Evaluator,
    figures: ErrorSums,
    calibration: CalibrationTally,
    pairs: EvenSample,
    integers: IntegersTally,
    worst: Worst,
}

/// Even sample of pairs of evaluation and label, in pawns: every `stride`-th pair added; `stride`
/// doubles each time the sample is full.
struct EvenSample {
    pairs: Vec<(f32, f32)>,
    stride: usize,
    seen: usize,
}

impl EvenSample {
    /// Capacity, enough for two digits of a factor.
    const MOST: usize = 1 << 15;

    fn new() -> EvenSample {
        EvenSample {
            pairs: Vec::new(),
            stride: 1,
            seen: 0,
        }
    }

    fn add(&mut self, pair: (f32, f32)) {
        let place = self.seen;
        self.seen += 1;
        if !place.is_multiple_of(self.stride) {
            return;
        }
        if self.pairs.len() == EvenSample::MOST {
            // `MOST` is even, so this index is a multiple of the doubled stride too.
            self.pairs = self.pairs.iter().copied().step_by(2).collect();
            self.stride *= 2;
        }
        self.pairs.push(pair);
    }
}

impl Gathering {
    fn new(network: &Network) -> Gathering {
        Gathering {
            evaluator: Evaluator::new(network),
            figures: ErrorSums::default(),
            calibration: CalibrationTally::default(),
            pairs: EvenSample::new(),
            integers: IntegersTally::new(network),
            worst: Worst::default(),
        }
    }

    fn add(&mut self, records: &[Record]) {
        let integers: Vec<Option<i32>> = records
            .par_iter()
            .map(|record| {
                let features: Vec<Feature> = features::active(record).collect();
                self.integers.value(&features)
            })
            .collect();
        let values = self.evaluator.values(records).into_iter().zip(integers);
        for (record, (pawns, centipawns)) in records.iter().zip(values) {
            self.figures.add(record, pawns);
            if record.label().mate().is_none() {
                let label = features::target_pawns(record);
                self.calibration.add(pawns, label);
                self.pairs.add((pawns, label));
                self.worst.add(record, pawns);
            }
            self.integers.add(record, pawns, centipawns);
        }
    }

    fn measured(&self) -> Measurement {
        Measurement {
            report: self.figures.report(),
            calibration: self.calibration.calibration(),
            scaled: (!self.pairs.pairs.is_empty()).then(|| Scaled::best(&self.pairs.pairs)),
            integers: self.integers.integers(),
            worst: self.worst.mistakes().to_vec(),
        }
    }
}

/// Measures a network on the held-out games of the dataset at `path`.
pub fn on_dataset(
    network: &Network,
    dataset: &Dataset,
    path: &Path,
) -> Result<Measurement, TrainerError> {
    if dataset.len(Split::Validation) == 0 {
        return Err(TrainerError::NoPositions {
            path: path.to_path_buf(),
            split: "validation",
        });
    }
    let mut gathering = Gathering::new(network);
    for block in dataset.blocks(Split::Validation)? {
        gathering.add(&block?);
    }
    Ok(gathering.measured())
}

/// Measures a network on every labelled position of PGN files, counting repeated positions again.
/// If a file is damaged, returns the error and the figures up to the damage.
pub fn on_pgn(network: &Network, paths: &[PathBuf]) -> (Measurement, Result<(), TrainerError>) {
    let mut gathering = Gathering::new(network);
    let mut found = false;
    let mut result = paths.iter().try_for_each(|path| {
        read_in_blocks(path, |records| {
            found |= !records.is_empty();
            gathering.add(records);
        })
    });
    if result.is_ok() && !found {
        let files = names(paths);
        result = Err(TrainerError::NoLabels { files });
    }
    (gathering.measured(), result)
}

/// Calls `each` with blocks of the labelled positions of a PGN file, in order, up to any damage.
pub fn read_in_blocks(path: &Path, mut each: impl FnMut(&[Record])) -> Result<(), TrainerError> {
    let mut block = Vec::with_capacity(BLOCK);
    let read = read_labelled(path, |record| {
        block.push(record);
        if block.len() == BLOCK {
            each(&block);
            block.clear();
        }
    });
    each(&block);
    read?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_even_sample_keeps_every_stride_th_pair() {
        for (count, stride) in [
            (10, 1),
            (EvenSample::MOST, 1),
            (EvenSample::MOST + 1, 2),
            (200_000, 8),
        ] {
            let mut sample = EvenSample::new();
            for number in 0..count {
                sample.add((number as f32, 0.0));
            }
            let expected = (0..count)
                .step_by(stride)
                .map(|number| (number as f32, 0.0));
            assert_eq!(sample.stride, stride);
            assert!(sample.pairs.into_iter().eq(expected), "{count}");
        }
    }
}
