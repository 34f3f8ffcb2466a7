//! The active inputs of records, as a device takes them: lists of indices.

use datasets::Record;
use models::MAX_ACTIVE;
use rayon::prelude::*;

use crate::input::position;

/// Records that a thread turns into lists at a time.
const BLOCK: usize = 1024;

/// The active inputs of records, one list after the other.
pub struct HostLists {
    /// Where each list begins, and where the last ends, counted in indices.
    pub starts: Vec<i32>,
    /// Indices of inputs, two to a word, the first in the lower half.
    pub inputs: Vec<i32>,
}

impl HostLists {
    /// Those of records.
    pub fn new(records: &[Record]) -> HostLists {
        let blocks: Vec<(Vec<u16>, Vec<usize>)> = records.par_chunks(BLOCK).map(block).collect();
        let lengths = blocks.iter().flat_map(|(_, lengths)| lengths);
        let ends = lengths.scan(0, |end, length| {
            *end += length;
            Some(*end as i32)
        });
        let starts = [0].into_iter().chain(ends).collect();
        let inputs: Vec<&[u16]> = blocks.iter().map(|(inputs, _)| &inputs[..]).collect();
        let inputs = inputs.concat();
        let word = |pair: &[u16]| {
            let [low, high] = [pair[0], pair.get(1).copied().unwrap_or(0)];
            i32::from(low) | i32::from(high) << 16
        };
        HostLists {
            starts,
            inputs: inputs.par_chunks(2).map(word).collect(),
        }
    }

    /// The same records as the other side sees them.
    pub fn seen_by_other(&self) -> HostLists {
        let seen = |input: i32| i32::from(position::seen_by_other((input & 0xffff) as u16));
        let word = |&word: &i32| seen(word) | seen(word >> 16) << 16;
        HostLists {
            starts: self.starts.clone(),
            inputs: self.inputs.par_iter().map(word).collect(),
        }
    }
}

/// The lists of some records, and the length of each.
fn block(records: &[Record]) -> (Vec<u16>, Vec<usize>) {
    let mut inputs = Vec::with_capacity(records.len() * MAX_ACTIVE);
    let mut lengths = Vec::with_capacity(records.len());
    for record in records {
        let before = inputs.len();
        inputs.extend(position::features(record).map(|feature| feature.index() as u16));
        lengths.push(inputs.len() - before);
    }
    (inputs, lengths)
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::testing::games;

    #[test]
    fn lists_are_the_positions_inputs_in_order() {
        // More than a block, and no multiple of one.
        let records = games(2_100);
        let lists = HostLists::new(&records);
        assert_eq!(lists.starts.len(), records.len() + 1);
        for (by_other, lists) in [(false, &lists), (true, &lists.seen_by_other())] {
            let words = lists.inputs.iter();
            let halves = words.flat_map(|word| [word & 0xffff, word >> 16]);
            let inputs: Vec<usize> = halves.map(|input| input as usize).collect();
            for (record, ends) in records.iter().zip(lists.starts.windows(2)) {
                let expected = position::features(record).map(|feature| match by_other {
                    true => feature.seen_by_other().index(),
                    false => feature.index(),
                });
                let list = &inputs[ends[0] as usize..ends[1] as usize];
                assert!(expected.eq(list.iter().copied()), "{}", record.epd());
            }
        }
    }
}
