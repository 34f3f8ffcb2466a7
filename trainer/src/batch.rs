//! Records on their way to the device: as they are stored, 32 bytes a position,
//! never rows of inputs.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Scope;

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Int, Tensor, TensorData};
use datasets::{Dataset, Record, Split};

use crate::expand::WORDS;

/// Batches prepared ahead of the device.
const AHEAD: usize = 4;

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

/// Reads one epoch of a dataset in batches of `size` (the last may be
/// smaller), on a thread of its own that stays a few batches ahead. The order
/// is a function of `seed` and `epoch`. Dropping the receiver ends the thread.
pub fn read_epoch<'scope>(
    scope: &'scope Scope<'scope, '_>,
    dataset: &'scope Dataset,
    split: Split,
    (seed, epoch): (u64, u64),
    size: usize,
) -> Receiver<Result<Batch, datasets::Error>> {
    let (sender, receiver) = sync_channel(AHEAD);
    scope.spawn(move || {
        // A batch that nobody takes any more ends the reading.
        let send = |batch: Vec<Record>| sender.send(Ok(Batch::new(batch))).is_ok();
        if let Err(error) = for_each_chunk(dataset, split, (seed, epoch), size, send) {
            let _ = sender.send(Err(error));
        }
    });
    receiver
}

/// Cuts an epoch into chunks of `size` records, until `each` returns false.
fn for_each_chunk(
    dataset: &Dataset,
    split: Split,
    (seed, epoch): (u64, u64),
    size: usize,
    each: impl Fn(Vec<Record>) -> bool,
) -> Result<(), datasets::Error> {
    let mut pending = Vec::with_capacity(size);
    for block in dataset.shuffled(split, seed, epoch)? {
        let mut records = block?.into_iter();
        while records.len() > 0 {
            let room = size - pending.len();
            pending.extend(records.by_ref().take(room));
            if pending.len() == size {
                let full = std::mem::replace(&mut pending, Vec::with_capacity(size));
                if !each(full) {
                    return Ok(());
                }
            }
        }
    }
    if !pending.is_empty() {
        each(pending);
    }
    Ok(())
}
