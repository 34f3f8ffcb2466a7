//! A batch in the kernel's layout: each sample's active inputs, and each input's samples.

use models::{Architecture, INPUTS};
use rayon::prelude::*;
use records::position::Record;

use crate::lists::Lists;
use crate::target::Aim;

/// Upper limit of samples in a block: few enough that their intermediate results stay in the cache.
/// Sums over samples are formed block by block.
pub(super) const BLOCK: usize = 1024;

/// Up to [`BLOCK`] samples of one bucket.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// Index of the first sample in the batch.
    pub(super) begin: usize,
    /// Index of the layer stack that evaluates the samples.
    pub(super) bucket: usize,
    /// Active inputs from the mover's view, then from the opponent's if the network has both views.
    pub(super) views: Vec<Lists>,
}

/// Sparse inputs and targets of a batch, sorted by bucket.
#[derive(Debug)]
pub struct Samples {
    /// Blocks sorted by bucket.
    pub(super) blocks: Vec<Block>,
    /// Target win chances for the side to move.
    pub(crate) targets: Vec<f32>,
    /// Index of each sample's record in the input.
    places: Vec<u32>,
}

impl Samples {
    /// Prepares `records` for networks of `architecture`.
    pub fn new(architecture: Architecture, records: &[Record], aim: Aim) -> Samples {
        let bucket = |place: u32| features::bucket(architecture, &records[place as usize]);
        let mut places: Vec<u32> = (0..records.len() as u32).collect();
        if architecture.buckets > 1 {
            places.sort_by_cached_key(|&place| bucket(place));
        }
        let of_bucket =
            places.chunk_by(|&a, &b| architecture.buckets == 1 || bucket(a) == bucket(b));
        let mut begin = 0;
        let parts = of_bucket
            .flat_map(|places| places.chunks(BLOCK))
            .map(|places| {
                begin += places.len();
                (begin - places.len(), places)
            });
        let parts: Vec<(usize, &[u32])> = parts.collect();
        let blocks = parts.into_par_iter().map(|(begin, places)| {
            let records = places.iter().map(|&place| &records[place as usize]);
            Block {
                begin,
                bucket: bucket(places[0]),
                views: Lists::by_view(architecture, records),
            }
        });
        let target = |&place: &u32| aim.target(&records[place as usize]);
        Samples {
            blocks: blocks.collect(),
            targets: places.iter().map(target).collect(),
            places,
        }
    }

    /// Returns the number of samples.
    pub fn count(&self) -> usize {
        self.targets.len()
    }

    /// Reorders per-sample results to the order of the input records.
    pub fn in_order(&self, found: &[f32]) -> Vec<f32> {
        let mut ordered = vec![0.0; found.len()];
        for (&place, &found) in self.places.iter().zip(found) {
            ordered[place as usize] = found;
        }
        ordered
    }
}

#[cfg(test)]
impl Samples {
    /// Reorders per-record values to the order of the samples.
    pub fn as_ordered(&self, of_records: &[f32]) -> Vec<f32> {
        let places = self.places.iter();
        places.map(|&place| of_records[place as usize]).collect()
    }
}

/// Splits a per-sample slice into the parts of each [`Block`].
pub(super) fn split<'a, T>(
    blocks: &[Block],
    mut of_samples: &'a mut [T],
) -> impl Iterator<Item = &'a mut [T]> {
    blocks.iter().map(move |block| {
        let (part, rest) = std::mem::take(&mut of_samples).split_at_mut(block.len());
        of_samples = rest;
        part
    })
}

/// Splits like [`split`], for reading.
pub(super) fn parts<'a, T>(
    blocks: &[Block],
    mut of_samples: &'a [T],
) -> impl Iterator<Item = &'a [T]> {
    blocks.iter().map(move |block| {
        let (part, rest) = of_samples.split_at(block.len());
        of_samples = rest;
        part
    })
}

impl Block {
    /// Returns the number of samples.
    pub(super) fn len(&self) -> usize {
        self.views[0].starts.len() - 1
    }

    /// Returns the samples by active input, one index a view.
    pub(super) fn by_input(&self) -> Vec<ByInput> {
        self.views.iter().map(ByInput::of).collect()
    }
}

/// Inverted index of a block and view: for each input, the samples that have it on, ascending.
#[derive(Debug)]
pub(super) struct ByInput {
    starts: Vec<u32>,
    samples: Vec<u16>,
}

impl ByInput {
    /// Builds the index from one view's lists.
    fn of(lists: &Lists) -> ByInput {
        let mut starts = vec![0u32; INPUTS + 1];
        for input in &lists.inputs {
            starts[input.index() + 1] += 1;
        }
        for input in 0..INPUTS {
            starts[input + 1] += starts[input];
        }
        let mut next = starts.clone();
        let mut samples = vec![0u16; lists.inputs.len()];
        for (sample, inputs) in (0u16..).zip(lists.iter()) {
            for input in inputs {
                let next = &mut next[input.index()];
                samples[*next as usize] = sample;
                *next += 1;
            }
        }
        ByInput { starts, samples }
    }

    /// Returns the samples of each of the [`INPUTS`], in order.
    #[inline(always)]
    pub(super) fn inputs(&self) -> impl Iterator<Item = &[u16]> {
        let ends = self.starts.windows(2);
        ends.map(|ends| &self.samples[ends[0] as usize..ends[1] as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::{Feature, View};

    use crate::testing::games;

    #[test]
    fn by_input_is_the_transpose() {
        let records = games(1500);
        let both = Architecture {
            view: View::Both,
            mirrored: true,
            ..Architecture::ARTICLE
        };
        let samples = Samples::new(both, &records, Aim::LABEL);
        let blocks = &samples.blocks;
        assert_eq!([blocks[0].len(), blocks[1].len()], [1024, 476]);
        for (block, records) in blocks.iter().zip(records.chunks(BLOCK)) {
            for (view, by_input) in block.by_input().iter().enumerate() {
                let mut pairs = Vec::new();
                for (input, samples) in by_input.inputs().enumerate() {
                    assert!(samples.is_sorted());
                    pairs.extend(samples.iter().map(|&sample| (usize::from(sample), input)));
                }
                pairs.sort();
                let mut expected = Vec::new();
                for (i, record) in records.iter().enumerate() {
                    let features: Vec<Feature> = features::active(record).collect();
                    let inputs = both.inputs(&features).swap_remove(view);
                    expected.extend(inputs.into_iter().map(|input| (i, input.index())));
                }
                expected.sort();
                assert_eq!(pairs, expected);
            }
        }
    }

    #[test]
    fn sorts_samples_by_bucket_and_keeps_all() {
        let records = games(1500);
        let bucketed = Architecture {
            buckets: 8,
            ..Architecture::ARTICLE
        };
        let samples = Samples::new(bucketed, &records, Aim::LABEL);
        let buckets: Vec<usize> = samples.blocks.iter().map(|block| block.bucket).collect();
        assert!(buckets.is_sorted() && buckets.len() > 4, "{buckets:?}");
        let in_order = samples.in_order(&samples.targets);
        let targets: Vec<f32> = records.iter().map(|r| Aim::LABEL.target(r)).collect();
        assert_eq!(in_order, targets);
        for block in &samples.blocks {
            for inputs in block.views[0].iter() {
                let pieces = inputs.iter().filter(|input| input.is_piece()).count();
                assert_eq!(bucketed.bucket(pieces), block.bucket);
            }
        }
    }
}
