//! Benchmark of reading a dataset in shuffled order.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use datasets::{Dataset, Split};
use tests::measure::own_cpu;

/// Epochs of a run.
const EPOCHS: u64 = 5;

/// Cost of a run, or of one epoch.
#[derive(Clone, Copy, Default)]
pub struct Reading {
    /// Records read.
    pub records: u64,
    /// Wall time.
    pub wall: Duration,
    /// Processor time.
    pub cpu: Duration,
}

/// Reads the training positions on one thread, `EPOCHS` epochs a run.
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

/// Reads one epoch. Reopens the dataset, untimed, so that no decompressed block is cached.
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
