//! A batch as the kernel takes it: each sample's active inputs, and each
//! input's samples.

use datasets::Record;
use models::{INPUTS, MAX_ACTIVE};
use rayon::prelude::*;

use crate::input::position;

/// Samples that are worked on together, few enough that what is kept of them
/// stays in the cache. Sums over samples are formed block by block.
pub(super) const BLOCK: usize = 1024;

/// The active inputs of up to [`BLOCK`] samples.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// Where each sample's inputs begin, and where the last one's end.
    starts: Vec<u32>,
    inputs: Vec<u16>,
}

/// Positions as the kernel takes them: sparse inputs, and labels.
#[derive(Debug)]
pub struct Samples {
    /// Of [`BLOCK`] samples each, but for the last.
    pub(super) blocks: Vec<Block>,
    /// In pawns, as the mover sees them.
    pub(super) labels: Vec<f32>,
}

impl Samples {
    /// Those of records.
    pub fn new(records: &[Record]) -> Samples {
        Samples {
            blocks: blocks(records),
            labels: records.iter().map(position::target_pawns).collect(),
        }
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Inputs that are on in a sample, on average.
    pub fn active(&self) -> f64 {
        let inputs = self.blocks.iter().map(|block| block.inputs.len());
        inputs.sum::<usize>() as f64 / self.len() as f64
    }
}

/// The inputs of records, in blocks of [`BLOCK`], the last of which may be smaller.
pub(super) fn blocks(records: &[Record]) -> Vec<Block> {
    records.par_chunks(BLOCK).map(Block::new).collect()
}

impl Block {
    fn new(records: &[Record]) -> Block {
        let mut starts = Vec::with_capacity(records.len() + 1);
        let mut inputs = Vec::with_capacity(records.len() * MAX_ACTIVE);
        for record in records {
            starts.push(inputs.len() as u32);
            let features = position::features(record);
            inputs.extend(features.map(|feature| feature.index() as u16));
        }
        starts.push(inputs.len() as u32);
        Block { starts, inputs }
    }

    /// Number of samples.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Each sample's active inputs.
    #[inline(always)]
    pub(super) fn samples(&self) -> impl Iterator<Item = &[u16]> {
        let ends = self.starts.windows(2);
        ends.map(|ends| &self.inputs[ends[0] as usize..ends[1] as usize])
    }

    /// The same by input.
    pub(super) fn by_input(&self) -> ByInput {
        let mut starts = vec![0u32; INPUTS + 1];
        for &input in &self.inputs {
            starts[usize::from(input) + 1] += 1;
        }
        for input in 0..INPUTS {
            starts[input + 1] += starts[input];
        }
        let mut next = starts.clone();
        let mut samples = vec![0u16; self.inputs.len()];
        for (sample, inputs) in (0u16..).zip(self.samples()) {
            for &input in inputs {
                let next = &mut next[usize::from(input)];
                samples[*next as usize] = sample;
                *next += 1;
            }
        }
        ByInput { starts, samples }
    }
}

/// The samples of a block that have each input on, in ascending order.
#[derive(Debug)]
pub(super) struct ByInput {
    starts: Vec<u32>,
    samples: Vec<u16>,
}

impl ByInput {
    /// The samples of each of the [`INPUTS`].
    #[inline(always)]
    pub(super) fn inputs(&self) -> impl Iterator<Item = &[u16]> {
        let ends = self.starts.windows(2);
        ends.map(|ends| &self.samples[ends[0] as usize..ends[1] as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::games;

    #[test]
    fn by_input_is_the_transpose() {
        let records = games(1500);
        let blocks = blocks(&records);
        assert_eq!([blocks[0].len(), blocks[1].len()], [1024, 476]);
        for (block, records) in blocks.iter().zip(records.chunks(BLOCK)) {
            let mut pairs = Vec::new();
            for (input, samples) in block.by_input().inputs().enumerate() {
                assert!(samples.is_sorted());
                pairs.extend(samples.iter().map(|&sample| (usize::from(sample), input)));
            }
            pairs.sort();
            let mut expected: Vec<(usize, usize)> = (0..records.len())
                .flat_map(|i| position::features(&records[i]).map(move |f| (i, f.index())))
                .collect();
            expected.sort();
            assert_eq!(pairs, expected);
        }
    }
}
