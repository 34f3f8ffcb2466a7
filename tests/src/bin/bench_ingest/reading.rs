//! How fast shuffled records come out of the dataset.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use datasets::{Dataset, Split};
use tests::measure::own_cpu;

/// Epochs of a run.
const EPOCHS: u64 = 5;

/// What a run, or an epoch of it, took.
#[derive(Clone, Copy, Default)]
pub struct Reading {
    /// Records read.
    pub records: u64,
    /// Time by the clock.
    pub wall: Duration,
    /// Processor time.
    pub cpu: Duration,
}

/// Reads the training side on one thread, an epoch after another.
pub fn measure(dataset: &Path, runs: u32) -> Result<Vec<Reading>> {
    (0..u64::from(runs))
        .map(|run| {
            let mut sum = Reading::default();
            for epoch in 0..EPOCHS {
                let read = read_epoch(dataset, run * EPOCHS + epoch)?;
                sum.records += read.records;
                sum.wall += read.wall;
                sum.cpu += read.cpu;
            }
            Ok(sum)
        })
        .collect()
}

/// The dataset is opened anew each time, which is not counted: a block that
/// the store remembers unpacked is not a block read.
fn read_epoch(dataset: &Path, epoch: u64) -> Result<Reading> {
    let dataset = Dataset::open(dataset)?;
    ensure!(dataset.len(Split::Train) > 0, "the dump has no labels");
    let (started, cpu) = (Instant::now(), own_cpu()?);
    let mut records = 0;
    for group in dataset.shuffled(Split::Train, 1, epoch)? {
        records += black_box(group?).len() as u64;
    }
    Ok(Reading {
        records,
        wall: started.elapsed(),
        cpu: own_cpu()?.saturating_sub(cpu),
    })
}
