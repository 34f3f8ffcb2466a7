//! Records on their way to a device that expands them: as they are stored, 32 bytes
//! a position, and a word of threats; never rows of inputs.

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Int, Tensor, TensorData};
use datasets::Record;
use rayon::prelude::*;

use crate::input::expand::WORDS;
use crate::input::position;

/// Positions as the network takes them.
pub struct Batch {
    /// The positions.
    pub records: Vec<Record>,
}

impl Batch {
    /// A batch of these positions.
    pub fn new(records: Vec<Record>) -> Batch {
        Batch { records }
    }

    /// The records cut into so many parts, in order, with sizes that differ by one
    /// at most. If there are fewer records than parts, the last parts are left out.
    pub fn parts(&self, parts: usize) -> impl Iterator<Item = &[Record]> {
        let records = self.records.len();
        let parts = parts.min(records);
        let begins = move |part: usize| part * records / parts;
        (0..parts).map(move |part| &self.records[begins(part)..begins(part + 1)])
    }
}

/// Records as a device expands them, shape `[records, WORDS]`: the bytes of each as
/// little-endian words, and its [threats](models::Threats::bits), for which a device
/// would need the rules of the game.
pub fn words<B: Backend>(records: &[Record], device: &B::Device) -> Tensor<B, 2, Int> {
    let mut words = vec![0; records.len() * WORDS];
    let (rows, _) = words.as_chunks_mut::<WORDS>();
    rows.par_iter_mut().zip(records).for_each(|(row, record)| {
        let (bytes, _) = record.as_bytes().as_chunks::<4>();
        let threats = position::threats(record).bits();
        let words = bytes.iter().map(|&word| i32::from_le_bytes(word));
        let words = words.chain([threats.cast_signed()]);
        row.iter_mut().zip(words).for_each(|(to, word)| *to = word);
    });
    let data = TensorData::new(words, [records.len(), WORDS]);
    Tensor::from_data(data, (device, DType::I32))
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::testing::games;

    #[test]
    fn parts_are_the_batch_in_order_and_as_equal_as_can_be() {
        for (records, devices, expected) in [
            (7, 1, vec![7]),
            (7, 2, vec![3, 4]),
            (8, 3, vec![2, 3, 3]),
            (2, 3, vec![1, 1]),
        ] {
            let batch = Batch::new(games(records));
            let parts: Vec<&[Record]> = batch.parts(devices).collect();
            let sizes: Vec<usize> = parts.iter().map(|part| part.len()).collect();
            assert_eq!(sizes, expected);
            assert_eq!(parts.concat(), batch.records);
        }
    }
}
