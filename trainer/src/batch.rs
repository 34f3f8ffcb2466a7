//! Records on their way to the device: as they are stored, 32 bytes a position,
//! never rows of inputs.

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Int, Tensor, TensorData};
use datasets::Record;

use crate::expand::WORDS;

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

    /// The records on a device, shape `[records, WORDS]`: the bytes of each as
    /// little-endian words.
    pub fn words<B: Backend>(&self, device: &B::Device) -> Tensor<B, 2, Int> {
        let mut words = Vec::with_capacity(self.records.len() * WORDS);
        for record in &self.records {
            let (bytes, _) = record.as_bytes().as_chunks::<4>();
            words.extend(bytes.iter().map(|&word| i32::from_le_bytes(word)));
        }
        let data = TensorData::new(words, [self.records.len(), WORDS]);
        Tensor::from_data(data, (device, DType::I32))
    }
}
