//! Lists of active inputs as GPUs take them: in words.

use datasets::Record;
use models::Architecture;
use rayon::prelude::*;

use crate::input::lists::Lists;

/// Records that a thread turns into lists at a time.
const BLOCK: usize = 1024;

/// The active inputs of records as one view has them, one list after the other.
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
        let count: usize = blocks.iter().map(|lists| lists.inputs.len()).sum();
        let mut inputs = vec![0; count.div_ceil(2)];
        let mut rest: &mut [u16] = bytemuck::cast_slice_mut(&mut inputs);
        let mut places = Vec::with_capacity(blocks.len());
        for lists in blocks {
            let (place, behind) = rest.split_at_mut(lists.inputs.len());
            places.push(place);
            rest = behind;
        }
        places
            .par_iter_mut()
            .zip(blocks)
            .for_each(|(place, lists)| {
                for (half, input) in place.iter_mut().zip(&lists.inputs) {
                    // The lower half of a word comes first on a GPU.
                    *half = (input.index() as u16).to_le();
                }
            });
        HostLists { starts, inputs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use models::Feature;

    use crate::input::position;
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
