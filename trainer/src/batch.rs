//! Records on their way to the device: indices of active inputs, never dense
//! rows, so that a position costs 156 bytes of transfer instead of 3,608.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Scope;

use burn::tensor::backend::Backend;
use burn::tensor::{Int, Tensor, TensorData};
use datasets::{Dataset, Record, Split};
use models::{INPUTS, MAX_ACTIVE};

use crate::position;
use crate::target::win_chance;

/// Batches prepared ahead of the device.
const AHEAD: usize = 4;

/// Positions as the network takes them.
pub struct Batch {
    /// The positions.
    pub records: Vec<Record>,
    /// `[records, MAX_ACTIVE]`, row-major: each row a position's active
    /// inputs, filled up with [`INPUTS`], which stands for none.
    indices: Vec<i32>,
    /// `[records]`: the labels as win chances, from the mover's view.
    targets: Vec<f32>,
}

impl Batch {
    /// A batch of these positions.
    pub fn new(records: Vec<Record>) -> Batch {
        let mut indices = vec![INPUTS as i32; records.len() * MAX_ACTIVE];
        for (record, row) in records.iter().zip(indices.chunks_exact_mut(MAX_ACTIVE)) {
            for (slot, feature) in row.iter_mut().zip(position::features(record)) {
                *slot = feature.index() as i32;
            }
        }
        let targets = records
            .iter()
            .map(|r| win_chance(position::label(r)))
            .collect();
        Batch {
            records,
            indices,
            targets,
        }
    }

    /// The active inputs on a device, shape `[records, MAX_ACTIVE]`.
    pub fn indices<B: Backend>(&self, device: &B::Device) -> Tensor<B, 2, Int> {
        let shape = [self.records.len(), MAX_ACTIVE];
        Tensor::from_data(TensorData::new(self.indices.clone(), shape), device)
    }

    /// The labels as win chances on a device, shape `[records]`.
    pub fn targets<B: Backend>(&self, device: &B::Device) -> Tensor<B, 1> {
        Tensor::from_data(
            TensorData::new(self.targets.clone(), [self.records.len()]),
            device,
        )
    }
}

/// Reads one epoch of a dataset in batches of `size` (the last may be
/// smaller), beginning with batch `skip`, counted from 0. The order is a
/// function of `seed` and `epoch`; groups of blocks that are skipped are not
/// read. A thread of its own stays a few batches ahead; dropping the receiver
/// ends it.
pub fn read_epoch<'scope>(
    scope: &'scope Scope<'scope, '_>,
    dataset: &'scope Dataset,
    split: Split,
    order: (u64, u64),
    size: usize,
    skip: u64,
) -> Receiver<Result<Batch, datasets::Error>> {
    let (sender, receiver) = sync_channel(AHEAD);
    scope.spawn(move || {
        // A batch that nobody takes any more ends the reading.
        let send = |batch: Vec<Record>| sender.send(Ok(Batch::new(batch))).is_ok();
        if let Err(error) = for_each_chunk(dataset, split, order, size, skip, send) {
            let _ = sender.send(Err(error));
        }
    });
    receiver
}

/// Cuts an epoch into chunks of `size` records, beginning with chunk `skip`,
/// until `each` returns false.
fn for_each_chunk(
    dataset: &Dataset,
    split: Split,
    (seed, epoch): (u64, u64),
    size: usize,
    skip: u64,
    each: impl Fn(Vec<Record>) -> bool,
) -> Result<(), datasets::Error> {
    let mut pending = Vec::with_capacity(size);
    let shuffled = dataset.shuffled(split, seed, epoch)?;
    let mut skip = skip.saturating_mul(size as u64);
    for group in 0..shuffled.groups() {
        let len = shuffled.group_len(group) as u64;
        if skip >= len {
            skip -= len;
            continue;
        }
        let mut records = shuffled.group(group)?.into_iter();
        records.by_ref().take(skip as usize).for_each(drop);
        skip = 0;
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
