//! The active inputs of records, as devices take them: lists of indices.

use datasets::Record;
use models::{Architecture, Feature, MAX_ACTIVE, View};
use rayon::prelude::*;

use crate::input::position;

/// Records that a thread turns into lists at a time.
const BLOCK: usize = 1024;

/// The active inputs of records as one view has them, one list after the other.
#[derive(Clone, Debug)]
pub struct Lists {
    /// Where each list begins, and where the last ends.
    pub starts: Vec<u32>,
    /// The inputs.
    pub inputs: Vec<Feature>,
}

impl Lists {
    /// Those of records, for each view of a network, the mover's first.
    pub fn by_view<'a>(
        architecture: Architecture,
        records: impl ExactSizeIterator<Item = &'a Record>,
    ) -> Vec<Lists> {
        let mut own = Lists {
            starts: Vec::with_capacity(records.len() + 1),
            inputs: Vec::with_capacity(records.len() * MAX_ACTIVE),
        };
        own.starts.push(0);
        for record in records {
            own.inputs.extend(position::features(record));
            own.starts.push(own.inputs.len() as u32);
        }
        let mut views = vec![own];
        if architecture.view == View::Both {
            let mut other = views[0].clone();
            for input in &mut other.inputs {
                *input = input.seen_by_other();
            }
            views.push(other);
        }
        if architecture.mirrored {
            views.iter_mut().for_each(|view| view.orient(architecture));
        }
        views
    }

    /// Makes the inputs those that the first layer gets ([`Architecture::orient`]).
    fn orient(&mut self, architecture: Architecture) {
        for ends in self.starts.windows(2) {
            architecture.orient(&mut self.inputs[ends[0] as usize..ends[1] as usize]);
        }
    }

    /// The lists.
    #[inline(always)]
    pub fn iter(&self) -> impl Iterator<Item = &[Feature]> {
        let ends = self.starts.windows(2);
        ends.map(|ends| &self.inputs[ends[0] as usize..ends[1] as usize])
    }
}

/// The same in words, for GPUs.
pub struct HostLists {
    /// Where each list begins, and where the last ends, counted in indices.
    pub starts: Vec<i32>,
    /// Indices of inputs, two to a word, the first in the lower half.
    pub inputs: Vec<i32>,
}

impl HostLists {
    /// Those of records, for each view of a network, the mover's first.
    pub fn by_view(architecture: Architecture, records: &[Record]) -> Vec<HostLists> {
        let blocks: Vec<Vec<Lists>> = records
            .par_chunks(BLOCK)
            .map(|records| Lists::by_view(architecture, records.iter()))
            .collect();
        let of_view = |view| {
            let blocks: Vec<&Lists> = blocks.iter().map(|views| &views[view]).collect();
            HostLists::joined(&blocks)
        };
        (0..architecture.views()).map(of_view).collect()
    }

    /// Those of blocks, one after the other.
    fn joined(blocks: &[&Lists]) -> HostLists {
        let lengths = blocks.iter().flat_map(|lists| lists.iter().map(<[_]>::len));
        let ends = lengths.scan(0, |end, length| {
            *end += length;
            Some(*end as i32)
        });
        let starts = [0].into_iter().chain(ends).collect();
        let inputs: Vec<&[Feature]> = blocks.iter().map(|lists| &lists.inputs[..]).collect();
        let inputs = inputs.concat();
        let word = |pair: &[Feature]| {
            let index = |at| {
                pair.get(at)
                    .map_or(0, |input: &Feature| input.index() as i32)
            };
            index(0) | index(1) << 16
        };
        HostLists {
            starts,
            inputs: inputs.par_chunks(2).map(word).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::testing::{architectures, games};

    #[test]
    fn lists_are_the_positions_inputs_in_order() {
        // More than a block, and no multiple of one.
        let records = games(2_100);
        for architecture in architectures() {
            let views = HostLists::by_view(architecture, &records);
            assert_eq!(views.len(), architecture.views());
            for (view, lists) in views.iter().enumerate() {
                assert_eq!(lists.starts.len(), records.len() + 1);
                let words = lists.inputs.iter();
                let halves = words.flat_map(|word| [word & 0xffff, word >> 16]);
                let inputs: Vec<usize> = halves.map(|input| input as usize).collect();
                for (record, ends) in records.iter().zip(lists.starts.windows(2)) {
                    let features: Vec<Feature> = position::features(record).collect();
                    let expected = &architecture.inputs(&features)[view];
                    let expected = expected.iter().map(|feature| feature.index());
                    let list = &inputs[ends[0] as usize..ends[1] as usize];
                    assert!(expected.eq(list.iter().copied()), "{}", record.epd());
                }
            }
        }
    }
}
